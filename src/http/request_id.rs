//! X-Request-Id: what ties an answer, its log lines, its events and its jobs together.

use std::sync::Arc;

use actix_web::http::header::HeaderName;
use actix_web::{HttpMessage, HttpRequest};
use actors::ids::Id;
use actors::live::RequestId;

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The client's, if it has 1–128 visible ASCII characters; else a new one.
#[must_use]
pub fn accept(request: &HttpRequest) -> RequestId {
    let given = request.headers().get(X_REQUEST_ID).and_then(|value| value.to_str().ok());
    match given.filter(|id| (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())) {
        Some(id) => id.into(),
        None => Id::<()>::draw().to_string().into(),
    }
}

#[derive(Clone)]
struct Noted(RequestId);

pub fn note(request: &HttpRequest, id: RequestId) {
    request.extensions_mut().insert(Noted(id));
}

/// The id that the request goes by.
#[must_use]
pub fn of(request: &HttpRequest) -> RequestId {
    request.extensions().get::<Noted>().map_or_else(|| Arc::from("-"), |noted| Arc::clone(&noted.0))
}
