//! Checks the size of a request's head and names its method for metrics.

use actix_web::dev::RequestHead;
use actix_web::http::Method;

use super::code::Code;
use super::error::ApiError;

/// The methods that metrics and the log distinguish.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "CONNECT"];
/// The longest method. Every registered one is shorter.
const MAX_METHOD_BYTES: usize = 32;
/// The longest path including its query.
const MAX_TARGET_BYTES: usize = 8 * 1024;
/// The names and values of all headers together.
const MAX_HEADERS_BYTES: usize = 32 * 1024;

/// Returns the method's name, or `OTHER` for an unknown method.
pub fn method(method: &Method) -> &'static str {
    METHODS.into_iter().find(|known| *known == method.as_str()).unwrap_or("OTHER")
}

/// Checks the size of the head. actix accepts 128 KiB, which no client needs, and echoing, logging or looking up parts
/// of a head costs in proportion to its size.
///
/// # Errors
/// 400 for a long method, 414 for a long target, 431 for large headers.
pub fn check(head: &RequestHead) -> Result<(), ApiError> {
    let target = head.uri.path_and_query().map_or(0, |target| target.as_str().len());
    let headers: usize = head.headers.iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if head.method.as_str().len() > MAX_METHOD_BYTES {
        return Err(ApiError::with_message(Code::BAD_REQUEST, "Unknown method."));
    }
    if target > MAX_TARGET_BYTES {
        return Err(ApiError::of(Code::URI_TOO_LONG));
    }
    if headers > MAX_HEADERS_BYTES { Err(ApiError::of(Code::HEADERS_TOO_LARGE)) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use actix_web::http::Method;
    use actix_web::test::TestRequest;

    use super::{Code, check, method};

    #[test]
    fn a_method_that_nobody_knows_is_counted_with_all_others() {
        for known in ["GET", "PATCH", "OPTIONS"] {
            assert_eq!(method(&known.parse().unwrap()), known);
        }
        for unknown in ["get", "PURGE", "M1", &"X".repeat(100_000)] {
            assert_eq!(method(&unknown.parse().unwrap()), "OTHER");
        }
    }

    #[test]
    fn a_head_that_is_too_large_is_refused_by_what_makes_it_so() {
        let of = |request: TestRequest| check(request.to_srv_request().head()).map_err(|failure| failure.code);
        let long = |length: usize| format!("/{}", "x".repeat(length - 1));
        assert_eq!(of(TestRequest::get().uri(&long(8192))), Ok(()));
        assert_eq!(of(TestRequest::get().uri(&long(8193))), Err(Code::URI_TOO_LONG));
        assert_eq!(of(TestRequest::get().uri(&format!("/?q={}", "x".repeat(8192)))), Err(Code::URI_TOO_LONG));
        let named = |length: usize| TestRequest::default().method(Method::from_bytes(&vec![b'M'; length]).unwrap());
        assert_eq!(of(named(32)), Ok(()));
        assert_eq!(of(named(33)), Err(Code::BAD_REQUEST));
        let many = |count: u32| {
            (0..count).fold(TestRequest::default(), |request, number| {
                request.append_header((format!("x-{number:04}"), "v".repeat(1018)))
            })
        };
        assert_eq!(of(many(32)), Ok(()));
        assert_eq!(of(many(33)), Err(Code::HEADERS_TOO_LARGE));
    }
}
