//! A speech service: any server with OpenAI's interface of transcriptions, such as `/v1/audio/transcriptions`.
//!
//! A recording is cut in pauses into pieces of at most two minutes by a child process. What is no speech is never sent.
//! Each piece is one request and one batch of the transcript, so that a failure repeats a piece at most.
//!
//! Requests go to the configured address only, without following redirects. Neither the sound, nor what was said, nor
//! the key is logged.

use std::fmt::Display;
use std::fs::File;
use std::sync::Arc;
use std::time::Duration;

use actors::time::Clock;
use async_trait::async_trait;
use reqwest::multipart::{Form, Part};
use reqwest::{Response, StatusCode};
use serde::Deserialize;
use speech::{
    CutRequest, HeardBatch, HeardSegment, HeardSink, PieceSink, SoundCutter, SoundPiece, SpeechRequest, Transcriber,
    Untranscribed,
};

use super::retry_after;

/// The longest piece of a recording: far below the 25 MB that services take.
const PIECE_MS: u64 = 120_000;
/// How often a piece is sent before the work is put off.
const ATTEMPTS: u32 = 4;
/// The pause after the first attempt; each further one is twice as long.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
/// A service that asks for a longer pause is left alone, and the job is tried again later.
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// The largest response. Two minutes of speech are about 3 KB of text.
const MAX_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// The most segments of a piece, and the most characters of a segment.
const MAX_SEGMENTS: usize = 2_000;
const MAX_TEXT_LENGTH: usize = 5_000;
/// Characters of a refusal that are passed on.
const REFUSAL_CHARACTERS: usize = 200;
/// Whisper's own rule of what it invented where nobody speaks.
const NO_SPEECH: f32 = 0.6;
const UNLIKELY: f32 = -1.0;
/// The confidence of a segment whose probability the service doesn't say.
const UNKNOWN_CONFIDENCE: f32 = 0.5;

pub struct SpeechServiceSettings {
    /// The address that recordings are posted to.
    pub url: String,
    /// Empty: none is sent.
    pub key: String,
    /// Timeout of one request.
    pub limit: Duration,
}

/// Transcribes with a speech service.
pub struct SpeechService {
    url: String,
    key: String,
    http: reqwest::Client,
    cutter: SoundCutter,
    clock: Arc<dyn Clock>,
}

impl SpeechService {
    /// # Errors
    /// Returns a message when no HTTP client can be created.
    pub fn new(settings: SpeechServiceSettings, cutter: SoundCutter, clock: Arc<dyn Clock>) -> Result<Self, String> {
        let SpeechServiceSettings { url, key, limit } = settings;
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .timeout(limit)
            .connect_timeout(limit)
            // A connection that is kept would close with the thread that opened it.
            .pool_max_idle_per_host(0)
            .user_agent("Colloquy")
            .build()
            .map_err(|error| format!("the speech service's client can't be created: {error}"))?;
        Ok(Self { url, key, http, cutter, clock })
    }
}

#[async_trait]
impl Transcriber for SpeechService {
    async fn transcribe(
        &self,
        recording: File,
        request: SpeechRequest,
        sink: &mut dyn HeardSink,
    ) -> Result<(), Untranscribed> {
        let cut = CutRequest::Speech { from_ms: request.from_ms, longest_ms: PIECE_MS };
        let language = request.language.clone();
        let mut pieces = SentPieces { service: self, request: &request, language, sink };
        self.cutter.cut(recording, cut, &mut pieces).await
    }
}

/// The pieces of one recording.
struct SentPieces<'a> {
    service: &'a SpeechService,
    request: &'a SpeechRequest,
    /// The language that is spoken, once it is known.
    language: Option<String>,
    sink: &'a mut dyn HeardSink,
}

#[async_trait]
impl PieceSink for SentPieces<'_> {
    async fn piece(&mut self, piece: SoundPiece) -> Result<(), Untranscribed> {
        let mut segments = Vec::new();
        if !piece.wav.is_empty() {
            let answer = self.answer(&piece).await?;
            self.language = self.language.take().or_else(|| answer.language.as_deref().and_then(code_of));
            segments = segments_of(answer, piece.from_ms, piece.to_ms);
        }
        let batch = HeardBatch { done_ms: piece.to_ms, language: self.language.clone(), segments, is_final: true };
        self.sink.take_batch(batch).await.map_err(|_| Untranscribed::Stopped)
    }
}

