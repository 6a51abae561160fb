//! The one way in: who calls is read, the call is counted, and only then is anything looked for. What is refused counts like
//! what is served, so nobody can have things loaded by asking for what they don't get.
//!
//! Over the limit the answer is 429 wherever something would have to be loaded to know a better one: 401 (for whoever proved
//! nothing the client's address is over it), 404 and 403. Ids that are none are a 400 first, since that costs nothing.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, HttpMessage, HttpRequest, ResponseError};
use uuid::Uuid;

use super::guard::Rule;
use super::state::Gate;
use crate::http::failure::Failure;
use crate::http::mounted::Mounted;

/// For whom a call is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountedFor {
    /// An account, or a guest's place.
    Visitor(Uuid),
    /// The client's address.
    Client,
    /// Nobody: another part of the system, that has proved it.
    Nobody,
}

/// The call has been counted.
struct Counted;

/// Lets a request through a rule.
///
/// # Errors
/// 429, or why it may not, in the contract's order.
pub async fn admit<R: Rule>(request: &HttpRequest, gate: &Gate) -> Result<R, Failure> {
    let claim = R::claim(request, gate);
    let counted_for = claim.as_ref().map_or(CountedFor::Client, R::counted_for);
    request.extensions_mut().insert(Counted);
    let within = count(request, gate, counted_for);
    let claim = match claim {
        Ok(claim) => claim,
        Err(refused) => return Err(within.err().unwrap_or(refused)),
    };
    R::syntax(request)?;
    within?;
    R::check(claim, request, gate).await
}

fn count(request: &HttpRequest, gate: &Gate, counted_for: CountedFor) -> Result<(), Failure> {
    match counted_for {
        CountedFor::Visitor(id) => gate.limits.calls.take(&id.to_string()),
        CountedFor::Client => gate.limits.calls.take(&gate.config.http.client_address(request)),
        CountedFor::Nobody => Ok(()),
    }
}

/// Middleware: what was refused before anybody asked who calls (no such address, no such method) counts for the client; past the
/// limit it is a 429.
///
/// # Errors
/// The framework's own.
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

fn count_refusal(request: &HttpRequest) -> Result<(), Failure> {
    if request.extensions().contains::<Counted>() {
        return Ok(());
    }
    count(request, &Gate::of(request)?, CountedFor::Client)
}
