//! Ranges: the part of a file that a client asks for (`Range`), and the part that it sends (`Content-Range`).

use std::ops::Range;

use actix_web::http::StatusCode;
use actix_web::http::header::{self, ACCEPT_RANGES, CONTENT_RANGE, HeaderValue};
use actix_web::{HttpRequest, HttpResponse, ResponseError};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::code::Code;
use super::error::ApiError;
use super::input::{Described, Input, Raw, header_parameter};

/// The headers by which a client asks for a part of a file.
#[derive(Debug, Clone, Default)]
pub struct RangeRequest {
    range: Option<header::Range>,
    /// The ETag of the file that the client has a part of.
    if_range: Option<String>,
}

impl Input for RangeRequest {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        let text = |name| request.headers().get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        // A range that can't be read is ignored, as RFC 9110 has it.
        let range = text(header::RANGE).and_then(|value| value.parse().ok());
        Ok(Self { range, if_range: text(header::IF_RANGE).map(str::to_owned) })
    }

    fn describe() -> Described {
        let range = "One range of bytes, such as `bytes=0-999` or `bytes=-500`; several are answered with the whole.";
        let if_range = "The ETag of the file that the client has a part of: another file is sent whole.";
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let parameters = vec![header_parameter("Range", range, text()), header_parameter("If-Range", if_range, text())];
        Described { parameters, ..Described::default() }
    }
}

/// The part of a file that is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedRange {
    Whole,
    Part(Range<u64>),
    /// The range has no byte of the file in it.
    Nothing,
}

impl RangeRequest {
    /// Returns which part of a file with this size and ETag is sent. Several ranges at once are answered with the whole.
    #[must_use]
    pub fn of(&self, size: u64, etag: &str) -> ServedRange {
        let Some(header::Range::Bytes(ranges)) = &self.range else { return ServedRange::Whole };
        let [range] = ranges.as_slice() else { return ServedRange::Whole };
        if self.if_range.as_deref().is_some_and(|known| known != etag) {
            return ServedRange::Whole;
        }
        match range.to_satisfiable_range(size) {
            Some((first, last)) => ServedRange::Part(first..last + 1),
            None => ServedRange::Nothing,
        }
    }
}

/// 416 with the size of the file.
#[must_use]
pub fn not_satisfiable(size: u64) -> HttpResponse {
    let mut response = ApiError::of(Code::RANGE_NOT_SATISFIABLE).error_response();
    if let Ok(value) = HeaderValue::try_from(format!("bytes */{size}")) {
        response.headers_mut().insert(CONTENT_RANGE, value);
    }
    response.headers_mut().insert(ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    response
}

/// The value of `Content-Range` for a part, and the status of a response that has it.
#[must_use]
pub fn partial(range: &Range<u64>, size: u64) -> (StatusCode, String) {
    (StatusCode::PARTIAL_CONTENT, format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1)))
}

/// The part of a file that a request has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SentRange {
    pub start: u64,
    /// The size of the whole file, if it is known.
    pub total: Option<u64>,
}

/// Reads `Content-Range`; `None` if it is absent.
///
/// # Errors
/// 400 for a malformed header.
pub fn sent_range(request: &HttpRequest) -> Result<Option<SentRange>, ApiError> {
    let malformed = || {
        ApiError::with_message(
            Code::BAD_REQUEST,
            "Content-Range must be like bytes 1000-1999/2000 or bytes 1000-1999/*.",
        )
    };
    let Some(value) = request.headers().get(CONTENT_RANGE) else { return Ok(None) };
    let text = value.to_str().map_err(|_| malformed())?.trim();
    let (range, total) = text.strip_prefix("bytes ").and_then(|rest| rest.split_once('/')).ok_or_else(malformed)?;
    let (start, end) = range.split_once('-').ok_or_else(malformed)?;
    let number = |text: &str| text.parse::<u64>().map_err(|_| malformed());
    let (start, end) = (number(start)?, number(end)?);
    let total = if total == "*" { None } else { Some(number(total)?) };
    if start > end || total.is_some_and(|total| end >= total) {
        return Err(malformed());
    }
    Ok(Some(SentRange { start, total }))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::{CONTENT_RANGE, RANGE};
    use actix_web::test::TestRequest;

    use super::*;

    async fn served(range: &str, size: u64) -> ServedRange {
        let request = TestRequest::default().insert_header((RANGE, range)).to_http_request();
        RangeRequest::take(&request, Raw::Bytes(bytes::Bytes::new())).await.unwrap().of(size, "\"e\"")
    }

    #[actix_web::test]
    async fn one_range_is_served_and_no_more_than_there_is() {
        assert_eq!(served("bytes=0-4", 10).await, ServedRange::Part(0..5));
        assert_eq!(served("bytes=5-", 10).await, ServedRange::Part(5..10));
        assert_eq!(served("bytes=-3", 10).await, ServedRange::Part(7..10));
        assert_eq!(served("bytes=8-100", 10).await, ServedRange::Part(8..10));
        assert_eq!(served("bytes=10-", 10).await, ServedRange::Nothing);
        assert_eq!(served("bytes=0-1,3-4", 10).await, ServedRange::Whole);
        assert_eq!(served("lines=0-1", 10).await, ServedRange::Whole);
        assert_eq!(served("bytes=x", 10).await, ServedRange::Whole);
    }

    #[test]
    fn a_sent_range_says_where_it_begins() {
        let read = |value: &str| {
            let request = TestRequest::default().insert_header((CONTENT_RANGE, value)).to_http_request();
            sent_range(&request).map_err(drop)
        };
        assert_eq!(read("bytes 10-19/20"), Ok(Some(SentRange { start: 10, total: Some(20) })));
        assert_eq!(read("bytes 10-19/*"), Ok(Some(SentRange { start: 10, total: None })));
        for wrong in ["", "bytes", "10-19/20", "bytes 19-10/20", "bytes 10-20/20", "bytes -1/2", "bytes */20"] {
            assert_eq!(read(wrong), Err(()), "{wrong}");
        }
    }
}
