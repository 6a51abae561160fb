//! HTTP handlers of room credentials and of the media server's webhooks.

use actix_web::HttpRequest;
use bytes::Bytes;

use super::model::RoomCredentials;
use super::operations;
use super::webhook::{self, SignedWebhook};
use crate::access::policy::Present;
use crate::api::operation::Authorized;
use crate::http::answer::NotReplayable;
use crate::http::code::Code;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, Input, Raw, buffer};
use crate::meetings::state::Meetings;
use crate::meetings::{MeetingSnapshot, participant_of};

/// The largest accepted webhook, in bytes.
const WEBHOOK_BYTES: usize = 64 * 1024;

pub async fn issue(
    request: Authorized<Present<MeetingSnapshot>, Empty>,
    state: Meetings,
) -> Result<NotReplayable<RoomCredentials>, ApiError> {
    let meeting = &request.access.resource;
    let own = participant_of(&meeting.state, request.access.caller).ok_or_else(|| ApiError::of(Code::FORBIDDEN))?;
    let issued = operations::issue(&state, meeting, own.id, request.request_id).await?;
    Ok(NotReplayable(Reply::ok(issued)))
}

/// The raw body of a webhook, whatever its content type.
pub struct WebhookBody(Bytes);

impl Input for WebhookBody {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        buffer(request, body, WEBHOOK_BYTES).await.map(Self)
    }
}

pub async fn receive(
    request: Authorized<SignedWebhook, WebhookBody>,
    state: Meetings,
) -> Result<Reply<Nothing>, ApiError> {
    webhook::receive(&state, &request.access, &request.input.0, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
