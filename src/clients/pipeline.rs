//! The pipeline service: `colloquy pipeline`, here or on another machine.
//!
//! Requests go to the configured address only, without following redirects. Neither sources nor results nor the key are
//! logged. What is answered is read up to a limit and only in its known form; whether it is true is for the caller to
//! check.

use std::fmt::Display;
use std::io;
use std::time::Duration;

use actors::ids::{AiJob, Id};
use actors::live::RequestId;
use bytes::Bytes;
use futures_util::{Stream, stream};
use pipeline::PortUnavailable;
use pipeline::ports::TextStore;
use pipeline::process::RequestOutline;
use pipeline::remote::{JobResult, PipelineJob, RESULT_BYTES, SourceHead};
use reqwest::header::CONTENT_TYPE;
use reqwest::{Body, Method, RequestBuilder, Response, StatusCode};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::json;
use tokio::sync::mpsc;
use tokio::task::spawn_blocking;

use super::retry_after;

/// The largest answer that is no result, in bytes.
const MAX_ANSWER_BYTES: usize = 64 * 1024;
/// The bytes of a text that are sent at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Characters of a refusal that are passed on.
const REFUSAL_CHARACTERS: usize = 300;
/// A connection that was idle for longer is not used again: the service closes it after five seconds.
const IDLE: Duration = Duration::from_secs(3);

pub struct PipelineServiceSettings {
    /// The address below which its operations are.
    pub url: String,
    pub key: String,
    /// Timeout of a question and its answer.
    pub limit: Duration,
    /// Timeout of sending all sources, and of fetching a result.
    pub transfer_limit: Duration,
}

/// A client of the pipeline service.
pub struct PipelineService {
    url: String,
    key: String,
    limit: Duration,
    transfer_limit: Duration,
    http: reqwest::Client,
}

/// Why the service did not do what it was asked for.
#[derive(Debug)]
pub enum PipelineRefusal {
    /// It can't be reached, or is busy; it may say for how long.
    Away(String, Option<Duration>),
    /// It has no such job.
    Missing,
    /// The job is in another state, or another request has its id.
    Conflict,
    /// Its settings, or ours, are wrong: nothing but a change of them helps.
    Misconfigured(String),
    /// The same request would be refused again.
    Refused(String),
    /// The answer is cut, too long, or in no known form.
    Invalid(String),
    /// A text could not be loaded.
    Texts(PortUnavailable),
    /// The sources could not be sent to their end, although the service was there; it may have refused them meanwhile.
    Unsent(String),
}

impl PipelineService {
    /// # Errors
    /// Returns a message when no HTTP client can be created.
    pub fn new(settings: PipelineServiceSettings) -> Result<Self, String> {
        let PipelineServiceSettings { url, key, limit, transfer_limit } = settings;
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .connect_timeout(limit)
            .pool_idle_timeout(IDLE)
            .user_agent("Colloquy")
            .build()
            .map_err(|error| format!("the pipeline service's client can't be created: {error}"))?;
        Ok(Self { url: url.trim_end_matches('/').to_owned(), key, limit, transfer_limit, http })
    }

    /// Returns once the service has said that it works, and accepts the key.
    ///
    /// # Errors
    /// Returns why not, in words for the operator.
    pub async fn health(&self, request: &RequestId) -> Result<(), String> {
        let asked = self.request(Method::GET, "/internal/health", request).timeout(self.limit);
        let answered: Result<serde_json::Value, _> = self.answer(asked.send().await, MAX_ANSWER_BYTES).await;
        answered.map(drop).map_err(|refusal| match refusal {
            PipelineRefusal::Away(why, _)
            | PipelineRefusal::Misconfigured(why)
            | PipelineRefusal::Refused(why)
            | PipelineRefusal::Invalid(why)
            | PipelineRefusal::Unsent(why) => why,
            PipelineRefusal::Missing | PipelineRefusal::Conflict | PipelineRefusal::Texts(_) => {
                "the pipeline service has no state of health".to_owned()
            }
        })
    }

