//! Recorded traffic with a real language model: a server that plays it back byte for byte, and one that records it.
//!
//! A recording is a file of JSON lines: first what was recorded, then an exchange in each line. An exchange is found by its
//! request, as JSON; equal requests have their answers in the order of the recording, each of them once. A request that
//! nobody recorded is refused, and the test is told.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use actix_web::http::StatusCode;
use actix_web::{HttpResponse, web};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::client::plain_http;
use super::local_server::LocalServer;

/// What was recorded, for whoever wants to know or to record again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provenance {
    /// As the requests name it.
    pub model: String,
    /// The weights with their licence, and the server, each with its version.
    pub about: String,
    pub recorded_at: String,
}

/// A request and the answer to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    pub request: Value,
    pub status: u16,
    pub content_type: String,
    /// The body, byte for byte.
    pub answer: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    pub provenance: Provenance,
    pub exchanges: Vec<Exchange>,
}

impl Recording {
    /// Returns where the recording of a name is.
    pub fn path(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded").join(format!("{name}.jsonl"))
    }

    pub fn load(name: &str) -> Self {
        let written = fs::read_to_string(Self::path(name)).unwrap();
        let (first, rest) = written.split_once('\n').unwrap();
        let exchanges = rest.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        Self { provenance: serde_json::from_str(first).unwrap(), exchanges }
    }

    pub fn save(&self, name: &str) {
        let mut written = serde_json::to_string(&self.provenance).unwrap() + "\n";
        for exchange in &self.exchanges {
            written += &(serde_json::to_string(exchange).unwrap() + "\n");
        }
        fs::write(Self::path(name), written).unwrap();
    }
}

/// What a server does with a request.
enum Answering {
    /// It has these answers, and whether each of them was given.
    Recorded(Vec<(Exchange, bool)>),
    /// It asks the real server at this base, and keeps what it answers.
    Real { url: String, http: reqwest::Client, kept: Vec<Exchange> },
}

struct ServerState {
    answering: Answering,
    /// Requests that nobody recorded.
    unknown: Vec<Value>,
}

/// A running server. It stops when this value is dropped.
pub struct RecordedLlm {
    state: Arc<Mutex<ServerState>>,
    _server: LocalServer,
    pub url: String,
}

impl RecordedLlm {
    /// Plays a recording back.
    pub fn playing(recording: &Recording) -> Self {
        let exchanges = recording.exchanges.iter().map(|exchange| (exchange.clone(), false)).collect();
        Self::start(Answering::Recorded(exchanges))
    }

    /// Records what the server at this base answers, such as `http://127.0.0.1:8000/v1`.
    pub fn recording(url: &str) -> Self {
        let http = plain_http().timeout(Duration::from_secs(900)).build().unwrap();
        Self::start(Answering::Real { url: url.trim_end_matches('/').to_owned(), http, kept: Vec::new() })
    }

    fn start(answering: Answering) -> Self {
        let state = Arc::new(Mutex::new(ServerState { answering, unknown: Vec::new() }));
        let shared = web::Data::from(Arc::clone(&state));
        let server = LocalServer::start(move |routes| {
            routes
                .app_data(shared.clone())
                .app_data(web::PayloadConfig::new(1 << 20))
                .route("/v1/chat/completions", web::post().to(complete));
        });
        Self { state, url: format!("http://127.0.0.1:{}/v1", server.port), _server: server }
    }

    fn state(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap()
    }

    /// Returns the requests that nobody recorded.
    pub fn unknown(&self) -> Vec<Value> {
        self.state().unknown.clone()
    }

    /// Returns the requests whose recorded answers were not asked for.
    pub fn left(&self) -> Vec<Value> {
        match &self.state().answering {
            Answering::Recorded(all) => {
                all.iter().filter(|(_, is_given)| !is_given).map(|(exchange, _)| exchange.request.clone()).collect()
            }
            Answering::Real { .. } => Vec::new(),
        }
    }

    /// Returns what was recorded.
    pub fn kept(&self) -> Vec<Exchange> {
        match &self.state().answering {
            Answering::Recorded(_) => Vec::new(),
            Answering::Real { kept, .. } => kept.clone(),
        }
    }
}

async fn complete(body: web::Bytes, state: web::Data<Mutex<ServerState>>) -> HttpResponse {
    let request: Value = serde_json::from_slice(&body).unwrap();
    let real = {
        let mut state = state.lock().unwrap();
        match &mut state.answering {
            Answering::Real { url, http, .. } => (url.clone(), http.clone()),
            Answering::Recorded(all) => {
                let next = all.iter_mut().find(|(exchange, is_given)| !is_given && exchange.request == request);
                let Some((exchange, is_given)) = next else {
                    eprintln!("nobody recorded this request to the language model: {request}");
                    state.unknown.push(request);
                    let refusal = json!({"error": {"message": "nobody recorded an answer to this request"}});
                    // A status that nobody takes for a busy server, or for one that wants another form.
                    return HttpResponse::Gone().json(refusal);
                };
                *is_given = true;
                return given(exchange);
            }
        }
    };
    let (url, http) = real;
    // As it came: the order of a schema's properties is lost in a `Value`.
    let asking = http.post(format!("{url}/chat/completions")).header("content-type", "application/json");
    let response = asking.body(body.to_vec()).send().await.unwrap();
    let (status, head) = (response.status().as_u16(), response.headers().get("content-type").cloned());
    let content_type = head.and_then(|value| value.to_str().ok().map(str::to_owned)).unwrap_or_default();
    let answer = String::from_utf8(response.bytes().await.unwrap().to_vec()).unwrap();
    let exchange = Exchange { request, status, content_type, answer };
    let response = given(&exchange);
    if let Answering::Real { kept, .. } = &mut state.lock().unwrap().answering {
        kept.push(exchange);
    }
    response
}

fn given(exchange: &Exchange) -> HttpResponse {
    let status = StatusCode::from_u16(exchange.status).unwrap();
    HttpResponse::build(status).content_type(exchange.content_type.as_str()).body(exchange.answer.clone())
}
