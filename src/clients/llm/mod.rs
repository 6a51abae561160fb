//! A language model behind OpenAI's interface of chat completions: OpenAI itself, Ollama, llama.cpp, vLLM and others.
//!
//! ```text
//!  Chat ─► a place (so many calls at once) ─► POST …/chat/completions ─► answer, in bounds ─► Completion
//!              ▲                                   │ refused: another form │ busy, away: a pause with jitter
//!              └───────────────────────────────────┴───────────────────────┘
//! ```
//! Requests go to the configured address only, without following redirects. Neither the texts, nor the answers, nor the
//! key is logged.

mod form;
mod reply;

use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actors::time::Clock;
use async_trait::async_trait;
use pipeline::Completions;
use pipeline::chat::{Chat, ChatAnswer, Completion, NoCompletion};
use reqwest::{Response, StatusCode};
use tokio::sync::Semaphore;

use self::form::{InOrder, RequestForm};
use self::reply::{read, refusal};
use super::retry_after;

/// How often a question is sent before it is given up.
const ATTEMPTS: u32 = 4;
/// How often a question is sent that was not answered in time: the next answer takes as long.
const SLOW_ATTEMPTS: u32 = 2;
/// The mean pause after the first attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
/// A service that asks for a longer pause is given up.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// The largest response, in bytes.
const MAX_REPLY_BYTES: usize = 1024 * 1024;
/// Characters of a refusal that are passed on.
const REFUSAL_CHARACTERS: usize = 200;

pub struct LlmSettings {
    /// The base of the interface, such as `https://api.openai.com/v1`.
    pub url: String,
    /// Empty: none is sent.
    pub key: String,
    /// Timeout of one call.
    pub limit: Duration,
    /// How many calls are under way at once, of all runs together.
    pub at_once: usize,
}

/// Asks a language model.
pub struct LlmService {
    url: String,
    key: String,
    http: reqwest::Client,
    places: Semaphore,
    /// The form of requests that the service has accepted.
    form: Mutex<RequestForm>,
    clock: Arc<dyn Clock>,
}

impl LlmService {
    /// # Errors
    /// Returns a message when no HTTP client can be created.
    pub fn new(settings: LlmSettings, clock: Arc<dyn Clock>) -> Result<Self, String> {
        let LlmSettings { url, key, limit, at_once } = settings;
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(limit)
            .connect_timeout(limit)
            .pool_max_idle_per_host(at_once)
            .user_agent("Colloquy")
            .build()
            .map_err(|error| format!("the language model's client can't be created: {error}"))?;
        let url = format!("{}/chat/completions", url.trim_end_matches('/'));
        Ok(Self { url, key, http, places: Semaphore::new(at_once.max(1)), form: Mutex::default(), clock })
    }
}

#[async_trait]
impl Completions for LlmService {
    async fn complete(&self, chat: &Chat) -> ChatAnswer {
        let mut form = self.form();
        let (mut attempt, mut mean) = (1, FIRST_PAUSE);
        loop {
            let failed = match self.attempt(chat, form).await {
                Ok(completion) => {
                    *self.form.lock().unwrap_or_else(PoisonError::into_inner) = form;
                    return Ok(completion);
                }
                Err(failed) => failed,
            };
            let (why, wanted, most) = match failed {
                Failed::Form { status, said } => match form.after(status, &said) {
                    // The same question in another form is no further attempt.
                    Some(other) => {
                        form = other;
                        continue;
                    }
                    None if status.is_server_error() => {
                        (NoCompletion::Unavailable(status_line(status)), None, ATTEMPTS)
                    }
                    None => return Err(NoCompletion::Refused(self.line(&refusal(status, &said)))),
                },
                Failed::Refused(why) => return Err(NoCompletion::Refused(self.line(&why))),
                Failed::Away(why, wanted) => (NoCompletion::Unavailable(self.line(&why)), wanted, ATTEMPTS),
                Failed::Slow => {
                    (NoCompletion::Unavailable("it did not answer in time".to_owned()), None, SLOW_ATTEMPTS)
                }
                Failed::Invalid(why) => (NoCompletion::Invalid(why.to_owned()), None, SLOW_ATTEMPTS),
            };
            if attempt >= most || wanted.is_some_and(|wanted| wanted > MAX_PAUSE) {
                tracing::warn!(%why, attempt, "a language model gave no answer");
                return Err(why);
            }
            let jitter = mean.mul_f64(rand::random_range(0.0..1.0));
            tokio::time::sleep(wanted.map_or(mean / 2 + jitter, |wanted| wanted + jitter / 2)).await;
            (attempt, mean) = (attempt + 1, mean * 2);
        }
    }
}

