//! A fake server of a language model for tests: OpenAI's interface of chat completions, which can be made to fail.
//!
//! It refuses what real ones refuse: a missing or wrong key, an unknown model, messages in no valid form, a schema that
//! strict mode does not take, and the forms of answers that it is told not to know. What it answers comes from a pretended
//! model, which reads the question alone.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use actix_web::http::StatusCode;
use actix_web::http::header::{HttpDate, RETRY_AFTER};
use actix_web::{HttpRequest, HttpResponse, web};
use futures_util::stream;
use serde_json::{Value, json};

use super::local_server::LocalServer;

#[path = "../../support/fake_llm.rs"]
#[expect(dead_code, reason = "the tests of the engine use the rest")]
pub mod fake_llm;

pub use fake_llm::{Manner, ORDERED};

pub const KEY: &str = "sk-a-key-of-the-stories";
pub const MODEL: &str = "pretended-1";

/// Which forms of answers the server knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Formats {
    /// All of OpenAI's.
    All,
    /// As older servers: `json_object` alone.
    Objects,
    /// As llama-cpp-python: `json_object`, with a schema in it if one likes; anything else is a 500.
    ObjectsOfSchemas,
    /// None.
    Nothing,
}

/// What goes wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// 429 with `Retry-After` of so many seconds.
    Busy(u32),
    /// 429 with a date in `Retry-After` that is so many seconds away.
    BusyUntil(u32),
    /// 500 without JSON.
    Failing,
    /// The connection closes in the middle of the answer.
    Closes,
    /// No answer for a minute.
    Silent,
    /// A page of another site, with 200.
    WrongType,
    /// 302 to another path of this server.
    Redirects,
    /// An answer of two megabytes.
    Huge,
    /// 400: the question is longer than the model's context.
    TooLong,
}

struct ServiceState {
    manner: Manner,
    formats: Formats,
    troubles: VecDeque<Trouble>,
    /// After so many answers there are only 503s.
    answers_left: usize,
    /// How long each answer takes.
    delay: Duration,
    has_usage: bool,
    requests: Vec<Value>,
    answered: Vec<String>,
    under_way: usize,
    most_under_way: usize,
    redirected: usize,
}

/// A running fake server. It stops when this value is dropped.
pub struct FakeLlm {
    state: Arc<Mutex<ServiceState>>,
    _server: LocalServer,
    pub url: String,
}

impl FakeLlm {
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(ServiceState {
            manner: Manner::Honest,
            formats: Formats::All,
            troubles: VecDeque::new(),
            answers_left: usize::MAX,
            delay: Duration::ZERO,
            has_usage: true,
            requests: Vec::new(),
            answered: Vec::new(),
            under_way: 0,
            most_under_way: 0,
            redirected: 0,
        }));
        let shared = web::Data::from(Arc::clone(&state));
        let server = LocalServer::start(move |routes| {
            routes
                .app_data(shared.clone())
                .app_data(web::JsonConfig::default().limit(1 << 20))
                .route("/v1/chat/completions", web::post().to(complete))
                .route("/elsewhere", web::route().to(elsewhere));
        });
        Self { state, url: format!("http://127.0.0.1:{}/v1", server.port), _server: server }
    }

    /// Returns the settings with which a Colloquy server uses this model for all projects.
    pub fn settings(&self) -> Vec<(&str, &str)> {
        vec![
            ("COLLOQUY__LLM__URL", &self.url),
            ("COLLOQUY__LLM__KEY", KEY),
            ("COLLOQUY__LLM__MODEL", MODEL),
            ("COLLOQUY__LLM__PROJECTS", "all"),
            ("COLLOQUY__LLM__CHUNK_CHARACTERS", "500"),
        ]
    }

    fn state(&self) -> MutexGuard<'_, ServiceState> {
        self.state.lock().unwrap()
    }

    pub fn answers(&self, manner: Manner) {
        self.state().manner = manner;
    }

    pub fn knows(&self, formats: Formats) {
        self.state().formats = formats;
    }

    pub fn counts_no_tokens(&self) {
        self.state().has_usage = false;
    }

    /// What goes wrong with the next requests, in order.
    pub fn fails(&self, troubles: &[Trouble]) {
        self.state().troubles.extend(troubles);
    }

    /// After so many further answers there are only 503s.
    pub fn dies_after(&self, answers: usize) {
        self.state().answers_left = answers;
    }

    pub fn takes(&self, delay: Duration) {
        self.state().delay = delay;
    }

    /// Returns the bodies of the requests that came with the right key.
    pub fn requests(&self) -> Vec<Value> {
        self.state().requests.clone()
    }

    /// Returns the questions that were answered, each as often as it was.
    pub fn answered(&self) -> Vec<String> {
        self.state().answered.clone()
    }

    /// Returns the largest number of requests that were under way at once.
    pub fn most_under_way(&self) -> usize {
        self.state().most_under_way
    }

    /// Returns how many requests followed a redirect.
    pub fn redirected(&self) -> usize {
        self.state().redirected
    }
}

