//! The outermost middleware: request ids, the access log and request metrics, security headers, paths in any case, and
//! the envelope around errors of the framework.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::uri::PathAndQuery;
use actix_web::http::{StatusCode, Uri};
use actix_web::middleware::Next;
use actix_web::{Error, HttpResponse, ResponseError};
use futures_util::FutureExt;
use tracing::Instrument;

use super::code::Code;
use super::cors;
use super::error::ApiError;
use super::head;
use super::raw_connection::RawConnection;
use super::request_id::{self, X_REQUEST_ID};
use super::transit::Transit;
use crate::tasks::panic_text;

/// The path templates of all routes, used to rewrite a path to its canonical case.
#[derive(Debug, Default)]
pub struct Paths(Vec<Vec<String>>);

impl Paths {
    pub fn new<'a>(templates: impl Iterator<Item = &'a str>) -> Self {
        Self(templates.map(|template| template.split('/').map(str::to_owned).collect()).collect())
    }

    /// Returns the path with its fixed segments as the routes spell them and without a trailing slash. `None` if it has
    /// this form already or matches no route.
    #[must_use]
    pub fn canonical(&self, path: &str) -> Option<String> {
        let is_api = path.get(..4).is_some_and(|start| start.eq_ignore_ascii_case("/api"));
        let trailing = path.len() > 1 && path.ends_with('/');
        let has_upper_case = is_api && path.bytes().any(|byte| byte.is_ascii_uppercase());
        if !trailing && !has_upper_case {
            return None;
        }
        let trimmed = path.trim_end_matches('/');
        let given: Vec<&str> = trimmed.split('/').collect();
        let fits = |template: &&Vec<String>| {
            template.len() == given.len()
                && template
                    .iter()
                    .zip(&given)
                    .all(|(fixed, given)| fixed.starts_with('{') || fixed.eq_ignore_ascii_case(given))
        };
        let template = if is_api { self.0.iter().find(fits) } else { None };
        match template {
            Some(template) => {
                let segment = |(fixed, given): (&String, &&str)| {
                    if fixed.starts_with('{') { (*given).to_owned() } else { fixed.clone() }
                };
                Some(template.iter().zip(&given).map(segment).collect::<Vec<_>>().join("/"))
            }
            None if trailing && !trimmed.is_empty() && !path.starts_with("/docs") => Some(trimmed.to_owned()),
            None => None,
        }
    }
}

fn rewrite(request: &mut ServiceRequest, paths: &Paths) {
    let Some(path) = paths.canonical(request.path()) else { return };
    let with_query = match request.uri().query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = request.uri().clone().into_parts();
    let Ok(path_and_query) = PathAndQuery::try_from(with_query) else { return };
    parts.path_and_query = Some(path_and_query);
    if let Ok(uri) = Uri::from_parts(parts) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
}

/// The settings of one listener's middleware.
#[derive(Debug)]
pub struct MiddlewareSettings {
    pub paths: Paths,
    /// Whether the server's public URL is https. Browsers are then told never to use http (S19).
    pub over_tls: bool,
    /// The server's public URL; empty for a server without pages.
    pub app_url: String,
    /// Whether the listener is public. Only there do large responses count against the byte budget; operators get
    /// theirs even if nothing is left.
    pub is_public: bool,
}

/// Handles one request; all other middleware runs inside.
///
/// # Errors
/// An error of the framework or a panic outside of any handler, as an envelope.
pub async fn pass<B: MessageBody + 'static>(
    settings: Arc<MiddlewareSettings>,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let in_flight = request.conn_data::<RawConnection>().map(RawConnection::begin);
    let id = request_id::accept(request.request());
    request_id::note(request.request(), Arc::clone(&id));
    let method = head::method(request.method());
    let checked = head::check(request.head());
    rewrite(&mut request, &settings.paths);
    // At the level ERROR, so that no log filter removes the request id from a line.
    let span = tracing::error_span!("request", request_id = %id);
    let origin = cors::listed_origin(request.request());
    if let Some(response) = origin.as_ref().and_then(|_| cors::preflight(request.request())) {
        let mut response = request.into_response(response);
        security_headers(response.headers_mut(), &id, settings.over_tls);
        cors::allow(response.headers_mut(), origin.as_ref());
        return Ok(response);
    }
    let missing_origin = cors::missing_origin(request.request(), &settings.app_url);
    let transit = Transit::begin(&request, in_flight);
    let work = async {
        checked?;
        let transit = transit?;
        Ok::<_, Error>((transit, next.call(request).await?))
    };
    let answered = AssertUnwindSafe(work).catch_unwind().instrument(span.clone()).await;
    let _entered = span.enter();
    let answered =
        answered.unwrap_or_else(|panic| Err(ApiError::internal(format!("panic: {}", panic_text(&*panic))).into()));
    match answered {
        Ok((transit, response)) => {
            let mut response = transit.end(enveloped(response), settings.is_public);
            let route = response.request().match_pattern().unwrap_or_else(|| "none".to_owned());
            security_headers(response.headers_mut(), &id, settings.over_tls);
            cors::allow(response.headers_mut(), origin.as_ref());
            access_log(method, &route, response.status(), started, missing_origin.as_deref());
            Ok(response)
        }
        Err(error) => {
            let failure = error.as_error::<ApiError>().cloned();
            let failure = failure.unwrap_or_else(|| {
                let status = error.as_response_error().status_code();
                ApiError { cause: Some(error.to_string().into()), ..ApiError::of(Code::of_status(status.as_u16())) }
            });
            access_log(method, "none", failure.status_code(), started, missing_origin.as_deref());
            Err(ErrorWithHeaders { failure, id: id.to_string(), origin, over_tls: settings.over_tls }.into())
        }
    }
}

