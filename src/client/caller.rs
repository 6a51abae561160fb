//! Calls over HTTP, and what is in their envelopes.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The longest that an answer may take; event streams have no limit.
const PATIENCE: Duration = Duration::from_secs(60);

/// Connections that are kept; nothing goes through a proxy.
///
/// # Errors
/// The system refuses.
pub fn http() -> Result<reqwest::Client, String> {
    // The server closes idle connections after five seconds; what meets the closing may not be sent again by itself.
    let http = reqwest::Client::builder().no_proxy().tcp_nodelay(true).pool_idle_timeout(Duration::from_secs(3));
    http.build().map_err(|error| format!("No HTTP client can be made: {error}"))
}

/// Somebody who calls.
#[derive(Clone)]
pub struct Caller {
    pub http: reqwest::Client,
    /// Without a slash at its end.
    pub url: String,
    pub token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    is_success: bool,
    data: Value,
    message: String,
    errors: Vec<Fault>,
}

#[derive(Deserialize)]
struct Fault {
    code: String,
    message: String,
    field: Option<String>,
    reason: Option<String>,
}

impl Caller {
    /// Nobody yet.
    ///
    /// # Errors
    /// The system refuses.
    pub fn at(url: &str) -> Result<Self, String> {
        Ok(Self { http: http()?, url: url.to_owned(), token: None })
    }

    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let request = self.http.request(method, format!("{}{path}", self.url));
        match &self.token {
            Some(token) => request.bearer_auth(token),
            None => request,
        }
    }

    pub async fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, String> {
        data(self.request(Method::GET, path).timeout(PATIENCE)).await
    }

    pub async fn post<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<T, String> {
        data(self.request(Method::POST, path).timeout(PATIENCE).json(body)).await
    }

    /// Changes what is still at that version.
    pub async fn patch<T: DeserializeOwned>(&self, path: &str, version: i64, body: &Value) -> Result<T, String> {
        let request = self.request(Method::PATCH, path).header("if-match", format!("\"{version}\""));
        data(request.timeout(PATIENCE).json(body)).await
    }

    pub async fn upload<T: DeserializeOwned>(&self, path: &str, name: &str, content: Vec<u8>) -> Result<T, String> {
        let part = reqwest::multipart::Part::bytes(content).file_name(name.to_owned());
        let form = reqwest::multipart::Form::new().part("file", part);
        data(self.request(Method::POST, path).timeout(PATIENCE).multipart(form)).await
    }
}

/// Makes a call whose answer is in an envelope.
async fn data<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, String> {
    let (http, request) = request.build_split();
    let request = request.map_err(|error| error.to_string())?;
    let asked = format!("{} {}", request.method(), request.url().path());
    let answer = http.execute(request).await.map_err(|error| unanswered(&asked, &error))?;
    let status = answer.status();
    let envelope = envelope(answer).await.map_err(|error| format!("{asked}: {error}"))?;
    if !envelope.is_success {
        return Err(refused(&asked, status, &envelope));
    }
    serde_json::from_value(envelope.data).map_err(|error| format!("{asked}: the answer can't be understood: {error}"))
}

async fn envelope(answer: Response) -> Result<Envelope, String> {
    let body = answer.bytes().await.map_err(|error| format!("the answer broke off: {error}"))?;
    serde_json::from_slice(&body).map_err(|error| format!("the answer is no envelope: {error}"))
}

/// What was refused, as a sentence.
fn refused(asked: &str, status: StatusCode, envelope: &Envelope) -> String {
    let fault = |fault: &Fault| match &fault.field {
        Some(field) => format!("{field}: {} ({})", fault.message, fault.reason.as_ref().unwrap_or(&fault.code)),
        None => format!("{} ({})", fault.message, fault.code),
    };
    let mut faults: Vec<String> = envelope.errors.iter().map(fault).collect();
    if faults.is_empty() {
        faults.push(envelope.message.clone());
    }
    format!("{asked} was refused with {}: {}", status.as_u16(), faults.join(" "))
}

/// The error with its causes: reqwest's own message has none of them.
pub fn unanswered(asked: &str, error: &reqwest::Error) -> String {
    let mut causes = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        causes.push_str(&format!(": {next}"));
        cause = next.source();
    }
    format!("{asked} was not answered: {causes}")
}
