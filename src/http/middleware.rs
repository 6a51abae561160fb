//! The outermost middleware: request ids, the operations, the access log and request metrics, security headers, and the
//! envelope around errors of the framework.

use std::panic::AssertUnwindSafe;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::header::{self, HeaderMap, HeaderName, HeaderValue};
use actix_web::http::uri::PathAndQuery;
use actix_web::http::{StatusCode, Uri};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpResponse, ResponseError};
use actors::live::RequestId;
use actors::time::{Clock, SystemClock};
use futures_util::FutureExt;
use tracing::Instrument;

use super::code::Code;
use super::cors;
use super::error::ApiError;
use super::head;
use super::raw_connection::RawConnection;
use super::request_id::{self, X_REQUEST_ID};
use super::route_figures::RouteFigures;
use super::route_table::{AllowedMethods, FoundRoute, RouteHandler, RouteTable};
use super::transit::Transit;
use crate::log::access::{self, AccessLine};
use crate::tasks::panic_text;

/// Removes a slash at the end of a path that is no operation's. The pages of `/docs` refer to each other by it.
fn without_slash(request: &mut ServiceRequest) {
    let path = request.path();
    let trimmed = path.trim_end_matches('/');
    if trimmed.len() == path.len() || trimmed.is_empty() || path.starts_with("/docs") {
        return;
    }
    let with_query = match request.uri().query() {
        Some(query) => format!("{trimmed}?{query}"),
        None => trimmed.to_owned(),
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
    /// Whether the server's public URL is https. Browsers are then told never to use http (S19).
    pub over_tls: bool,
    /// The server's public URL; empty for a server without pages.
    pub app_url: String,
    /// Whether the listener is public. Only there do large responses count against the byte budget; operators get
    /// theirs even if nothing is left.
    pub is_public: bool,
}

/// Handles one request: by the operation that the table has for it, else by what else is mounted. All other middleware
/// runs inside, and has no part in operations.
///
/// # Errors
/// An error of the framework or a panic outside of any handler, as an envelope.
pub async fn pass<B: MessageBody + 'static>(
    settings: Arc<MiddlewareSettings>,
    table: Rc<RouteTable>,
    mut request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let started = Instant::now();
    let in_flight = request.conn_data::<RawConnection>().map(RawConnection::begin);
    let id = request_id::accept(request.request());
    request_id::note(request.request(), Arc::clone(&id));
    let checked = head::check(request.head());
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
    let method = head::method(request.method());
    let (handler, figures) = route(&table, &mut request).unzip();
    let work = async {
        checked?;
        let transit = transit?;
        let response = match handler {
            Some(handler) => {
                let (request, payload) = request.into_parts();
                let answer = handler(request.clone(), payload).await;
                ServiceResponse::new(request, answer)
            }
            None => enveloped(next.call(request).await?),
        };
        Ok::<_, Error>((transit, response))
    };
    let answered = AssertUnwindSafe(work).catch_unwind().instrument(span.clone()).await;
    let _entered = span.enter();
    let answered =
        answered.unwrap_or_else(|panic| Err(ApiError::internal(format!("panic: {}", panic_text(&*panic))).into()));
    let answered = match answered {
        Ok((transit, response)) => {
            let mut response = transit.end(response, settings.is_public);
            security_headers(response.headers_mut(), &id, settings.over_tls);
            cors::allow(response.headers_mut(), origin.as_ref());
            Ok(response)
        }
        Err(error) => {
            let failure = error.as_error::<ApiError>().cloned();
            Err(failure.unwrap_or_else(|| {
                let status = error.as_response_error().status_code();
                ApiError { cause: Some(error.to_string().into()), ..ApiError::of(Code::of_status(status.as_u16())) }
            }))
        }
    };
    let (figures, status) = match &answered {
        Ok(response) => {
            let of_page = || {
                let route = response.request().match_pattern().map_or("none".into(), Into::into);
                Rc::new(RouteFigures::new(method, route))
            };
            (figures.unwrap_or_else(of_page), response.status())
        }
        Err(failure) => (Rc::new(RouteFigures::new(method, "none".into())), failure.status_code()),
    };
    note(&figures, &id, status, started, missing_origin);
    answered
        .map_err(|failure| ErrorWithHeaders { failure, id: id.to_string(), origin, over_tls: settings.over_tls }.into())
}

/// Finds the operation of a request. One that has none is prepared for what else is mounted.
fn route(table: &RouteTable, request: &mut ServiceRequest) -> Option<(RouteHandler, Rc<RouteFigures>)> {
    match table.find(request.method(), request.match_info().as_str()) {
        FoundRoute::Operation(figures, handler, parameters) => {
            request.extensions_mut().insert(parameters);
            return Some((Rc::clone(handler), figures));
        }
        FoundRoute::OtherMethods(allow) => drop(request.extensions_mut().insert(AllowedMethods(allow))),
        FoundRoute::Nothing => without_slash(request),
    }
    None
}

/// Counts a request and gives it a line in the access log. A page of an origin that is missing in the settings can't read
/// the response: the line names both.
fn note(figures: &RouteFigures, id: &RequestId, status: StatusCode, started: Instant, missing_origin: Option<String>) {
    let (took, status) = (started.elapsed(), status.as_u16());
    figures.count(status, took);
    if access::is_on() {
        access::write(AccessLine {
            at: SystemClock.now(),
            request_id: Arc::clone(id),
            method: figures.method,
            route: figures.route.clone(),
            status,
            micros: u64::try_from(took.as_micros()).unwrap_or(u64::MAX),
            missing_in: missing_origin.is_some().then_some(cors::SETTING),
            missing_origin,
        });
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
