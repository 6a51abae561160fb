//! Processes the webhooks of the media server. They must be signed, and even then they are hints: they may be late,
//! duplicated or reordered, or concern a room that is not a meeting's.

use std::time::Duration;

use actix_web::HttpRequest;
use actix_web::http::header::AUTHORIZATION;
use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Command, MediaSession, Meeting, Observation, Participant};

use super::jobs::{self, MediaAction};
use super::model::{is_last_room, is_over, may_publish};
use crate::access::policy::{CountedFor, Policy, Who};
use crate::access::state::Gate;
use crate::clients::livekit::{MediaConnection, Seal, WebhookError, WebhookEvent, What};
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::mounted::{Mounted, Need};
use crate::meetings::commands::ask;
use crate::meetings::state::Meetings;

/// Reasons for which a room is finished although participants will return to it: another room replaced it, it was never
/// opened, or the media server itself is shutting down.
const TEMPORARY_END_REASONS: [&str; 3] = ["ROOM_END_SUPERSEDED", "ROOM_END_OPEN_FAILED", "ROOM_END_SERVER_SHUTDOWN"];

/// The principal of webhooks: the media server, authenticated by its signature. The signature is compared with the body
/// once that has been read.
#[derive(Debug)]
pub struct SignedWebhook(Seal);

impl Policy for SignedWebhook {
    const WHO: Who = Who::Signed;
    type Guard = Gate;
    type Claim = Seal;
    fn claim(request: &HttpRequest, _: &Gate) -> Result<Seal, ApiError> {
        let rooms = &Meetings::of(request)?.rooms;
        let mut headers = request.headers().get_all(AUTHORIZATION);
        let header = headers.next().filter(|_| headers.next().is_none()).and_then(|value| value.to_str().ok());
        let seal = header.zip(rooms.server()).and_then(|(header, server)| server.seal(header));
        seal.ok_or_else(unsigned)
    }
    fn counted_for(_: &Seal) -> CountedFor {
        CountedFor::Nobody
    }
    async fn check(seal: Seal, _: &HttpRequest, _: &Gate) -> Result<Self, ApiError> {
        Ok(Self(seal))
    }
    fn needs() -> Vec<Need> {
        vec![Need::of::<Meetings>()]
    }
}

fn unsigned() -> ApiError {
    ApiError::with_message(Code::UNAUTHORIZED, "The request is not signed by the media server.")
}

/// Processes a webhook. A duplicate or outdated one changes nothing.
///
/// # Errors
/// 401 when another body was signed; 400 when the body is not an event; 503 when the media server should send it again.
pub async fn receive(
    state: &Meetings,
    signed: &SignedWebhook,
    body: &[u8],
    request: RequestId,
) -> Result<(), ApiError> {
    let event = signed.0.open(body).map_err(|error| match error {
        WebhookError::NotSigned => unsigned(),
        WebhookError::Unreadable(why) => ApiError {
            cause: Some(why.into()),
            ..ApiError::with_message(Code::BAD_REQUEST, "The body is not a webhook event.")
        },
    })?;
    if state.rooms.has_received(&event.id) {
        return Ok(());
    }
    apply(state, &event, request).await?;
    if !event.id.is_empty() {
        state.rooms.note_received(event.id);
    }
    Ok(())
}

async fn apply(state: &Meetings, event: &WebhookEvent, request: RequestId) -> Result<(), ApiError> {
    let Ok(id) = event.room.parse::<Id<Meeting>>() else { return Ok(()) };
    let found = state.registry.snapshot(id).await.map_err(|away| ApiError::unavailable(away.0))?;
    let Some(found) = found else { return Ok(()) };
    let meeting = &found.state;
    match &event.what {
        What::RoomStarted | What::Connected(_) if is_over(meeting) => {
            enqueue(state, id, MediaAction::Close, request).await
        }
        What::Connected(connection) => match connection.identity.parse() {
            Ok(who) => match meeting.participants.get(&who).filter(|own| own.is_joined()) {
                Some(own) => {
                    // They connected with a token that was issued before they had this role.
                    if connection.may_publish.is_some_and(|may| may != may_publish(own.role)) {
                        enqueue(state, id, MediaAction::Permit { participant: who }, request.clone()).await?;
                    }
                    report_connection(state, id, own, connection, request).await
                }
                None => enqueue(state, id, MediaAction::Remove { participant: who }, request).await,
            },
            // Not one of our participants, such as a recorder started by the operators of the media server.
            Err(_) => Ok(()),
        },
        What::Disconnected(connection) => {
            if let Ok(who) = connection.identity.parse() {
                state.attendance.note_media(id, who, &session(connection, false));
            }
            Ok(())
        }
        // The connection was never established, unless an earlier webhook reported it.
        What::Aborted(connection) => {
            if let Ok(who) = connection.identity.parse()
                && (knows(meeting, who, connection) || state.attendance.has_noted(id, who, &connection.name))
            {
                state.attendance.note_media(id, who, &session(connection, false));
            }
            Ok(())
        }
        What::RoomFinished { instance, reason } => {
            if TEMPORARY_END_REASONS.contains(&reason.as_str()) || !is_last_room(meeting, event.at) {
                return Ok(());
            }
            // The job checks whether another room has replaced this one, and retries if necessary.
            enqueue(state, id, MediaAction::Finish { instance: instance.clone(), at: event.at }, request).await
        }
        What::RoomStarted | What::Other => Ok(()),
    }
}

fn knows(meeting: &Meeting, who: Id<ids::Participant>, connection: &MediaConnection) -> bool {
    let known = meeting.participants.get(&who).and_then(|one| one.media.as_ref());
    known.is_some_and(|known| known.name == connection.name)
}

fn session(connection: &MediaConnection, is_open: bool) -> MediaSession {
    MediaSession { began_at: connection.began_at, name: connection.name.clone(), is_open }
}

/// Tells the meeting of who connects at once, so that the answer means that it is saved. Another connection of who is
/// connected already can wait, like the end of one: where that is lost, the media server is asked.
async fn report_connection(
    state: &Meetings,
    meeting: Id<Meeting>,
    own: &Participant,
    connection: &MediaConnection,
    request: RequestId,
) -> Result<(), ApiError> {
    let (participant, session) = (own.id, session(connection, true));
    if own.is_connected() {
        state.attendance.note_media(meeting, participant, &session);
        return Ok(());
    }
    let command = Command::See { seen: vec![Observation::Media { participant, session, ago: Duration::ZERO }] };
    match ask(state, meeting, command, request).await {
        Err(failure) if failure.code == Code::MEETING_NOT_FOUND => Ok(()),
        seen => seen.map(drop),
    }
}

async fn enqueue(
    state: &Meetings,
    meeting: Id<Meeting>,
    action: MediaAction,
    request: RequestId,
) -> Result<(), ApiError> {
    let now = state.now();
    let enqueued =
        state.db.write(move |conn| Box::pin(async move { jobs::enqueue(conn, meeting, action, now, &request).await }));
    enqueued.await.map_err(|failed: DbError| ApiError::from(failed))?;
    state.jobs.wake();
    Ok(())
}
