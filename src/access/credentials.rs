//! From a request to whoever calls: a bearer token, or a ticket.

use actix_web::HttpRequest;
use actix_web::http::header;

use super::caller::Visitor;
use super::state::Gate;
use crate::http::code::Code;
use crate::http::failure::Failure;

/// Reads `Authorization: Bearer …`.
///
/// # Errors
/// 401 for a token that is missing, forged, expired, or of an ended session.
pub fn bearer(request: &HttpRequest, gate: &Gate) -> Result<Visitor, Failure> {
    bearer_if_any(request, gate)?.ok_or_else(|| Failure::of(Code::UNAUTHORIZED))
}

/// As [`bearer`], for what is open to all; `None`: there is no such header.
///
/// # Errors
/// 401 for a token that is not good.
pub fn bearer_if_any(request: &HttpRequest, gate: &Gate) -> Result<Option<Visitor>, Failure> {
    let unauthorized = || Failure::of(Code::UNAUTHORIZED);
    let mut headers = request.headers().get_all(header::AUTHORIZATION);
    let Some(header) = headers.next() else { return Ok(None) };
    let header = header.to_str().map_err(|_| unauthorized())?;
    if headers.next().is_some() {
        return Err(unauthorized());
    }
    let (scheme, token) = header.split_once(' ').ok_or_else(unauthorized)?;
    if !scheme.eq_ignore_ascii_case("Bearer") {
        return Err(unauthorized());
    }
    let visitor = gate.tokens.verify(token, gate.now()).map_err(|_| unauthorized())?;
    if has_ended(visitor, gate) { Err(unauthorized()) } else { Ok(Some(visitor)) }
}

/// Spends `?ticket=…`; without one, reads the header.
///
/// # Errors
/// 401 for a ticket that is forged, spent, expired, or of an ended session; else as [`bearer`].
pub fn ticket_or_bearer(request: &HttpRequest, gate: &Gate) -> Result<Visitor, Failure> {
    let mut query = url::form_urlencoded::parse(request.query_string().as_bytes());
    let Some((_, ticket)) = query.find(|(name, _)| name == "ticket") else { return bearer(request, gate) };
    let visitor = gate.tickets.redeem(&ticket, gate.now());
    visitor
        .filter(|visitor| !has_ended(*visitor, gate))
        .ok_or_else(|| Failure::saying(Code::UNAUTHORIZED, "The ticket is unknown, used or expired. Get a new one."))
}

/// Of a guest it is the meeting that knows whether they may still come in.
fn has_ended(visitor: Visitor, gate: &Gate) -> bool {
    match visitor {
        Visitor::Account(caller) => gate.revoked.contains(caller.session_id),
        Visitor::Guest(_) => false,
    }
}
