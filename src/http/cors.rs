//! CORS: web pages of the origins listed in the settings may call the interface. Origins are compared byte by byte.
//! Credentials are not allowed: a page of another origin sends its bearer token. The cookie of a browser's session is
//! SameSite=Strict, for pages of the server's own origin.

use actix_web::http::Method;
use actix_web::http::header::{self, HeaderMap, HeaderValue};
use actix_web::{HttpRequest, HttpResponse};

use super::mounted::Mounted;
use super::state::Http;
use crate::config::origin::is_own_origin;

/// The setting that lists the origins.
pub const SETTING: &str = "http.origins";
/// How much of an origin is logged: a client may send anything.
const LOGGED_CHARACTERS: usize = 200;

/// Returns the request's `Origin` if the settings list it.
#[must_use]
pub fn listed_origin(request: &HttpRequest) -> Option<HeaderValue> {
    let origin = request.headers().get(header::ORIGIN)?;
    let http = Http::of(request).ok()?;
    let listed = http.settings.origins.iter().any(|listed| listed.as_bytes() == origin.as_bytes());
    listed.then(|| origin.clone())
}

/// Returns the request's `Origin` if it is neither this server's own nor listed in the settings: the browser lets that page read no
/// response. For the log.
#[must_use]
pub fn missing_origin(request: &HttpRequest, app_url: &str) -> Option<String> {
    let origin = request.headers().get(header::ORIGIN)?.to_str().ok()?;
    // Compared as CORS does: a spelling that only sockets take for the listed one is missing, too.
    let is_fine = listed_origin(request).is_some() || is_own_origin(request, origin, app_url);
    (!is_fine).then(|| origin.chars().take(LOGGED_CHARACTERS).collect())
}

/// Returns the response to a CORS preflight request; `None` for any other request.
#[must_use]
pub fn preflight(request: &HttpRequest) -> Option<HttpResponse> {
    let asks =
        request.method() == Method::OPTIONS && request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    asks.then(|| {
        HttpResponse::NoContent()
            .insert_header((header::ACCESS_CONTROL_ALLOW_METHODS, "GET, POST, PUT, PATCH, DELETE"))
            .insert_header((
                header::ACCESS_CONTROL_ALLOW_HEADERS,
                "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, Last-Event-ID, X-Request-Id, X-Review-Token",
            ))
            .insert_header((header::ACCESS_CONTROL_MAX_AGE, "600"))
            .finish()
    })
}

/// Adds the headers that let the page read the response.
pub fn allow(headers: &mut HeaderMap, origin: Option<&HeaderValue>) {
    let Some(origin) = origin else { return };
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
    headers.append(header::VARY, HeaderValue::from_static("Origin"));
    let exposed = HeaderValue::from_static("ETag, Retry-After, X-Request-Id");
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, exposed);
}