    /// Returns where a job stands.
    ///
    /// # Errors
    /// See [`PipelineRefusal`].
    pub async fn status(&self, id: Id<AiJob>, request: &RequestId) -> Result<PipelineJob, PipelineRefusal> {
        let asked = self.request(Method::GET, &format!("/internal/jobs/{id}"), request).timeout(self.limit);
        self.answer(asked.send().await, MAX_ANSWER_BYTES).await
    }

    /// Sends the sources of a job, text by text.
    ///
    /// # Errors
    /// See [`PipelineRefusal`].
    pub async fn process(
        &self,
        id: Id<AiJob>,
        outline: &RequestOutline,
        texts: &dyn TextStore,
        request: &RequestId,
    ) -> Result<PipelineJob, PipelineRefusal> {
        let (sender, receiver) = mpsc::channel(1);
        let sending = self.request(Method::POST, "/internal/process-json", request).timeout(self.transfer_limit);
        let sending = sending.header(CONTENT_TYPE, "application/json").body(Body::wrap_stream(pieces(receiver)));
        let (answered, fed) = tokio::join!(sending.send(), feed(id, outline, texts, sender));
        fed.map_err(PipelineRefusal::Texts)?;
        if let Err(error) = &answered
            && !error.is_connect()
        {
            return Err(PipelineRefusal::Unsent(self.line(causes(error))));
        }
        self.answer(answered, MAX_ANSWER_BYTES).await
    }

    /// Returns what a job found.
    ///
    /// # Errors
    /// See [`PipelineRefusal`].
    pub async fn result(&self, id: Id<AiJob>, request: &RequestId) -> Result<JobResult, PipelineRefusal> {
        let asked = self.request(Method::GET, &format!("/internal/jobs/{id}/result"), request);
        self.answer(asked.timeout(self.transfer_limit).send().await, RESULT_BYTES).await
    }

    /// Cancels a job.
    ///
    /// # Errors
    /// See [`PipelineRefusal`].
    pub async fn cancel(&self, id: Id<AiJob>, request: &RequestId) -> Result<PipelineJob, PipelineRefusal> {
        let asked = self.request(Method::POST, &format!("/internal/jobs/{id}/cancel"), request).timeout(self.limit);
        self.answer(asked.send().await, MAX_ANSWER_BYTES).await
    }

    fn request(&self, method: Method, path: &str, request: &RequestId) -> RequestBuilder {
        let calling = self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&self.key);
        calling.header("x-request-id", request.as_ref() as &str)
    }

    async fn answer<T: DeserializeOwned + Send + 'static>(
        &self,
        answered: reqwest::Result<Response>,
        most: usize,
    ) -> Result<T, PipelineRefusal> {
        let away = |error: &reqwest::Error| {
            PipelineRefusal::Away(format!("no answer from the pipeline service: {}", self.line(causes(error))), None)
        };
        let response = answered.map_err(|error| away(&error))?;
        let status = response.status();
        let wanted = retry_after::seconds(response.headers());
        if status.is_success() {
            let bytes = body(response, most).await?;
            return spawn_blocking(move || parse(&bytes)).await.unwrap_or_else(|error| invalid(&error.to_string()));
        }
        let code = status.as_u16();
        Err(match status {
            StatusCode::NOT_FOUND => PipelineRefusal::Missing,
            StatusCode::CONFLICT => PipelineRefusal::Conflict,
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => PipelineRefusal::Misconfigured(format!(
                "The pipeline service does not accept pipeline.key ({code}). Set the same key on both sides."
            )),
            status if status.is_redirection() => PipelineRefusal::Misconfigured(format!(
                "The pipeline service redirects to another address ({code}), which is not followed. Correct pipeline.url."
            )),
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                PipelineRefusal::Away(format!("the pipeline service answers {code}"), wanted)
            }
            status if status.is_server_error() => {
                PipelineRefusal::Away(format!("the pipeline service answers {code}"), wanted)
            }
            _ => {
                let said = body(response, MAX_ANSWER_BYTES).await.unwrap_or_default();
                let said: RefusedAnswer = serde_json::from_slice(&said).unwrap_or_default();
                PipelineRefusal::Refused(self.line(format!("{code} {}", said.message)))
            }
        })
    }

    /// On one line, cut, and without the key.
    fn line(&self, text: impl Display) -> String {
        line(&text.to_string().replace(&self.key, "…"))
    }
}

