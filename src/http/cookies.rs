//! Cookies of requests.

use actix_web::HttpRequest;
use actix_web::http::header;
use cookie::Cookie;

/// Returns the value of a cookie in a request. Of several of the same name the last one counts, as in a cookie jar.
#[must_use]
pub fn value(request: &HttpRequest, name: &str) -> Option<String> {
    let headers = request.headers().get_all(header::COOKIE).filter_map(|header| header.to_str().ok());
    let cookies = headers.flat_map(Cookie::split_parse).flatten();
    cookies.filter(|cookie| cookie.name() == name).last().map(|cookie| cookie.value().to_owned())
}
