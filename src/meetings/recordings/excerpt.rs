//! Excerpts: what is heard in a recording between two times, as a file of its own that any browser plays.

use actix_web::HttpRequest;
use actors::ids::{self, Id};
use actors::meeting::RecordingContent;
use bytes::Bytes;
use serde_json::Value;
use speech::{MAX_PIECE_MS, Untranscribed};
use utoipa::PartialSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use super::files;
use crate::access::playback;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::fields::{Field, Fields, InvalidValue};
use crate::http::input::{Described, Input, Query, Raw, ValidQuery, query_parameter};
use crate::http::range::RangeRequest;
use crate::meetings::state::Meetings;

/// A time in a recording: milliseconds since its beginning. No recording is longer than a week.
struct TimeInRecording(u64);

impl TimeInRecording {
    const MAX_MS: u64 = 7 * 24 * 60 * 60 * 1000;
}

impl Field for TimeInRecording {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let ms = value.as_str().and_then(|text| text.parse().ok()).filter(|ms| *ms <= Self::MAX_MS);
        ms.map(Self).ok_or_else(|| InvalidValue::value("This must be a number of milliseconds."))
    }
}

impl PartialSchema for TimeInRecording {
    fn schema() -> RefOr<Schema> {
        #[expect(clippy::cast_precision_loss, reason = "a schema has floats, and this is below 2^53")]
        let most = Self::MAX_MS as f64;
        ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0)).maximum(Some(most)).into()
    }
}

/// The times between which an excerpt is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Excerpt {
    pub start_ms: u64,
    pub end_ms: u64,
}

/// The query of a download: an excerpt, or the whole.
#[derive(Query)]
#[query(check = Self::check)]
struct ExcerptQuery {
    /// Return only what is heard from this time on, as WAV (16 kHz, mono): milliseconds since the beginning.
    #[query(as = TimeInRecording)]
    start_ms: Option<u64>,
    /// The end of the excerpt, at most five minutes after its beginning.
    #[query(as = TimeInRecording)]
    end_ms: Option<u64>,
}

impl ExcerptQuery {
    fn check(&self, fields: &mut Fields) {
        let is_whole = self.start_ms.is_none() && self.end_ms.is_none();
        if !is_whole && self.excerpt().is_none() {
            fields.reject("An excerpt needs startMs and a later endMs, at most five minutes apart.");
        }
    }

    fn excerpt(&self) -> Option<Excerpt> {
        let (start_ms, end_ms) = self.start_ms.zip(self.end_ms)?;
        let is_possible = start_ms < end_ms && end_ms - start_ms <= MAX_PIECE_MS;
        is_possible.then_some(Excerpt { start_ms, end_ms })
    }
}

/// What a client wants of a recording's content.
pub struct ContentRequest {
    pub range: RangeRequest,
    pub excerpt: Option<Excerpt>,
}

impl Input for ContentRequest {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let ValidQuery(query) = ValidQuery::<ExcerptQuery>::take(request, Raw::Bytes(Bytes::new())).await?;
        Ok(Self { range: RangeRequest::take(request, body).await?, excerpt: query.excerpt() })
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
