//! `If-Match`: which version a change is meant for.

use actix_web::HttpRequest;
use actix_web::http::header;

use super::code::Code;
use super::failure::Failure;
use super::input::{Input, Raw};

/// An input together with the version that its sender saw.
#[derive(Debug)]
pub struct Matching<I> {
    pub input: I,
    /// `None`: the change applies to the newest version.
    pub version: Option<i64>,
}

impl<I: Input> Input for Matching<I> {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, Failure> {
        let input = I::take(request, body).await?;
        Ok(Self { input, version: expected(request)? })
    }
    const BUFFERED: bool = I::BUFFERED;
    fn describe() -> super::input::Described {
        I::describe()
    }
}

/// An `If-Match` that names no version of ours can't match: 412, as for a stale one.
fn expected(request: &HttpRequest) -> Result<Option<i64>, Failure> {
    let Some(header) = request.headers().get(header::IF_MATCH) else { return Ok(None) };
    let text = header.to_str().unwrap_or_default().trim();
    if text == "*" {
        return Ok(None);
    }
    let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    // A version is written in one way: "007" and "+7" are none.
    let version = quoted.and_then(|text| text.parse::<i64>().ok().filter(|version| version.to_string() == text));
    version.map(Some).ok_or_else(|| Failure::of(Code::PRECONDITION_FAILED))
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
        expected(&request).map_err(|failure| assert_eq!(failure.code, Code::PRECONDITION_FAILED))
    }

    #[test]
    fn a_version_is_a_number_in_quotes() {
        assert_eq!(read(b"\"7\""), Ok(Some(7)));
        assert_eq!(read(b"*"), Ok(None));
        for other in ["7", "W/\"7\"", "\"7\", \"8\"", "\"\"", "\"+7\"", "\" 7\"", "\"7", ""] {
            assert_eq!(read(other.as_bytes()), Err(()), "{other}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_a_version_or_a_412(value in proptest::collection::vec(prop_oneof![Just(b'\t'), 32_u8..=126, 128_u8..=255], 0..60)) {
            if let Ok(Some(version)) = read(&value) {
                let text = String::from_utf8_lossy(&value).into_owned();
                prop_assert_eq!(text.trim(), format!("\"{version}\""));
            }
        }
    }
}
