//! Authenticates a request by its bearer token or ticket.

use actix_web::HttpRequest;
use actix_web::http::header;

use super::path_ids::PathIds;
use super::playback;
use super::principal::Principal;
use super::service_key::ServiceKey;
use super::state::Gate;
use crate::http::code::Code;
use crate::http::error::ApiError;

/// Reads `Authorization: Bearer …`.
///
/// # Errors
/// 401 if the token is missing, forged or expired, or its session has ended.
pub fn bearer(request: &HttpRequest, gate: &Gate) -> Result<Principal, ApiError> {
    bearer_if_any(request, gate)?.ok_or_else(|| ApiError::of(Code::UNAUTHORIZED))
}

/// Like [`bearer`], for what only a person may do: a program with the service key may propose, never approve.
///
/// # Errors
/// 403 `ServiceMayNotApprove` for the service key; otherwise like [`bearer`].
pub fn person(request: &HttpRequest, gate: &Gate) -> Result<Principal, ApiError> {
    let key = gate.config.pipeline.key.reveal();
    let is_service = !key.is_empty() && bearer_text(request).is_some_and(|given| ServiceKey::new(key).is(given));
    if is_service { Err(ApiError::of(Code::SERVICE_MAY_NOT_APPROVE)) } else { bearer(request, gate) }
}

/// Like [`bearer`], for operations that are open to all. `None` if the header is absent.
///
/// # Errors
/// 401 for an invalid token.
pub fn bearer_if_any(request: &HttpRequest, gate: &Gate) -> Result<Option<Principal>, ApiError> {
    let unauthorized = || ApiError::of(Code::UNAUTHORIZED);
    if !request.headers().contains_key(header::AUTHORIZATION) {
        return Ok(None);
    }
    let token = bearer_text(request).ok_or_else(unauthorized)?;
    let principal = gate.tokens.verify(token, gate.now()).map_err(|_| unauthorized())?;
    if has_ended(principal, gate) { Err(unauthorized()) } else { Ok(Some(principal)) }
}

/// Returns what follows `Bearer` in the only `Authorization` header, whatever it is.
#[must_use]
pub fn bearer_text(request: &HttpRequest) -> Option<&str> {
    let mut headers = request.headers().get_all(header::AUTHORIZATION);
    let header = headers.next().filter(|_| headers.next().is_none())?;
    let (scheme, text) = header.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("Bearer").then_some(text)
}

/// Redeems the ticket in `?ticket=…`. Without one, reads the `Authorization` header.
///
/// # Errors
/// 401 if the ticket is forged, used or expired, or its session has ended; otherwise like [`bearer`].
pub fn ticket_or_bearer(request: &HttpRequest, gate: &Gate) -> Result<Principal, ApiError> {
    let mut query = url::form_urlencoded::parse(request.query_string().as_bytes());
    let Some((_, ticket)) = query.find(|(name, _)| name == "ticket") else { return bearer(request, gate) };
    let principal = gate.tickets.redeem(&ticket, gate.now());
    principal.filter(|principal| !has_ended(*principal, gate)).ok_or_else(|| {
        ApiError::with_message(Code::UNAUTHORIZED, "The ticket is unknown, used or expired. Get a new one.")
    })
}

/// Verifies the signature in `?playback=…` for the recording that the path names. Without one, reads the `Authorization`
/// header.
///
/// # Errors
/// 401 if the signature is forged or expired, or its session has ended; 400 if the id in the path is not a UUID;
/// otherwise like [`bearer`].
pub fn playback_or_bearer(request: &HttpRequest, gate: &Gate) -> Result<Principal, ApiError> {
    let mut query = url::form_urlencoded::parse(request.query_string().as_bytes());
    let Some((_, signature)) = query.find(|(name, _)| name == playback::PARAMETER) else {
        return bearer(request, gate);
    };
    let recording_id = PathIds::of(request).id("recordingId")?;
    let caller = playback::verify(&gate.secret, recording_id, &signature, gate.now());
    let principal = caller.map(Principal::from).filter(|principal| !has_ended(*principal, gate));
    principal.ok_or_else(|| {
        ApiError::with_message(
            Code::UNAUTHORIZED,
            "The link is forged or expired, or its session ended. Get a new one.",
        )
    })
}

/// Whether the session of an account has been revoked. For a guest the meeting decides, so this returns false.
fn has_ended(principal: Principal, gate: &Gate) -> bool {
    match principal {
        Principal::Account(caller) => gate.revoked.contains(caller.session_id),
        Principal::Guest(_) => false,
    }
}
