//! `If-Match`: the version that a change applies to.

use actix_web::HttpRequest;
use actix_web::http::header;

use super::code::Code;
use super::error::ApiError;
use super::input::{Input, Raw};

/// An input together with the version in `If-Match`.
#[derive(Debug)]
pub struct IfMatch<I> {
    pub input: I,
    /// `None`: the change applies to the latest version.
    pub version: Option<i64>,
}

impl<I: Input> Input for IfMatch<I> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let input = I::take(request, body).await?;
        Ok(Self { input, version: expected(request)? })
    }
    const BUFFERED: bool = I::BUFFERED;
    fn describe() -> super::input::Described {
        I::describe()
    }
}

/// The pattern of `If-Match` in the OpenAPI document. Each version has exactly one spelling, so `"007"` is invalid.
pub const PATTERN: &str = "^(\\*|\"(0|[1-9][0-9]{0,17})\")$";

/// Parses `If-Match`. A malformed header is a 400 here; a version that is not the latest is a 412 where the change is
/// decided.
fn expected(request: &HttpRequest) -> Result<Option<i64>, ApiError> {
    let malformed = || {
        ApiError::with_message(Code::BAD_REQUEST, "If-Match must be one ETag of an earlier response, unchanged, or *.")
    };
    let mut headers = request.headers().get_all(header::IF_MATCH);
    let Some(header) = headers.next() else { return Ok(None) };
    let text = header.to_str().map_err(|_| malformed())?.trim();
    if headers.next().is_some() {
        return Err(malformed());
    }
    if text == "*" {
        return Ok(None);
    }
    let digits = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    let is_version = |digits: &&str| {
        (1..=18).contains(&digits.len())
            && digits.bytes().all(|byte| byte.is_ascii_digit())
            && (*digits == "0" || !digits.starts_with('0'))
    };
    let version = digits.filter(is_version).and_then(|digits| digits.parse().ok());
    version.map(Some).ok_or_else(malformed)
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;
    use proptest::prelude::*;

    use super::*;

    fn read(value: &[u8]) -> Result<Option<i64>, ()> {
        let value = HeaderValue::from_bytes(value).unwrap();
        let request = TestRequest::default().insert_header((header::IF_MATCH, value)).to_http_request();
        expected(&request).map_err(|failure| assert_eq!(failure.code, Code::BAD_REQUEST))
    }

    #[test]
    fn a_version_is_a_number_in_quotes() {
        assert_eq!(read(b"\"7\""), Ok(Some(7)));
        assert_eq!(read(b"*"), Ok(None));
        for other in ["7", "W/\"7\"", "\"7\", \"8\"", "\"\"", "\"+7\"", "\"007\"", "\" 7\"", "\"7", "garbage", ""] {
            assert_eq!(read(other.as_bytes()), Err(()), "{other}");
        }
    }

    proptest! {
        /// The pattern in the OpenAPI document and the parser accept the same headers.
        #[test]
        fn a_header_is_taken_where_the_documents_pattern_takes_it(
            value in prop_oneof![
                proptest::collection::vec(prop_oneof![Just(b'\t'), 32_u8..=126, 128_u8..=255], 0..60),
                "\"?[0-9+*]{0,20}\"?".prop_map(String::into_bytes),
            ]
        ) {
            let text = String::from_utf8_lossy(&value).into_owned();
            let pattern = regex::Regex::new(PATTERN).unwrap();
            let read = read(&value);
            prop_assert_eq!(read.is_ok(), pattern.is_match(text.trim_matches([' ', '\t'])), "{}", text);
            if let Ok(Some(version)) = read {
                prop_assert_eq!(text.trim(), format!("\"{version}\""));
            }
        }
    }
}