fn refusal(status: u16, message: &str) -> HttpResponse {
    let body = json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}});
    HttpResponse::build(StatusCode::from_u16(status).unwrap()).json(body)
}

async fn elsewhere(state: web::Data<Mutex<ServiceState>>) -> HttpResponse {
    state.lock().unwrap().redirected += 1;
    HttpResponse::Ok().json(json!({"choices": [{"message": {"content": "{}"}}]}))
}

/// Counts a request as under way until it is dropped, also when its client is gone.
struct UnderWay(web::Data<Mutex<ServiceState>>);

impl UnderWay {
    fn begin(state: &web::Data<Mutex<ServiceState>>) -> Self {
        let mut counts = state.lock().unwrap();
        counts.under_way += 1;
        counts.most_under_way = counts.most_under_way.max(counts.under_way);
        drop(counts);
        Self(state.clone())
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.lock().unwrap().under_way -= 1;
    }
}

async fn complete(request: HttpRequest, body: web::Json<Value>, state: web::Data<Mutex<ServiceState>>) -> HttpResponse {
    let key = request.headers().get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if key != format!("Bearer {KEY}") {
        let sent = key.trim_start_matches("Bearer ");
        return refusal(401, &format!("Incorrect API key provided: {sent}."));
    }
    let body = body.into_inner();
    let _under_way = UnderWay::begin(&state);
    let (trouble, delay, formats, manner, has_usage) = {
        let mut state = state.lock().unwrap();
        state.requests.push(body.clone());
        (state.troubles.pop_front(), state.delay, state.formats, state.manner, state.has_usage)
    };
    actix_web::rt::time::sleep(delay).await;
    if let Some(refused) = refused(&body, formats) {
        return refused;
    }
    match trouble {
        None => {}
        Some(Trouble::Busy(seconds)) => {
            return HttpResponse::TooManyRequests().insert_header(("retry-after", seconds.to_string())).finish();
        }
        Some(Trouble::BusyUntil(seconds)) => {
            let until = SystemTime::now() + Duration::from_secs(seconds.into());
            return HttpResponse::TooManyRequests().insert_header((RETRY_AFTER, HttpDate::from(until))).finish();
        }
        Some(Trouble::Failing) => return HttpResponse::InternalServerError().body("<html>Oops</html>"),
        Some(Trouble::Closes) => {
            let broken = std::io::Error::other("closed");
            let half = web::Bytes::from_static(b"{\"choices\": [{\"mess");
            return HttpResponse::Ok()
                .content_type("application/json")
                .streaming(stream::iter([Ok(half), Err(broken)]));
        }
        Some(Trouble::Silent) => actix_web::rt::time::sleep(Duration::from_secs(60)).await,
        Some(Trouble::WrongType) => return HttpResponse::Ok().content_type("text/html").body("<html>Log in</html>"),
        Some(Trouble::Redirects) => {
            return HttpResponse::Found().insert_header(("location", "/elsewhere")).finish();
        }
        Some(Trouble::Huge) => return HttpResponse::Ok().json(json!({"choices": [], "padding": "x".repeat(2 << 20)})),
        Some(Trouble::TooLong) => {
            let message =
                "This model's maximum context length is 2048 tokens. Please reduce the length of the messages.";
            return refusal(400, message);
        }
    }
    {
        let mut state = state.lock().unwrap();
        if state.answers_left == 0 {
            return HttpResponse::ServiceUnavailable().finish();
        }
        state.answers_left -= 1;
    }
    let content = |at: usize| body["messages"][at]["content"].as_str().unwrap();
    let answer = fake_llm::answer(manner, content(0), content(1));
    let finish = if manner == Manner::Cuts { "length" } else { "stop" };
    let (asked, said) = (content(0).len() + content(1).len(), answer.len());
    let mut reply = json!({
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1_795_555_762, "model": MODEL,
        "choices": [{
            "index": 0, "message": {"role": "assistant", "content": answer, "refusal": null},
            "logprobs": null, "finish_reason": finish,
        }],
    });
    if has_usage {
        reply["usage"] =
            json!({"prompt_tokens": asked / 4, "completion_tokens": said / 4, "total_tokens": asked / 4 + said / 4});
    }
    state.lock().unwrap().answered.push(content(1).to_owned());
    HttpResponse::Ok().json(reply)
}

