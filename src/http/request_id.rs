//! `X-Request-Id`, which connects a response with its log lines, events and jobs.

use std::sync::Arc;

use actix_web::http::header::HeaderName;
use actix_web::{HttpMessage, HttpRequest};
use actors::ids::Id;
use actors::live::RequestId;
use uuid::Uuid;

pub const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Returns the client's id if it has 1–128 visible ASCII characters, otherwise a new one.
#[must_use]
pub fn accept(request: &HttpRequest) -> RequestId {
    let given = request.headers().get(X_REQUEST_ID).and_then(|value| value.to_str().ok());
    match given.filter(|id| (1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic())) {
        Some(id) => id.into(),
        None => (&*Id::<()>::generate().uuid().hyphenated().encode_lower(&mut Uuid::encode_buffer())).into(),
    }
}

#[derive(Clone)]
struct Noted(RequestId);

pub fn note(request: &HttpRequest, id: RequestId) {
    request.extensions_mut().insert(Noted(id));
}

/// Returns the request's id, or `-` if none was assigned.
#[must_use]
pub fn of(request: &HttpRequest) -> RequestId {
    request.extensions().get::<Noted>().map_or_else(|| Arc::from("-"), |noted| Arc::clone(&noted.0))
}

#[cfg(test)]
mod tests {
    use actix_web::http::header::HeaderValue;
    use actix_web::test::TestRequest;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever a client sends, the id in headers, logs and rows is short and printable.
        #[test]
        fn an_id_is_the_clients_or_a_new_one(
            value in proptest::collection::vec(prop_oneof![Just(b'\t'), 32_u8..=126, 128_u8..=255], 0..300)
        ) {
            let header = HeaderValue::from_bytes(&value).unwrap();
            let request = TestRequest::default().insert_header((X_REQUEST_ID, header)).to_http_request();
            let id = accept(&request);
            prop_assert!((1..=128).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic()));
            let is_fit = (1..=128).contains(&value.len()) && value.iter().all(u8::is_ascii_graphic);
            prop_assert_eq!(id.as_bytes() == value.as_slice(), is_fit);
        }
    }
}