/// Why there is no answer.
#[derive(Debug)]
enum NoAnswer {
    /// The same request would be refused again.
    Refused(String),
    /// The service is not available, or busy; it may say for how long.
    Away(String, Option<Duration>),
    /// The answer is cut or in no known form.
    Invalid(String),
}

impl SentPieces<'_> {
    async fn answer(&mut self, piece: &SoundPiece) -> Result<ServiceAnswer, Untranscribed> {
        let mut pause = FIRST_PAUSE;
        let mut attempt = 1;
        loop {
            if !self.sink.may_continue().await {
                return Err(Untranscribed::Stopped);
            }
            let failed = match self.service.attempt(piece, self.request, self.language.as_deref()).await {
                Ok(answer) => return Ok(answer),
                Err(NoAnswer::Refused(why)) => return Err(Untranscribed::Refused(why)),
                Err(failed) => failed,
            };
            let wanted = if let NoAnswer::Away(_, wanted) = &failed { *wanted } else { None };
            if attempt == ATTEMPTS || wanted.is_some_and(|wanted| wanted > MAX_PAUSE) {
                return Err(match failed {
                    NoAnswer::Invalid(why) => Untranscribed::Crashed(why),
                    NoAnswer::Away(why, _) | NoAnswer::Refused(why) => Untranscribed::Interrupted(why),
                });
            }
            tokio::time::sleep(wanted.unwrap_or(pause)).await;
            (attempt, pause) = (attempt + 1, pause * 2);
        }
    }
}

impl SpeechService {
    async fn attempt(
        &self,
        piece: &SoundPiece,
        request: &SpeechRequest,
        language: Option<&str>,
    ) -> Result<ServiceAnswer, NoAnswer> {
        let away = |error: &reqwest::Error| {
            NoAnswer::Away(format!("no answer from the speech service: {}", self.line(causes(error))), None)
        };
        let part = Part::bytes(piece.wav.clone()).file_name("piece.wav").mime_str("audio/wav");
        let part = part.map_err(|error| away(&error))?;
        let mut form = Form::new().part("file", part).text("model", request.model_name.clone());
        form = form.text("response_format", "verbose_json").text("timestamp_granularities[]", "segment");
        if let Some(language) = language {
            form = form.text("language", language.to_owned());
        }
        if let Some(hint) = &request.hint {
            form = form.text("prompt", hint.clone());
        }
        let mut calling = self.http.post(&self.url).multipart(form);
        if !self.key.is_empty() {
            calling = calling.bearer_auth(&self.key);
        }
        let response = calling.send().await.map_err(|error| away(&error))?;
        let (status, wanted) = (response.status(), retry_after::seconds_or_date(response.headers(), self.clock.now()));
        let bytes = body(response).await;
        if status.is_success() {
            return ServiceAnswer::read(&bytes?);
        }
        let is_away = matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS);
        Err(match status {
            status if is_away || status.is_server_error() => {
                NoAnswer::Away(format!("the speech service answers {}", status.as_u16()), wanted)
            }
            // What services say of a wrong key shows parts of it.
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => {
                NoAnswer::Refused(format!("{} it does not accept speech.service_key", status.as_u16()))
            }
            _ => NoAnswer::Refused(self.refusal(status, &bytes.unwrap_or_default())),
        })
    }

    /// Returns the status of a refusal, and what the service says of it.
    fn refusal(&self, status: StatusCode, bytes: &[u8]) -> String {
        let answer: ErrorAnswer = serde_json::from_slice(bytes).unwrap_or_default();
        self.line(format!("{} {}", status.as_u16(), answer.error.message))
    }

    /// On one line, cut, and without the key.
    fn line(&self, text: impl Display) -> String {
        let mut text = text.to_string();
        if !self.key.is_empty() {
            text = text.replace(&self.key, "…");
        }
        let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
        line.chars().filter(|sign| !sign.is_control()).take(REFUSAL_CHARACTERS).collect()
    }
}

