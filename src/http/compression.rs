//! Compression of responses, as the client accepts it.
//!
//! Only what is read is compressed: the responses of GET. A secret beside text of somebody else could be guessed from the length
//! of the compressed response; tokens, credentials and links that sign in are responses of POST, or set a cookie, and stay as
//! they are.

use actix_http::encoding::Encoder;
use actix_web::body::{BodySize, BoxBody, MessageBody};
use actix_web::http::header::{self, AcceptEncoding, ContentEncoding, Encoding, Header, HeaderMap, HeaderValue};
use actix_web::http::{Method, StatusCode};
use actix_web::{HttpRequest, HttpResponse};
use tokio::sync::{Semaphore, SemaphorePermit};

/// What all compressors together may hold, in units of 512 KiB: more responses are sent as they are, so that clients that read
/// slowly hold no more memory than that.
const ROOM: u32 = 128;
static COMPRESSORS: Semaphore = Semaphore::const_new(ROOM as usize);
/// From this size on compression saves packets.
const LEAST_BYTES: u64 = 1024;
/// Media types of text. Files that are downloaded, and events, are sent as they are.
const TYPES: [&str; 6] =
    ["application/json", "text/html", "text/css", "text/javascript", "text/plain", "image/svg+xml"];
/// Headers of responses that stay as they are: compressed already, a file that is stored or read in parts, or one with a secret.
const EXEMPT: [header::HeaderName; 4] =
    [header::CONTENT_ENCODING, header::CONTENT_DISPOSITION, header::ACCEPT_RANGES, header::SET_COOKIE];

/// The room of one compressor, until its response has been sent.
pub type CompressorRoom = SemaphorePermit<'static>;

/// Compresses a response if that is worth while, the client accepts it, and there is room. The work is done as the response is sent;
/// until then the room is to be held.
pub fn compressed(
    request: &HttpRequest,
    mut response: HttpResponse<BoxBody>,
) -> (HttpResponse<BoxBody>, Option<CompressorRoom>) {
    let is_read = request.method() == Method::GET && response.status() == StatusCode::OK;
    if !is_read || !is_large(response.body()) || !is_text(response.headers()) {
        return (response, None);
    }
    let encoding = accepted(request);
    let Some(room) = room_for(encoding) else {
        // Who keeps the response has to know that others may get it compressed.
        response.headers_mut().append(header::VARY, HeaderValue::from_static("accept-encoding"));
        return (response, None);
    };
    (response.map_body(|head, body| BoxBody::new(Encoder::response(encoding, head, body))), Some(room))
}

fn room_for(encoding: ContentEncoding) -> Option<CompressorRoom> {
    // What their windows and tables take at most.
    let units = match encoding {
        ContentEncoding::Zstd => 8,
        ContentEncoding::Gzip => 1,
        _ => return None,
    };
    COMPRESSORS.try_acquire_many(units).ok()
}

fn is_large(body: &BoxBody) -> bool {
    match body.size() {
        BodySize::None => false,
        BodySize::Sized(length) => length >= LEAST_BYTES,
        BodySize::Stream => true,
    }
}

fn is_text(headers: &HeaderMap) -> bool {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = media_type.split(';').next().unwrap_or_default().trim();
    TYPES.contains(&media_type) && !EXEMPT.iter().any(|name| headers.contains_key(name))
}

fn accepted(request: &HttpRequest) -> ContentEncoding {
    let ours = [Encoding::zstd(), Encoding::gzip(), Encoding::identity()];
    let accepted = AcceptEncoding::parse(request).ok().and_then(|accepted| accepted.negotiate(ours.iter()));
    match accepted {
        Some(Encoding::Known(encoding)) => encoding,
        _ => ContentEncoding::Identity,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::test::TestRequest;

    fn get(accept: &str) -> HttpRequest {
        TestRequest::get().insert_header((header::ACCEPT_ENCODING, accept)).to_http_request()
    }

    fn encoding(method: Method, accept: &str, content_type: &str, exempt: Option<header::HeaderName>) -> String {
        let request = TestRequest::default().method(method).insert_header((header::ACCEPT_ENCODING, accept));
        let mut response = HttpResponse::Ok();
        response.content_type(content_type);
        if let Some(name) = exempt {
            response.insert_header((name, "x"));
        }
        let (response, _) = compressed(&request.to_http_request(), response.body("a".repeat(2048)));
        let value = |name| response.headers().get(name).map_or("-", |value| value.to_str().unwrap());
        format!("{} {}", value(header::CONTENT_ENCODING), value(header::VARY))
    }

    #[test]
    fn text_that_is_read_is_compressed_as_the_client_accepts_it() {
        let json = |accept| encoding(Method::GET, accept, "application/json", None);
        assert_eq!(json("gzip, deflate, br, zstd"), "zstd accept-encoding");
        assert_eq!(json("gzip, deflate, br"), "gzip accept-encoding");
        assert_eq!(json("zstd;q=0, gzip;q=0.5"), "gzip accept-encoding");
        for accept in ["", "br", "identity", "gzip;q=0", "*", "nonsense;;"] {
            assert_eq!(json(accept), "- accept-encoding", "{accept}");
        }
        assert_eq!(encoding(Method::GET, "gzip", "text/html; charset=utf-8", None), "gzip accept-encoding");
    }

    #[test]
    fn what_is_written_downloaded_streamed_or_secret_stays_as_it_is() {
        assert_eq!(encoding(Method::POST, "gzip", "application/json", None), "- -");
        assert_eq!(encoding(Method::HEAD, "gzip", "application/json", None), "- -");
        for content_type in ["text/event-stream", "audio/webm", "application/pdf"] {
            assert_eq!(encoding(Method::GET, "gzip", content_type, None), "- -", "{content_type}");
        }
        for name in [header::CONTENT_DISPOSITION, header::ACCEPT_RANGES, header::SET_COOKIE] {
            assert_eq!(encoding(Method::GET, "gzip", "application/json", Some(name.clone())), "- -", "{name}");
        }
    }

    #[test]
    fn little_text_is_sent_as_it_is() {
        let (response, _) = compressed(&get("gzip"), HttpResponse::Ok().content_type("application/json").body("{}"));
        assert!(response.headers().get(header::CONTENT_ENCODING).is_none());
    }
}
