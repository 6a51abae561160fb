//! Authorizes requests: authenticates the principal, counts the call against its rate limit, and only then loads
//! anything. Refused calls count like served ones, so a client can't cause loads by asking for resources that it may
//! not access.
//!
//! Over the limit the response is 429 wherever a more specific one would need a load: 404 and 403, and 401 when an
//! unauthenticated client's address is over the limit. A malformed id is a 400 even then, since checking it costs
//! nothing.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, ResponseError};

use super::policy::{CountedFor, Policy};
use super::state::Gate;
use crate::http::error::ApiError;
use crate::http::mounted::Mounted;

/// Marks a request whose call has been counted.
struct AlreadyCounted;

/// Authorizes a request under a policy.
///
/// # Errors
/// 429, or the reason why the request is refused, in the contract's order.
pub async fn admit<R: Policy>(request: &HttpRequest) -> Result<R, ApiError> {
    let guard = R::Guard::of(request)?;
    let claim = R::claim(request, &guard);
    let counted_for = claim.as_ref().map_or(R::REFUSED, R::counted_for);
    request.extensions_mut().insert(AlreadyCounted);
    let within = count(request, counted_for);
    let claim = match claim {
        Ok(claim) => claim,
        Err(refused) => return Err(within.err().unwrap_or(refused)),
    };
    R::syntax(request)?;
    within?;
    R::check(claim, request, &guard).await
}

fn count(request: &HttpRequest, counted_for: CountedFor) -> Result<(), ApiError> {
    let limited = |key: &dyn Fn(&Gate) -> String| {
        let gate = Gate::of(request)?;
        gate.limits.calls.take(&key(&gate))
    };
    match counted_for {
        CountedFor::Principal(id) => limited(&|_| id.to_string()),
        CountedFor::Client => limited(&|gate| gate.config.http.client_address(request)),
        CountedFor::Nobody => Ok(()),
    }
}

/// Middleware that counts requests which were refused before a policy ran (unknown path or method) under the client's
/// address. Past the limit the response becomes a 429.
///
/// # Errors
/// The errors of the inner service.
pub async fn count_refusals<B: MessageBody + 'static>(
    request: ServiceRequest,
    next: Next<B>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let response = next.call(request).await?.map_into_boxed_body();
    if !response.status().is_client_error() {
        return Ok(response);
    }
    match count_refusal(response.request()) {
        Ok(()) => Ok(response),
        Err(failure) => Ok(response.into_response(failure.error_response())),
    }
}

fn count_refusal(request: &HttpRequest) -> Result<(), ApiError> {
    if request.extensions().contains::<AlreadyCounted>() {
        return Ok(());
    }
    count(request, CountedFor::Client)
}