/// Returns the refusal of a real server, if it would refuse the request.
fn refused(body: &Value, formats: Formats) -> Option<HttpResponse> {
    if body["model"] != MODEL {
        return Some(refusal(404, &format!("The model `{}` does not exist.", body["model"])));
    }
    let messages = body["messages"].as_array()?;
    let roles: Vec<&str> = messages.iter().filter_map(|message| message["role"].as_str()).collect();
    if roles != ["system", "user"] || messages.iter().any(|message| !message["content"].is_string()) {
        return Some(refusal(400, "Invalid value for 'messages'."));
    }
    let known = ["model", "messages", "max_tokens", "temperature", "stream", "response_format"];
    if let Some(unknown) = body.as_object()?.keys().find(|key| !known.contains(&key.as_str())) {
        return Some(refusal(400, &format!("Unrecognized request argument supplied: {unknown}")));
    }
    let format = body.get("response_format")?;
    let (kind, has_schema) = (format["type"].as_str().unwrap_or_default(), format.get("schema").is_some());
    match (formats, kind) {
        (Formats::All, "json_schema") => {
            let schema = &format["json_schema"];
            let is_strict = schema["strict"] == true && schema["name"].is_string();
            (!is_strict || !is_closed(&schema["schema"])).then(|| refusal(400, "Invalid schema for response_format."))
        }
        (Formats::All | Formats::Objects, "json_object") if has_schema => {
            Some(refusal(400, "Unknown parameter: 'response_format.schema'."))
        }
        (Formats::All | Formats::Objects | Formats::ObjectsOfSchemas, "json_object") => None,
        (Formats::Objects, _) => Some(refusal(
            400,
            "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        )),
        (Formats::ObjectsOfSchemas, _) => Some(refusal(
            500,
            "1 validation error: {'loc': ('body', 'response_format', 'type'), 'msg': \"Input should be 'text' or 'json_object'\"}",
        )),
        _ => Some(refusal(400, "Bad request.")),
    }
}

/// Whether strict mode takes a schema: each object names all its properties as required, and no others are allowed.
fn is_closed(schema: &Value) -> bool {
    match schema["type"].as_str() {
        Some("object") => {
            let Some(properties) = schema["properties"].as_object() else { return false };
            let required = schema["required"].as_array().map(Vec::len).unwrap_or_default();
            schema["additionalProperties"] == false
                && required == properties.len()
                && properties.values().all(is_closed)
        }
        Some("array") => is_closed(&schema["items"]),
        Some("string" | "integer" | "boolean") => true,
        _ => false,
    }
}
