//! The HTTP endpoints that issue tickets and open sockets.

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use serde::Serialize;
use utoipa::ToSchema;

use super::end_conditions::check_access;
use super::socket;
use crate::access::policy::{SignedInOrGuest, Ticket};
use crate::api::operation::Authorized;
use crate::http::answer::{NotReplayable, Upgraded};
use crate::http::code::Code;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::{Empty, Input, Raw};
use crate::live::state::RealTime;

/// A ticket that opens one socket or event stream, once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketTicket {
    /// Pass it as the query parameter `ticket`.
    ticket: String,
    /// Lifetime of the ticket, in seconds.
    expires_in: u64,
}

pub async fn issue_ticket(
    request: Authorized<SignedInOrGuest, Empty>,
    state: RealTime,
) -> Result<NotReplayable<SocketTicket>, ApiError> {
    check_access(&state, request.access.caller).await?;
    let ticket = state.gate.tickets.give(request.access.caller, state.now()).map_err(ApiError::internal)?;
    Ok(NotReplayable(Reply::created(SocketTicket { ticket, expires_in: state.gate.tickets.life.as_secs() })))
}

/// The request itself, to be upgraded to another protocol.
pub struct Connection {
    request: HttpRequest,
    payload: Payload,
}

impl Input for Connection {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let payload = match body {
            Raw::Stream(payload, _) => payload,
            Raw::Bytes(_) => Payload::None,
        };
        Ok(Self { request: request.clone(), payload })
    }
}

pub async fn open_socket(request: Authorized<Ticket, Connection>, state: RealTime) -> Result<Upgraded, ApiError> {
    let caller = request.access.caller;
    check_access(&state, caller).await?;
    let Some(permit) = state.sockets.acquire(caller.uuid()) else {
        let most =
            format!("An account may have at most {} open sockets. Close one first.", state.config.sockets.per_account);
        let retry_after = Some(std::time::Duration::from_secs(5));
        return Err(ApiError { retry_after, ..ApiError::with_message(Code::TOO_MANY_REQUESTS, most) });
    };
    let Connection { request, payload } = request.input;
    socket::open(state, caller, permit, &request, payload).map(Upgraded)
}
