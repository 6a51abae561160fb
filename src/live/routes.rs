//! Real time: tickets, and sockets.

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use serde::Serialize;
use utoipa::ToSchema;

use super::ending::still_stands;
use super::socket;
use crate::access::guard::{SignedInOrGuest, Ticket};
use crate::api::operation::Allowed;
use crate::http::answer::{Unkept, Upgraded};
use crate::http::code::Code;
use crate::http::envelope::Reply;
use crate::http::failure::Failure;
use crate::http::input::{Empty, Input, Raw};
use crate::live::state::RealTime;

/// What opens one socket or stream, once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SocketTicket {
    /// Give it as `?ticket=`.
    ticket: String,
    /// Seconds.
    expires_in: u64,
}

pub async fn issue_ticket(
    may: Allowed<SignedInOrGuest, Empty>,
    state: RealTime,
) -> Result<Unkept<SocketTicket>, Failure> {
    still_stands(&state, may.by.caller).await?;
    let ticket = state.tickets.give(may.by.caller, state.now()).map_err(Failure::internal)?;
    Ok(Unkept(Reply::created(SocketTicket { ticket, expires_in: state.tickets.life.as_secs() })))
}

/// The request itself, to go on as something else.
pub struct Connection {
    request: HttpRequest,
    payload: Payload,
}

impl Input for Connection {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, Failure> {
        let payload = match body {
            Raw::Stream(payload, _) => payload,
            Raw::Bytes(_) => Payload::None,
        };
        Ok(Self { request: request.clone(), payload })
    }
}

pub async fn open_socket(may: Allowed<Ticket, Connection>, state: RealTime) -> Result<Upgraded, Failure> {
    let caller = may.by.caller;
    still_stands(&state, caller).await?;
    let Some(place) = state.sockets.take(caller.uuid()) else {
        let most = format!("An account has {} sockets at most. Close one first.", state.config.sockets.per_account);
        let retry_after = Some(std::time::Duration::from_secs(5));
        return Err(Failure { retry_after, ..Failure::saying(Code::TOO_MANY_REQUESTS, most) });
    };
    let Connection { request, payload } = may.input;
    socket::open(state, caller, place, &request, payload).map(Upgraded)
}
