//! The inputs of uploads: a chunk and a whole file, whose bytes their handlers receive once they know whose they are.

use actix_web::HttpRequest;
use actors::meeting::{ChunkSpan, MAX_CHUNKS};
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::container::DECISIVE_BYTES;
use crate::clients::files::Received;
use crate::http::body_stream::BodyStream;
use crate::http::code::Code;
use crate::http::digest::{self, expected_sha256, mismatch};
use crate::http::error::ApiError;
use crate::http::form::StoragePermit;
use crate::http::input::{Described, Input, Raw, header_parameter};
use crate::http::range::{SentRange, sent_range};
use crate::http::reason::Reason;
use crate::http::route_table::path_parameter;
use crate::meetings::refusals::{ENDED_HEADER, STARTED_HEADER};
use crate::meetings::state::Meetings;
use crate::quotas::permit::QuotaPermit;

/// The upload of a chunk, which its handler receives.
pub struct ChunkUpload {
    pub index: u32,
    pub span: Option<ChunkSpan>,
    body: BodyStream,
    /// What the content must have as its hash.
    expected: Option<String>,
}

/// A received chunk.
pub struct ReceivedChunk {
    pub file: Received,
    /// The first bytes, by which the container is recognized.
    pub first: Vec<u8>,
}

impl ChunkUpload {
    /// Returns the size that the client announced.
    pub const fn announced(&self) -> Option<u64> {
        self.body.length
    }

    /// Receives the bytes into a file, which the permit covers.
    ///
    /// # Errors
    /// 413 past the size of a chunk; 422 if the content has another hash than the request says; 400 if the client
    /// disconnects; 503 if the file can't be written; 507 if there is no room for it.
    pub async fn receive(mut self, state: &Meetings, permit: &mut QuotaPermit) -> Result<ReceivedChunk, ApiError> {
        let most = state.config.recordings.chunk_bytes;
        let too_large =
            || ApiError::with_message(Code::PAYLOAD_TOO_LARGE, format!("A chunk may have at most {most} bytes."));
        if self.announced().is_some_and(|length| length > most) {
            return Err(too_large());
        }
        let mut incoming = state.recordings.receive().await.map_err(|error| ApiError::of_write(&error))?;
        let mut first = Vec::new();
        while let Some(piece) = self.body.next().await? {
            let size = incoming.size() + piece.len() as u64;
            if size > most {
                return Err(too_large());
            }
            permit.cover(size).await?;
            first.extend(piece.iter().take(DECISIVE_BYTES.saturating_sub(first.len())));
            incoming.write(&piece).await.map_err(|error| ApiError::of_write(&error))?;
        }
        permit.shrink_to(incoming.size());
        let file = incoming.end().await.map_err(|error| ApiError::of_write(&error))?;
        if self.expected.is_some_and(|expected| expected != file.sha256) {
            return Err(mismatch());
        }
        Ok(ReceivedChunk { file, first })
    }
}

impl Input for ChunkUpload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let (index, span, expected) = (index(request)?, span(request)?, expected_sha256(request)?);
        Ok(Self { index, span, expected, body: BodyStream::of(request, body) })
    }

    fn describe() -> Described {
        let millis = || ObjectBuilder::new().schema_type(Type::Integer).minimum(Some(0));
        let started = "When the chunk begins, in milliseconds since `startedAt`. Required where everyone must consent.";
        let ended = "When the chunk ends, in milliseconds since `startedAt`.";
        Described {
            parameters: vec![
                header_parameter(STARTED_HEADER, started, millis()),
                header_parameter(ENDED_HEADER, ended, millis()),
                digest_parameter(),
            ],
            ..raw_bytes()
        }
    }
}

/// The index in the path.
fn index(request: &HttpRequest) -> Result<u32, ApiError> {
    let text = path_parameter(request, "chunkIndex");
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number {
        return Err(ApiError::with_message(Code::BAD_REQUEST, "The chunkIndex in the path is not a number."));
    }
    text.parse().ok().filter(|index| *index < MAX_CHUNKS).ok_or_else(|| {
        let sentence = format!("This must be at most {}.", MAX_CHUNKS - 1);
        ApiError::field("chunkIndex", Reason::InvalidValue, sentence)
    })
}

/// When the chunk was recorded: both headers, or none.
fn span(request: &HttpRequest) -> Result<Option<ChunkSpan>, ApiError> {
    let millis = |name: &'static str| {
        let Some(value) = request.headers().get(name) else { return Ok(None) };
        let text = value.to_str().unwrap_or_default();
        let number = text.parse().ok().filter(|_| text.len() <= 12);
        let wrong = || ApiError::field(name, Reason::InvalidValue, "This must be a number of milliseconds.");
        number.map(Some).ok_or_else(wrong)
    };
    match (millis(STARTED_HEADER)?, millis(ENDED_HEADER)?) {
        (Some(from_ms), Some(to_ms)) => Ok(Some(ChunkSpan { from_ms, to_ms })),
        (None, None) => Ok(None),
        (Some(_), None) => Err(ApiError::field(ENDED_HEADER, Reason::Required, Reason::Required.sentence())),
        (None, Some(_)) => Err(ApiError::field(STARTED_HEADER, Reason::Required, Reason::Required.sentence())),
    }
}

/// The upload of a whole file, or of the rest of one.
pub struct FileUpload {
    pub body: BodyStream,
    /// What the content must have as its hash.
    pub expected: Option<String>,
    pub range: Option<SentRange>,
}

impl Input for FileUpload {
    const BUFFERED: bool = false;

    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let (expected, range) = (expected_sha256(request)?, sent_range(request)?);
        Ok(Self { body: BodyStream::of(request, body), expected, range })
    }

    fn describe() -> Described {
        let range = "Resumes an upload: `bytes START-END/TOTAL`, with START the recording's `sizeBytes`.";
        let text = ObjectBuilder::new().schema_type(Type::String).pattern(Some("^bytes [0-9]+-[0-9]+/([0-9]+|\\*)$"));
        Described {
            parameters: vec![header_parameter("Content-Range", range, text), digest_parameter()],
            ..raw_bytes()
        }
    }
}

/// Any bytes, or none: the last chunk may be empty.
fn raw_bytes() -> Described {
    let bytes = ObjectBuilder::new()
        .schema_type(Type::String)
        .format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
        .description(Some("The bytes themselves, without a form around them."))
        .build();
    Described {
        content_type: "application/octet-stream",
        schema: Some(("RecordingBytes".to_owned(), bytes.into())),
        optional: true,
        ..Described::default()
    }
}

fn digest_parameter() -> Parameter {
    let text = ObjectBuilder::new()
        .schema_type(Type::String)
        .examples(["sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:"]);
    header_parameter(digest::HEADER, "The SHA-256 of the content (RFC 9530); other content is refused.", text)
}