/// Why an attempt failed.
enum Failed {
    /// The service may not know this form of request; what it says of it.
    Form {
        status: StatusCode,
        said: Vec<u8>,
    },
    /// The same question would be refused again.
    Refused(String),
    /// The service is not available, or busy; it may say for how long.
    Away(String, Option<Duration>),
    Slow,
    Invalid(&'static str),
}

impl LlmService {
    fn form(&self) -> RequestForm {
        *self.form.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn attempt(&self, chat: &Chat, form: RequestForm) -> Result<Completion, Failed> {
        // A closed semaphore has no places; this one is never closed.
        let _place = self.places.acquire().await.map_err(|_| Failed::Away("it is being stopped".to_owned(), None))?;
        let mut calling = self.http.post(&self.url).json(&InOrder(&form.request(chat)));
        if !self.key.is_empty() {
            calling = calling.bearer_auth(&self.key);
        }
        let response = calling.send().await.map_err(|error| no_response(&error))?;
        let (status, wanted) = (response.status(), retry_after::seconds_or_date(response.headers(), self.clock.now()));
        let said = body(response).await;
        if status.is_success() {
            return read(&said?, chat);
        }
        let said = said.unwrap_or_default();
        Err(match status {
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                Failed::Away(status_line(status), wanted)
            }
            // What services say of a wrong key shows parts of it.
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                Failed::Refused(format!("{} it does not accept llm.key", status.as_u16()))
            }
            status if status.is_redirection() => {
                Failed::Refused(format!("{} it redirects, which is not followed; set llm.url", status.as_u16()))
            }
            status if form::may_be_refused(status, &said) => Failed::Form { status, said },
            status if status.is_server_error() => Failed::Away(status_line(status), wanted),
            status => Failed::Refused(refusal(status, &said)),
        })
    }

    /// On one line, cut, and without the key.
    fn line(&self, text: &str) -> String {
        let text = if self.key.is_empty() { text.to_owned() } else { text.replace(&self.key, "…") };
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().filter(|sign| !sign.is_control()).take(REFUSAL_CHARACTERS).collect()
    }
}

fn status_line(status: StatusCode) -> String {
    format!("it answers {}", status.as_u16())
}

/// Names the cause without the address, which may hold a password.
fn no_response(error: &reqwest::Error) -> Failed {
    if error.is_timeout() {
        return Failed::Slow;
    }
    let mut cause: &dyn Error = error;
    let mut causes = String::from("the request failed");
    while let Some(source) = cause.source() {
        cause = source;
        causes = cause.to_string();
    }
    Failed::Away(causes, None)
}

async fn body(mut response: Response) -> Result<Vec<u8>, Failed> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if bytes.len() + piece.len() > MAX_REPLY_BYTES => {
                return Err(Failed::Invalid("its response is too long"));
            }
            Ok(Some(piece)) => bytes.extend_from_slice(&piece),
            Ok(None) => return Ok(bytes),
            Err(error) if error.is_timeout() => return Err(Failed::Slow),
            Err(_) => return Err(Failed::Invalid("its response is cut")),
        }
    }
}
