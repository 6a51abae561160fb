//! A fake speech service for tests: OpenAI's interface of transcriptions, which can be made to fail.
//!
//! It refuses what the real one refuses: a missing or wrong key, a missing file or model, an unknown format, a file that
//! is too large or no sound. What it hears are words that are made from the samples of each two seconds, so that a piece
//! that was sent twice, or never, shows in the transcript.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use actix_multipart::Multipart;
use actix_web::http::StatusCode;
use actix_web::{HttpRequest, HttpResponse, web};
use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::{Value, json};

use super::local_server::LocalServer;
use sha2::{Digest, Sha256};

pub const KEY: &str = "sk-a-key-of-the-stories";
/// As the real one's.
const FILE_BYTES: usize = 25 * 1024 * 1024;

/// What goes wrong with one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// 429 with `Retry-After: 1`.
    Busy,
    /// 500 without JSON.
    Failing,
    /// The answer ends in the middle.
    Cut,
    /// JSON of another kind.
    WrongJson,
    /// The answer takes two seconds.
    Slow,
    /// No answer for a minute.
    Silent,
    /// No answer until [`FakeSpeechService::release`].
    Held,
}

/// The fields of a request that came with the right key.
pub type SentForm = BTreeMap<String, Vec<u8>>;

#[derive(Default)]
struct ServiceState {
    troubles: VecDeque<Trouble>,
    forms: Vec<SentForm>,
    is_released: bool,
}

/// A running fake service. It stops when this value is dropped.
pub struct FakeSpeechService {
    state: Arc<Mutex<ServiceState>>,
    _server: LocalServer,
    url: String,
}

impl FakeSpeechService {
    pub fn start() -> Self {
        let state = Arc::new(Mutex::new(ServiceState::default()));
        let shared = web::Data::from(Arc::clone(&state));
        let server = LocalServer::start(move |routes| {
            routes.app_data(shared.clone()).route("/v1/audio/transcriptions", web::post().to(transcribe));
        });
        Self { state, url: format!("http://127.0.0.1:{}/v1/audio/transcriptions", server.port), _server: server }
    }

    /// Returns the settings with which a Colloquy server uses this service.
    pub fn settings(&self) -> Vec<(&str, &str)> {
        vec![
            ("COLLOQUY__SPEECH__ENGINE", "http"),
            ("COLLOQUY__SPEECH__SERVICE_URL", &self.url),
            ("COLLOQUY__SPEECH__SERVICE_KEY", KEY),
            ("COLLOQUY__SPEECH__SERVICE_SECONDS", "20"),
        ]
    }

    fn state(&self) -> MutexGuard<'_, ServiceState> {
        self.state.lock().unwrap()
    }

    /// What goes wrong with the next requests, in order.
    pub fn fails(&self, troubles: &[Trouble]) {
        self.state().troubles.extend(troubles);
    }

    /// How many of these are still to come.
    pub fn troubles(&self) -> usize {
        self.state().troubles.len()
    }

    /// Has held requests answered.
    pub fn release(&self) {
        self.state().is_released = true;
    }

    /// Returns the requests that came with the right key.
    pub fn forms(&self) -> Vec<SentForm> {
        self.state().forms.clone()
    }
}

fn refusal(status: u16, message: &str) -> HttpResponse {
    let body = json!({"error": {"message": message, "type": "invalid_request_error", "param": null, "code": null}});
    HttpResponse::build(StatusCode::from_u16(status).unwrap()).json(body)
}

