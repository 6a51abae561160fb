//! Excerpts: what is heard in a recording between two times, as a file of its own that any browser plays.

use actix_web::HttpRequest;
use actors::ids::{self, Id};
use actors::meeting::RecordingContent;
use bytes::Bytes;
use serde_json::Value;
use speech::{LONGEST_MS, Untranscribed};
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::files;
use crate::access::playback;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::fields::{Field, Fields, InvalidValue, Rejected};
use crate::http::input::{Described, Input, Query, Raw, ValidQuery, query_parameter};
use crate::http::range::RangeRequest;
use crate::meetings::state::Meetings;

/// A time in a recording: milliseconds since its beginning. No recording is longer than a week.
struct TimeInRecording(u64);

impl TimeInRecording {
    const MOST: u64 = 7 * 24 * 60 * 60 * 1000;
}

impl Field for TimeInRecording {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let ms = value.as_str().and_then(|text| text.parse().ok()).filter(|ms| *ms <= Self::MOST);
        ms.map(Self).ok_or_else(|| InvalidValue::value("This must be a number of milliseconds."))
    }
}

/// The times between which an excerpt is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt {
    pub start_ms: u64,
    pub end_ms: u64,
}

/// The query of a download: an excerpt, or the whole.
struct ExcerptQuery(Option<Excerpt>);

impl Query for ExcerptQuery {
    fn has(key: &str) -> bool {
        matches!(key, "startMs" | "endMs")
    }

    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let start = fields.optional::<TimeInRecording>("startMs");
        let end = fields.optional::<TimeInRecording>("endMs");
        match (start?, end?) {
            (None, None) => Ok(Self(None)),
            (Some(TimeInRecording(start_ms)), Some(TimeInRecording(end_ms)))
                if start_ms < end_ms && end_ms - start_ms <= LONGEST_MS =>
            {
                Ok(Self(Some(Excerpt { start_ms, end_ms })))
            }
            _ => Err(fields.reject("An excerpt needs startMs and a later endMs, at most five minutes apart.")),
        }
    }

    fn parameters() -> Vec<Parameter> {
        #[expect(clippy::cast_precision_loss, reason = "a schema has floats, and this is below 2^53")]
        let time = || {
            ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(TimeInRecording::MOST as f64))
        };
        let start =
            "Return only what is heard from this time on, as WAV (16 kHz, mono): milliseconds since the beginning.";
        let end = "The end of the excerpt, at most five minutes after its beginning.";
        vec![query_parameter("startMs", start, time()), query_parameter("endMs", end, time())]
    }
}

/// What a client wants of a recording's content.
pub struct ContentRequest {
    pub range: RangeRequest,
    pub excerpt: Option<Excerpt>,
}

impl Input for ContentRequest {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let ValidQuery(ExcerptQuery(excerpt)) = ValidQuery::take(request, Raw::Bytes(Bytes::new())).await?;
        Ok(Self { range: RangeRequest::take(request, body).await?, excerpt })
    }

    fn describe() -> Described {
        let mut described = RangeRequest::describe();
        described.parameters.extend(ExcerptQuery::parameters());
        // Read with the credentials, before the input.
        let signature = "The signature of a playback link, instead of the header Authorization.";
        let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some(playback::PATTERN));
        described.parameters.push(query_parameter(playback::PARAMETER, signature, text));
        described
    }
}

/// Returns what is heard between two times, as a WAV file.
///
/// # Errors
/// 416 for times past the end; 409 if the content has no sound that can be read; 500 if it is damaged.
pub async fn cut(
    state: &Meetings,
    id: Id<ids::Recording>,
    content: RecordingContent,
    excerpt: Excerpt,
) -> Result<Vec<u8>, ApiError> {
    let path = files::content(id, content.sha256);
    let opened = state.recordings.file(&path, &content.sha256.to_string()).await;
    let (file, copy) = opened.map_err(|error| ApiError::of_stored_file(&error))?;
    let cut = state.excerpts.excerpt(file, excerpt.start_ms, excerpt.end_ms).await;
    drop(copy);
    match cut {
        Ok(wav) if wav.is_empty() => Err(ApiError::of(Code::RANGE_NOT_SATISFIABLE)),
        Ok(wav) => Ok(wav),
        Err(Untranscribed::Unreadable(_)) => {
            Err(ApiError::with_message(Code::INVALID_STATE, "The sound of the recording can't be read."))
        }
        Err(failed) => Err(ApiError::unavailable(failed)),
    }
}
