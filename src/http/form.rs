//! Reads multipart forms: a file is streamed to disk, the other parts are small and read into memory.

use std::pin::Pin;

use actix_multipart::{Field as Part, Multipart, MultipartError};
use actix_web::error::PayloadError;
use actix_web::{HttpMessage, HttpRequest};
use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};

use super::code::Code;
use super::error::{ApiError, FieldError, MAX_FAULTS};
use super::input::Raw;
use super::pace::is_too_slow;
use super::reason::Reason;
use crate::clients::files::{Files, Incoming, Received};

/// The largest size of a part that is not the file, in bytes.
const SMALL_BYTES: usize = 64 * 1024;

/// The permission to store a file. It is asked before each piece of the file is written.
pub trait StoragePermit {
    /// Makes it cover a file of so many bytes, which are about to be written as far as they are not yet.
    ///
    /// # Errors
    /// 507 if there is no room for them.
    fn cover(&mut self, size: u64) -> impl Future<Output = Result<(), ApiError>>;

    /// Gives back what the file, which is complete now, did not need.
    fn shrink_to(&mut self, size: u64);
}

/// Opens the request's body as a multipart form.
///
/// # Errors
/// 400 if the content type is not `multipart/form-data`.
pub fn parts(request: &HttpRequest, body: Raw) -> Result<Multipart, ApiError> {
    if !request.content_type().eq_ignore_ascii_case("multipart/form-data") {
        return Err(ApiError::with_message(Code::BAD_REQUEST, "Send the file as multipart/form-data."));
    }
    let body: Pin<Box<dyn Stream<Item = Result<Bytes, PayloadError>>>> = match body {
        Raw::Stream(payload, _) => Box::pin(payload),
        Raw::Bytes(bytes) => Box::pin(stream::iter([Ok(bytes)])),
    };
    Ok(Multipart::new(request.headers(), body))
}

/// Receives a part of at most `limit` bytes into a file.
///
/// # Errors
/// 413 past the limit; 400 if the client aborts; 408 if it sends too slowly; 503 if the file can't be written; 507 if there
/// is no room for it.
pub async fn file(
    mut part: Part,
    mut incoming: Incoming,
    limit: usize,
    permit: &mut impl StoragePermit,
) -> Result<Received, ApiError> {
    while let Some(bytes) = part.next().await {
        let bytes = bytes.map_err(unreadable)?;
        let size = incoming.size() + bytes.len() as u64;
        if size > limit as u64 {
            return Err(ApiError::with_message(
                Code::PAYLOAD_TOO_LARGE,
                format!("The file may have at most {limit} bytes."),
            ));
        }
        permit.cover(size).await?;
        incoming.write(&bytes).await.map_err(|error| ApiError::of_write(&error))?;
    }
    permit.shrink_to(incoming.size());
    incoming.end().await.map_err(|error| ApiError::of_write(&error))
}

/// The file of a form that has nothing else.
pub struct OnlyFile {
    pub file: Received,
    /// As the client gives it.
    pub name: Option<String>,
}

/// Receives a form with one part `file` of at most `limit` bytes.
///
/// # Errors
/// 422 for other parts, repeated ones or none; otherwise as [`parts`] and [`file`].
pub async fn only_file(
    request: &HttpRequest,
    body: Raw,
    files: &Files,
    limit: usize,
    permit: &mut impl StoragePermit,
) -> Result<OnlyFile, ApiError> {
    let mut parts = parts(request, body)?;
    let (mut found, mut faults) = (None, Vec::new());
    while let Some(part) = parts.next().await {
        let part = part.map_err(unreadable)?;
        match part.name().unwrap_or_default().to_owned() {
            name if name == "file" && found.is_none() => {
                let name = name_of(&part);
                let incoming = files.receive().await.map_err(|error| ApiError::of_write(&error))?;
                found = Some(OnlyFile { file: file(part, incoming, limit, permit).await?, name });
            }
            name => {
                let known = name == "file";
                faults.push(if known {
                    FieldError::value(Reason::Repeated, Some(name), Reason::Repeated.sentence())
                } else {
                    FieldError::value(Reason::UnknownKey, Some(name), "This part of the form is unknown.")
                });
                small(part).await?;
            }
        }
        // Further errors would not be reported.
        if faults.len() >= MAX_FAULTS {
            return Err(ApiError::invalid(faults));
        }
    }
    match found {
        Some(found) if faults.is_empty() => Ok(found),
        Some(_) => Err(ApiError::invalid(faults)),
        None => {
            faults.push(FieldError::value(Reason::Required, Some("file".to_owned()), Reason::Required.sentence()));
            Err(ApiError::invalid(faults))
        }
    }
}

/// The name that the client gives the file of a part.
#[must_use]
pub fn name_of(part: &Part) -> Option<String> {
    let given = part.content_disposition()?;
    let extended = given.get_filename_ext().and_then(|name| String::from_utf8(name.value.clone()).ok());
    extended.or_else(|| given.get_filename().map(str::to_owned))
}

/// Reads a part other than the file into memory.
///
/// # Errors
/// 413 past `SMALL_BYTES`; 400 if the client aborts; 408 if it sends too slowly.
pub async fn small(mut part: Part) -> Result<Vec<u8>, ApiError> {
    let mut whole = Vec::new();
    while let Some(bytes) = part.next().await {
        whole.extend_from_slice(&bytes.map_err(unreadable)?);
        if whole.len() > SMALL_BYTES {
            let message = format!("A part other than the file may have at most {SMALL_BYTES} bytes.");
            return Err(ApiError::with_message(Code::PAYLOAD_TOO_LARGE, message));
        }
    }
    Ok(whole)
}

/// Maps a multipart error: 408 if the client sends too slowly, 400 if the form is malformed or the client aborts.
#[must_use]
pub fn unreadable(error: MultipartError) -> ApiError {
    let cause = Some(error.to_string().into());
    if matches!(&error, MultipartError::Payload(error) if is_too_slow(error)) {
        return ApiError { cause, ..ApiError::of(Code::REQUEST_TIMEOUT) };
    }
    ApiError { cause, ..ApiError::with_message(Code::BAD_REQUEST, "The body is not a complete multipart form.") }
}