/// The causes of an error, without the address, which may hold a password.
fn causes(error: &reqwest::Error) -> String {
    let mut error: &dyn std::error::Error = error;
    let mut causes = String::from("the request failed");
    while let Some(source) = error.source() {
        error = source;
        causes = error.to_string();
    }
    causes
}

async fn body(mut response: Response) -> Result<Vec<u8>, NoAnswer> {
    let mut bytes = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(piece)) if bytes.len() + piece.len() > MAX_ANSWER_BYTES => {
                return Err(NoAnswer::Invalid("the speech service's answer is too long".to_owned()));
            }
            Ok(Some(piece)) => bytes.extend_from_slice(&piece),
            Ok(None) => return Ok(bytes),
            Err(_) => return Err(NoAnswer::Invalid("the speech service's answer is cut".to_owned())),
        }
    }
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ErrorAnswer {
    error: ErrorDetail,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct ErrorDetail {
    message: String,
}

/// What a service says of a piece.
#[derive(Debug, Deserialize)]
struct ServiceAnswer {
    #[serde(default)]
    language: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    segments: Option<Vec<ServiceSegment>>,
}

/// A segment; times are in seconds since the beginning of the piece.
#[derive(Debug, Deserialize)]
struct ServiceSegment {
    start: f64,
    end: f64,
    text: String,
    #[serde(default)]
    avg_logprob: Option<f32>,
    #[serde(default)]
    no_speech_prob: Option<f32>,
}

impl ServiceAnswer {
    fn read(bytes: &[u8]) -> Result<Self, NoAnswer> {
        let invalid = |why: &str| NoAnswer::Invalid(format!("the speech service's answer is invalid: {why}"));
        let answer: Self = serde_json::from_slice(bytes).map_err(|_| invalid("no transcript in JSON"))?;
        if answer.text.is_none() && answer.segments.is_none() {
            return Err(invalid("neither a text nor segments"));
        }
        let segments = answer.segments.as_deref().unwrap_or_default();
        if segments.len() > MAX_SEGMENTS {
            return Err(invalid("too many segments"));
        }
        let texts = segments.iter().map(|segment| &segment.text).chain(&answer.text).map(|text| text.chars().count());
        if texts.max().unwrap_or(0) > MAX_TEXT_LENGTH {
            return Err(invalid("a text is too long"));
        }
        let is_time = |segment: &ServiceSegment| 0.0 <= segment.start && segment.start <= segment.end;
        if !segments.iter().all(is_time) {
            return Err(invalid("a segment's time is none"));
        }
        Ok(answer)
    }
}

/// Returns the segments of an answer with their times in the recording: in order, and within the piece.
fn segments_of(answer: ServiceAnswer, from_ms: u64, to_ms: u64) -> Vec<HeardSegment> {
    let whole =
        |text: String| ServiceSegment { start: 0.0, end: f64::INFINITY, text, avg_logprob: None, no_speech_prob: None };
    let mut segments = answer.segments.unwrap_or_else(|| answer.text.map(whole).into_iter().collect());
    segments.sort_by(|one, other| one.start.total_cmp(&other.start));
    // A float beyond the integers becomes the largest one.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time is not negative")]
    let time = |seconds: f64| from_ms.saturating_add((seconds * 1000.0).round() as u64).min(to_ms);
    let spoken = segments.into_iter().filter(|segment| {
        let is_unlikely = segment.avg_logprob.is_some_and(|mean| mean < UNLIKELY);
        let is_silence = segment.no_speech_prob.is_some_and(|silence| silence > NO_SPEECH);
        let is_invented = is_unlikely && is_silence;
        !is_invented && !segment.text.trim().is_empty()
    });
    let heard = spoken.map(|segment| HeardSegment {
        start_ms: time(segment.start),
        end_ms: time(segment.end),
        text: segment.text.trim().to_owned(),
        confidence: segment.avg_logprob.map_or(UNKNOWN_CONFIDENCE, |mean| mean.exp().clamp(0.0, 1.0)),
    });
    heard.collect()
}

/// The code of a language that a service names in English, as OpenAI's does, or by its code.
fn code_of(name: &str) -> Option<String> {
    const NAMES: [(&str, &str); 30] = [
        ("arabic", "ar"),
        ("bulgarian", "bg"),
        ("chinese", "zh"),
        ("croatian", "hr"),
        ("czech", "cs"),
        ("danish", "da"),
        ("dutch", "nl"),
        ("english", "en"),
        ("finnish", "fi"),
        ("french", "fr"),
        ("german", "de"),
        ("greek", "el"),
        ("hebrew", "he"),
        ("hindi", "hi"),
        ("hungarian", "hu"),
        ("indonesian", "id"),
        ("italian", "it"),
        ("japanese", "ja"),
        ("korean", "ko"),
        ("norwegian", "no"),
        ("polish", "pl"),
        ("portuguese", "pt"),
        ("romanian", "ro"),
        ("russian", "ru"),
        ("slovak", "sk"),
        ("spanish", "es"),
        ("swedish", "sv"),
        ("turkish", "tr"),
        ("ukrainian", "uk"),
        ("vietnamese", "vi"),
    ];
    let name = name.to_lowercase();
    if (2..=3).contains(&name.len()) && name.bytes().all(|letter| letter.is_ascii_lowercase()) {
        return Some(name);
    }
    NAMES.iter().find(|(known, _)| *known == name).map(|(_, code)| (*code).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Result<Vec<HeardSegment>, String> {
        match ServiceAnswer::read(json.as_bytes()) {
            Ok(answer) => Ok(segments_of(answer, 60_000, 70_000)),
            Err(NoAnswer::Invalid(why)) => Err(why),
            Err(other) => panic!("{other:?}"),
        }
    }

    #[test]
    fn times_are_those_of_the_recording_in_order_and_within_the_piece() {
        let answer = r#"{"text": "a b", "language": "english", "segments": [
            {"start": 4.5, "end": 99.0, "text": " b ", "avg_logprob": -0.1},
            {"start": 0.25, "end": 4.5, "text": "a"},
            {"start": 5.0, "end": 6.0, "text": "thank you", "avg_logprob": -1.5, "no_speech_prob": 0.9},
            {"start": 6.0, "end": 7.0, "text": "  "}]}"#;
        let heard = read(answer).unwrap();
        let found: Vec<(u64, u64, &str)> =
            heard.iter().map(|one| (one.start_ms, one.end_ms, one.text.as_str())).collect();
        assert_eq!(found, [(60_250, 64_500, "a"), (64_500, 70_000, "b")]);
        assert!((heard[0].confidence - 0.5).abs() < 1e-6 && (heard[1].confidence - 0.904_837_4).abs() < 1e-5);
    }

    #[test]
    fn a_text_alone_is_one_segment_and_nothing_is_none() {
        let whole = read(r#"{"text": "hello"}"#).unwrap();
        assert_eq!((whole.len(), whole[0].start_ms, whole[0].end_ms), (1, 60_000, 70_000));
        assert_eq!(read(r#"{"text": "", "segments": []}"#).unwrap(), []);
    }

    #[test]
    fn what_is_no_transcript_is_invalid() {
        let long = format!(r#"{{"text": "{}"}}"#, "x".repeat(MAX_TEXT_LENGTH + 1));
        let many =
            format!(r#"{{"segments": [{}]}}"#, vec![r#"{"start":0,"end":1,"text":"x"}"#; MAX_SEGMENTS + 1].join(","));
        for wrong in [
            "",
            "{",
            "[]",
            "{}",
            r#"{"text": 7}"#,
            r#"{"segments": [{"start": -1.0, "end": 1.0, "text": "x"}]}"#,
            r#"{"segments": [{"start": 2.0, "end": 1.0, "text": "x"}]}"#,
            r#"{"segments": [{"start": 1.0, "text": "x"}]}"#,
            &long,
            &many,
        ] {
            assert!(read(wrong).unwrap_err().contains("invalid"), "{}", &wrong[..wrong.len().min(60)]);
        }
    }

    #[test]
    fn languages_are_known_by_name_and_by_code() {
        let codes = ["english", "German", "fr", "deu", "klingon", ""].map(code_of);
        assert_eq!(codes.map(|code| code.unwrap_or_default()), ["en", "de", "fr", "deu", "", ""]);
    }
}
