//! Forms in parts: a file goes to the disk piece by piece, whatever stands beside it is small.

use std::pin::Pin;

use actix_multipart::{Field as Part, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::{HttpMessage, HttpRequest};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};

use super::code::Code;
use super::failure::Failure;
use super::input::Raw;
use super::pace::is_too_slow;
use crate::outside::files::{Files, Received};

/// What a part beside the file may have.
const SMALL_BYTES: usize = 64 * 1024;

/// The parts of a request's body.
///
/// # Errors
/// 400: it is of another content type.
pub fn parts(request: &HttpRequest, body: Raw) -> Result<Multipart, Failure> {
    if !request.content_type().eq_ignore_ascii_case("multipart/form-data") {
        return Err(Failure::saying(Code::BAD_REQUEST, "Send the file as multipart/form-data."));
    }
    let body: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = match body {
        Raw::Stream(payload, _) => Box::pin(payload),
        Raw::Bytes(bytes) => Box::pin(stream::iter([Ok(bytes)])),
    };
    Ok(Multipart::new(request.headers(), body))
}

/// Receives a part as a file, of `limit` bytes at most.
///
/// # Errors
/// 413 past the limit, 400 where the client breaks off, 503 where the disk takes no more.
pub async fn file(mut part: Part, files: &Files, limit: usize) -> Result<Received, Failure> {
    let mut incoming = files.receive().await.map_err(Failure::unavailable)?;
    while let Some(bytes) = part.next().await {
        let bytes = bytes.map_err(unreadable)?;
        if incoming.size() + bytes.len() as u64 > limit as u64 {
            return Err(Failure::saying(Code::PAYLOAD_TOO_LARGE, format!("The file may have {limit} bytes.")));
        }
        incoming.write(&bytes).await.map_err(Failure::unavailable)?;
    }
    incoming.end().await.map_err(Failure::unavailable)
}

/// Reads a part beside the file.
///
/// # Errors
/// 413 for one that is not small, 400 where the client breaks off.
pub async fn small(mut part: Part) -> Result<Vec<u8>, Failure> {
    let mut whole = Vec::new();
    while let Some(bytes) = part.next().await {
        whole.extend_from_slice(&bytes.map_err(unreadable)?);
        if whole.len() > SMALL_BYTES {
            let message = format!("A part beside the file has at most {SMALL_BYTES} bytes.");
            return Err(Failure::saying(Code::PAYLOAD_TOO_LARGE, message));
        }
    }
    Ok(whole)
}

/// The form is broken, or the client broke off or is too slow.
#[must_use]
pub fn unreadable(error: MultipartError) -> Failure {
    let cause = Some(error.to_string().into());
    if matches!(&error, MultipartError::Payload(error) if is_too_slow(error)) {
        return Failure { cause, ..Failure::of(Code::REQUEST_TIMEOUT) };
    }
    Failure { cause, ..Failure::saying(Code::BAD_REQUEST, "The body is no complete multipart form.") }
}
