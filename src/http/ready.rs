//! Serialized responses: the JSON envelope, and a response that is ready to be sent.

use std::io;

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use actix_web::http::header::{CONTENT_TYPE, ETAG, HeaderName};
use bytes::Bytes;
use serde::Serialize;

pub const JSON: &str = "application/json";

/// What most responses need at most.
const USUAL_BYTES: usize = 1024;
/// From this size on it is worth while to return the unused part of a buffer.
const LARGE_BYTES: usize = 64 * 1024;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonEnvelope<'a, T: Serialize, E: Serialize> {
    is_success: bool,
    data: Option<&'a T>,
    message: &'a str,
    status_code: u16,
    errors: &'a [E],
}

/// Serializes a success into the envelope.
///
/// # Errors
/// The data can't be serialized.
pub fn success_bytes<T: Serialize>(status: u16, message: &str, data: &T) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(USUAL_BYTES);
    write_success(&mut bytes, status, message, data)?;
    // What is counted of a response is its length, and a buffer that grew has up to twice as much room.
    if bytes.capacity() > LARGE_BYTES {
        bytes.shrink_to_fit();
    }
    Ok(bytes)
}

/// Writes a success in the envelope.
///
/// # Errors
/// The data can't be serialized, or not be written.
pub fn write_success<T: Serialize>(
    into: &mut impl io::Write,
    status: u16,
    message: &str,
    data: &T,
) -> serde_json::Result<()> {
    let errors: &[()] = &[];
    serde_json::to_writer(
        into,
        &JsonEnvelope { is_success: true, data: Some(data), message, status_code: status, errors },
    )
}

/// Serializes an error into the envelope.
#[must_use]
pub fn failure_bytes(status: u16, message: &str, errors: &[impl Serialize]) -> Vec<u8> {
    let envelope = JsonEnvelope { is_success: false, data: None::<&()>, message, status_code: status, errors };
    serde_json::to_vec(&envelope).unwrap_or_default()
}

/// A serialized response. Unlike [`HttpResponse`] it can be sent to another thread and stored.
#[derive(Debug, Clone)]
pub struct PreparedAnswer {
    pub status: StatusCode,
    pub headers: Vec<(HeaderName, String)>,
    pub body: Bytes,
}

impl PreparedAnswer {
    #[must_use]
    pub fn json(status: StatusCode, body: impl Into<Bytes>) -> Self {
        Self { status, headers: vec![(CONTENT_TYPE, JSON.to_owned())], body: body.into() }
    }

    #[must_use]
    pub fn with(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    #[must_use]
    pub fn etag(&self) -> Option<&str> {
        self.headers.iter().find(|(name, _)| name == ETAG).map(|(_, value)| value.as_str())
    }

    #[must_use]
    pub fn response(self) -> HttpResponse {
        let mut response = HttpResponse::build(self.status);
        for header in self.headers {
            response.insert_header(header);
        }
        response.body(self.body)
    }
}