async fn transcribe(request: HttpRequest, form: Multipart, state: web::Data<Mutex<ServiceState>>) -> HttpResponse {
    let key = request.headers().get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
    if key != format!("Bearer {KEY}") {
        let sent = key.trim_start_matches("Bearer ");
        return refusal(401, &format!("Incorrect API key provided: {sent}."));
    }
    let Ok(form) = fields(form).await else { return refusal(400, "The form can't be read.") };
    state.lock().unwrap().forms.push(form.clone());
    let trouble = state.lock().unwrap().troubles.pop_front();
    let answer = match heard(&form) {
        Ok(answer) => answer,
        Err((status, why)) => return refusal(status, &why),
    };
    match trouble {
        None => HttpResponse::Ok().json(answer),
        Some(Trouble::Busy) => HttpResponse::TooManyRequests().insert_header(("retry-after", "1")).finish(),
        Some(Trouble::Failing) => HttpResponse::InternalServerError().body("<html>Oops</html>"),
        Some(Trouble::WrongJson) => HttpResponse::Ok().json(json!({"text": 7, "segments": "none"})),
        Some(Trouble::Cut) => {
            let half = answer.to_string();
            let half = web::Bytes::from(half[..half.len() / 2].to_owned());
            let broken = std::io::Error::other("cut");
            HttpResponse::Ok().content_type("application/json").streaming(stream::iter([Ok(half), Err(broken)]))
        }
        Some(Trouble::Slow) => {
            actix_web::rt::time::sleep(Duration::from_secs(2)).await;
            HttpResponse::Ok().json(answer)
        }
        Some(Trouble::Silent) => {
            actix_web::rt::time::sleep(Duration::from_secs(60)).await;
            HttpResponse::Ok().json(answer)
        }
        Some(Trouble::Held) => {
            while !state.lock().unwrap().is_released {
                actix_web::rt::time::sleep(Duration::from_millis(20)).await;
            }
            HttpResponse::Ok().json(answer)
        }
    }
}

async fn fields(mut form: Multipart) -> Result<SentForm, actix_multipart::MultipartError> {
    let mut fields = SentForm::new();
    while let Some(field) = form.next().await {
        let field = field?;
        let name = field.name().unwrap_or_default().to_owned();
        let bytes = field.try_fold(Vec::new(), async |mut all, piece| {
            all.extend_from_slice(&piece);
            Ok(all)
        });
        fields.insert(name, bytes.await?);
    }
    Ok(fields)
}

/// Returns the transcript of a form, or the refusal of the real service.
fn heard(form: &SentForm) -> Result<Value, (u16, String)> {
    let refusal = |status: u16, why: &str| (status, why.to_owned());
    let text = |name: &str| form.get(name).and_then(|bytes| std::str::from_utf8(bytes).ok());
    let file = form.get("file").ok_or_else(|| refusal(400, "Missing required parameter: 'file'."))?;
    match text("model") {
        None => return Err(refusal(400, "you must provide a model parameter")),
        Some("whisper-1") => {}
        Some(other) => return Err(refusal(404, &format!("The model `{other}` does not exist."))),
    }
    if text("response_format") != Some("verbose_json") {
        return Err(refusal(400, "This story's service is asked for verbose_json."));
    }
    if file.len() > FILE_BYTES {
        return Err(refusal(413, "Maximum content size limit exceeded."));
    }
    let is_wav = file.len() > 44 && file.starts_with(b"RIFF") && &file[8..16] == b"WAVEfmt ";
    if !is_wav || file[22..28] != [1, 0, 0x80, 0x3e, 0, 0] {
        return Err(refusal(400, "Invalid file format."));
    }
    let slices = file[44..].chunks(2 * 32_000);
    let segments: Vec<Value> = (0..)
        .zip(slices)
        .map(|(at, slice)| {
            let words = &hex::encode(Sha256::digest(slice))[..8];
            let (start, end) = (f64::from(at) * 2.0, f64::from(at) * 2.0 + slice.len() as f64 / 32_000.0);
            json!({"id": at, "start": start, "end": end, "text": format!(" word {words}"), "avg_logprob": -0.2,
                   "no_speech_prob": 0.01, "temperature": 0.0, "compression_ratio": 1.1, "seek": 0, "tokens": []})
        })
        .collect();
    Ok(
        json!({"task": "transcribe", "language": "english", "duration": file.len() as f64 / 32_000.0, "text": "", "segments": segments}),
    )
}
