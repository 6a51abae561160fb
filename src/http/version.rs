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
    let version = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).and_then(|text| text.parse().ok());
    version.map(Some).ok_or_else(|| Failure::of(Code::PRECONDITION_FAILED))
}
