//! Room credentials, and what the media server tells: in and out.

use actix_web::HttpRequest;
use bytes::Bytes;

use super::model::RoomCredentials;
use super::operations;
use super::webhook::{self, Signed};
use crate::access::guard::Present;
use crate::api::operation::Allowed;
use crate::http::answer::Unkept;
use crate::http::code::Code;
use crate::http::envelope::{Nothing, Reply};
use crate::http::failure::Failure;
use crate::http::input::{Empty, Input, Raw, buffer};
use crate::meetings::state::Meetings;
use crate::meetings::{Meeting, place_of};

/// The largest webhook.
const WEBHOOK_BYTES: usize = 64 * 1024;

pub async fn issue(may: Allowed<Present<Meeting>, Empty>, state: Meetings) -> Result<Unkept<RoomCredentials>, Failure> {
    let meeting = &may.by.thing;
    let own = place_of(&meeting.state, may.by.caller).ok_or_else(|| Failure::of(Code::FORBIDDEN))?;
    let issued = operations::issue(&state, meeting, own.id, may.request).await?;
    Ok(Unkept(Reply::ok(issued)))
}

/// The bytes of a webhook, whatever they say they are.
pub struct Told(Bytes);

impl Input for Told {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, Failure> {
        buffer(request, body, WEBHOOK_BYTES).await.map(Self)
    }
}

pub async fn receive(may: Allowed<Signed, Told>, state: Meetings) -> Result<Reply<Nothing>, Failure> {
    webhook::receive(&state, &may.by, &may.input.0, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}