/// An error of the inner service, with what is needed to add the headers to its response.
#[derive(Debug)]
struct ErrorWithHeaders {
    failure: ApiError,
    id: String,
    origin: Option<HeaderValue>,
    over_tls: bool,
}

impl std::fmt::Display for ErrorWithHeaders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.failure.fmt(f)
    }
}

impl ResponseError for ErrorWithHeaders {
    fn status_code(&self) -> StatusCode {
        self.failure.status_code()
    }
    fn error_response(&self) -> HttpResponse {
        let mut response = self.failure.error_response();
        security_headers(response.headers_mut(), &self.id, self.over_tls);
        cors::allow(response.headers_mut(), self.origin.as_ref());
        response
    }
}

/// Replaces an error response that is not JSON, such as those of the framework, by an envelope. `Allow` is kept.
fn enveloped<B: MessageBody + 'static>(response: ServiceResponse<B>) -> ServiceResponse<BoxBody> {
    let status = response.status();
    let is_ours = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == super::ready::JSON);
    if !(status.is_client_error() || status.is_server_error()) || is_ours {
        return response.map_into_boxed_body();
    }
    let allow = response.headers().get(header::ALLOW).cloned();
    let mut failure = ApiError::of(Code::of_status(status.as_u16())).error_response();
    if let Some(allow) = allow {
        failure.headers_mut().insert(header::ALLOW, allow);
    }
    response.into_response(failure)
}

const HEADERS: [(HeaderName, &str); 6] = [
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Two years, the value that the browsers' preload lists ask for.
const STRICT_TRANSPORT: &str = "max-age=63072000; includeSubDomains";

/// Adds the headers of every response. Those that a handler has set stay, except the request id and HSTS.
fn security_headers(headers: &mut HeaderMap, id: &str, over_tls: bool) {
    if over_tls {
        headers.insert(header::STRICT_TRANSPORT_SECURITY, HeaderValue::from_static(STRICT_TRANSPORT));
    }
    for (name, value) in HEADERS {
        if !headers.contains_key(&name) {
            headers.insert(name, HeaderValue::from_static(value));
        }
    }
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(X_REQUEST_ID, id);
    }
}

/// Every label has a closed set of values: a metric whose label is chosen by an unauthenticated client would be stored
/// for ever. A page of an origin that is missing in the settings can't read the answer: the line names both.
fn access_log(method: &'static str, route: &str, status: StatusCode, started: Instant, missing_origin: Option<&str>) {
    let took = started.elapsed();
    let labels = [("method", method.to_owned()), ("route", route.to_owned()), ("status", status.as_u16().to_string())];
    metrics::counter!("colloquy_requests_total", &labels).increment(1);
    metrics::histogram!("colloquy_request_seconds", &labels[..2]).record(took.as_secs_f64());
    let missing_in = missing_origin.map(|_| cors::SETTING);
    let (status, micros) = (status.as_u16(), took.as_micros() as u64);
    tracing::info!(method, route, status, micros, missing_origin, missing_in, "answered");
}

#[cfg(test)]
mod tests {
    use super::Paths;

    #[test]
    fn fixed_segments_lose_their_case_and_tokens_keep_theirs() {
        let paths = Paths::new(["/api/meetings/{meetingId}", "/api/invitations/{token}/accept"].into_iter());
        assert_eq!(paths.canonical("/API/Meetings/AbC"), Some("/api/meetings/AbC".to_owned()));
        assert_eq!(paths.canonical("/api/Invitations/ToKeN/Accept/"), Some("/api/invitations/ToKeN/accept".to_owned()));
        assert_eq!(paths.canonical("/api/meetings/abc"), None);
        assert_eq!(paths.canonical("/health/live/"), Some("/health/live".to_owned()));
        assert_eq!(paths.canonical("/Elsewhere/X"), None);
    }
}
