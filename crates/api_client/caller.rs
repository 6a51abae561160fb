//! HTTP calls, and parsing of the response envelopes.

use std::time::Duration;

use reqwest::{Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The timeout of a call; event streams have none.
const PATIENCE: Duration = Duration::from_secs(60);

/// Builds an HTTP client with keep-alive connections and without a proxy.
///
/// # Errors
/// Returns a message if the client can't be built.
pub fn http() -> Result<reqwest::Client, String> {
    // The server closes idle connections after five seconds. A request that arrives at that moment can't always be
    // retried automatically, so the client closes them after three.
    let http = reqwest::Client::builder().no_proxy().tcp_nodelay(true).pool_idle_timeout(Duration::from_secs(3));
    http.build().map_err(|error| format!("The HTTP client can't be created: {error}"))
}

/// A caller of the API, with or without an access token.
#[derive(Clone)]
pub struct ApiClient {
    pub http: reqwest::Client,
    /// Base URL without a trailing slash.
    pub url: String,
    pub token: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ApiEnvelope {
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

impl ApiClient {
    /// Creates an unauthenticated caller.
    ///
    /// # Errors
    /// Returns a message if the HTTP client can't be built.
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

    /// Sends a PATCH that is applied only if the resource still has that version (`If-Match`).
    pub async fn patch<T: DeserializeOwned>(&self, path: &str, version: i64, body: &Value) -> Result<T, String> {
        let request = self.request(Method::PATCH, path).header("if-match", format!("\"{version}\""));
        data(request.timeout(PATIENCE).json(body)).await
    }

    /// Sends a file as it is.
    pub async fn put_file<T: DeserializeOwned>(
        &self,
        path: &str,
        mime_type: &str,
        content: Vec<u8>,
    ) -> Result<T, String> {
        let request = self.request(Method::PUT, path).header("content-type", mime_type).body(content);
        data(request.timeout(PATIENCE)).await
    }

    pub async fn upload<T: DeserializeOwned>(&self, path: &str, name: &str, content: Vec<u8>) -> Result<T, String> {
        let part = reqwest::multipart::Part::bytes(content).file_name(name.to_owned());
        let form = reqwest::multipart::Form::new().part("file", part);
        data(self.request(Method::POST, path).timeout(PATIENCE).multipart(form)).await
    }
}

/// Sends a request and returns the data of the response envelope.
async fn data<T: DeserializeOwned>(request: RequestBuilder) -> Result<T, String> {
    let (http, request) = request.build_split();
    let request = request.map_err(|error| error.to_string())?;
    let call = format!("{} {}", request.method(), request.url().path());
    let answer = http.execute(request).await.map_err(|error| unanswered(&call, &error))?;
    let status = answer.status();
    let envelope = envelope(answer).await.map_err(|error| format!("{call}: {error}"))?;
    if !envelope.is_success {
        return Err(refused(&call, status, &envelope));
    }
    serde_json::from_value(envelope.data).map_err(|error| format!("{call}: the response can't be parsed: {error}"))
}

async fn envelope(answer: Response) -> Result<ApiEnvelope, String> {
    let body = answer.bytes().await.map_err(|error| format!("the response was cut off: {error}"))?;
    serde_json::from_slice(&body).map_err(|error| format!("the response is not an envelope: {error}"))
}

/// Formats an error response as a sentence.
fn refused(call: &str, status: StatusCode, envelope: &ApiEnvelope) -> String {
    let fault = |fault: &Fault| match &fault.field {
        Some(field) => format!("{field}: {} ({})", fault.message, fault.reason.as_ref().unwrap_or(&fault.code)),
        None => format!("{} ({})", fault.message, fault.code),
    };
    let mut faults: Vec<String> = envelope.errors.iter().map(fault).collect();
    if faults.is_empty() {
        faults.push(envelope.message.clone());
    }
    format!("{call} was refused with {}: {}", status.as_u16(), faults.join(" "))
}

/// Formats an error with its chain of causes, which reqwest's own message lacks.
pub fn unanswered(call: &str, error: &reqwest::Error) -> String {
    let mut causes = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(next) = cause {
        causes.push_str(&format!(": {next}"));
        cause = next.source();
    }
    format!("{call} got no response: {causes}")
}