/// Puts a text on one line, cuts it, and removes control characters.
#[must_use]
pub fn line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().filter(|sign| !sign.is_control()).take(REFUSAL_CHARACTERS).collect()
}

type Piece = Result<Bytes, io::Error>;

fn pieces(receiver: mpsc::Receiver<Piece>) -> impl Stream<Item = Piece> {
    stream::unfold(receiver, |mut receiver| async move { receiver.recv().await.map(|piece| (piece, receiver)) })
}

/// Writes the request, one text at a time. If one can't be loaded, the request is cut, so that it is not taken for whole.
async fn feed(
    id: Id<AiJob>,
    outline: &RequestOutline,
    texts: &dyn TextStore,
    sender: mpsc::Sender<Piece>,
) -> Result<(), PortUnavailable> {
    let mut head = json!({"jobId": id, "analysisType": outline.analysis_type, "language": outline.language});
    if !outline.glossary.is_empty()
        && let Some(fields) = head.as_object_mut()
    {
        fields.insert("glossary".to_owned(), json!(outline.glossary));
    }
    let head = head.to_string();
    let mut head = format!(r#"{},"sources":["#, head.trim_end_matches('}'));
    for source in &outline.sources {
        let of = SourceHead { id: &source.id, kind: source.kind, name: &source.name };
        let of = serde_json::to_string(&of).map_err(|error| PortUnavailable(error.to_string()))?;
        head.push_str(of.trim_end_matches('}'));
        let text = match &source.unreadable {
            Some(why) => {
                head.push_str(&format!(r#","unreadable":{}}},"#, json!({"code": why.code, "message": why.message})));
                continue;
            }
            None => texts.text(&source.id).await,
        };
        let text = match text {
            Ok(text) => Bytes::from(text),
            Err(unavailable) => {
                let _ = sender.send(Err(io::Error::other("a text is missing"))).await;
                return Err(unavailable);
            }
        };
        head.push_str(r#","content":"#);
        // An error means that the answer came before the whole request was sent; it says why.
        if sender.send(Ok(Bytes::from(std::mem::take(&mut head)))).await.is_err() {
            return Ok(());
        }
        let mut rest = text;
        while !rest.is_empty() {
            let piece = rest.split_to(rest.len().min(PIECE_BYTES));
            if sender.send(Ok(piece)).await.is_err() {
                return Ok(());
            }
        }
        head.push_str("},");
    }
    let tail = format!("{}]}}", head.trim_end_matches(','));
    let _ = sender.send(Ok(Bytes::from(tail))).await;
    Ok(())
}

#[derive(Deserialize)]
struct SuccessAnswer<T> {
    data: T,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct RefusedAnswer {
    message: String,
}

fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, PipelineRefusal> {
    match serde_json::from_slice::<SuccessAnswer<T>>(bytes) {
        Ok(answer) => Ok(answer.data),
        // Not the error itself, which may repeat what was answered.
        Err(error) => invalid(&format!("it is in no known form (line {}, column {})", error.line(), error.column())),
    }
}

fn invalid<T>(why: &str) -> Result<T, PipelineRefusal> {
    Err(PipelineRefusal::Invalid(format!("the pipeline service's answer is invalid: {why}")))
}

async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, PipelineRefusal> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if bytes.len() + piece.len() > most => return invalid("it is too long"),
            Ok(Some(piece)) => bytes.extend_from_slice(&piece),
            Ok(None) => return Ok(bytes),
            Err(error) => {
                return Err(PipelineRefusal::Away(
                    format!("the pipeline service's answer is cut: {}", line(&causes(&error))),
                    None,
                ));
            }
        }
    }
}

/// The causes of an error, without the address.
fn causes(error: &reqwest::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    let mut causes = String::from("the request failed");
    while let Some(source) = error.source() {
        error = source;
        causes = error.to_string();
    }
    causes
}
