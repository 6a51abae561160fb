//! Cookies of requests.

use actix_web::HttpRequest;
use actix_web::http::header;
use cookie::Cookie;

/// Returns the values of the cookies of one name in a request. Browsers send those of a longer path first.
pub fn values(request: &HttpRequest, name: &str) -> impl Iterator<Item = String> {
    let headers = request.headers().get_all(header::COOKIE).filter_map(|header| header.to_str().ok());
    let cookies = headers.flat_map(Cookie::split_parse).flatten();
    cookies.filter(move |cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
}
