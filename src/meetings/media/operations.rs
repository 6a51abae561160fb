//! The operation that issues room credentials.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{MeetingStatus, Participant};

use super::model::{Barred, RoomCredentials, RoomGrants, may_enter, may_publish};
use super::name;
use crate::clients::livekit::{MediaServerError, Pass, RoomSpec, SOURCES};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings::MeetingSnapshot;
use crate::meetings::commands::active;
use crate::meetings::state::Meetings;

/// Lifetime of a token for entering a room. A client that loses its connection later requests a new one.
const LIFE: Duration = Duration::from_secs(10 * 60);
/// How long an empty room stays open: longer than any meeting, since a meeting that ends closes its room itself. A room
/// that is finished earlier was therefore closed explicitly.
const IDLE: Duration = Duration::from_secs(12 * 3600);
/// `Retry-After` where an operator has to configure something first.
const UNTIL_SET: Duration = Duration::from_secs(60);

/// Issues credentials for the meeting's room, which is created if it does not exist.
///
/// # Errors
/// 403 or 409 when the participant may not enter the room, and 409 in an archived project; 503 when no media server is
/// configured or it can't be reached.
pub async fn issue(
    state: &Meetings,
    meeting: &MeetingSnapshot,
    who: Id<ids::Participant>,
    request: RequestId,
) -> Result<RoomCredentials, ApiError> {
    active(state, meeting).await?;
    allowed(meeting, who)?;
    let server = state
        .rooms
        .server()
        .ok_or_else(|| ApiError { retry_after: Some(UNTIL_SET), ..ApiError::of(Code::MEDIA_SERVER_NOT_CONFIGURED) })?;
    let id = meeting.state.id;
    let room_name = name(id);
    let metadata = serde_json::json!({"meetingId": id, "projectId": meeting.state.project_id}).to_string();
    let room = RoomSpec { name: &room_name, most: state.config.meetings.people, idle: IDLE, metadata };
    server.make_room(&room, &request).await.map_err(unavailable)?;
    // In the meantime the participant may have been removed, or the meeting have ended.
    let now = state.registry.snapshot(id).await.map_err(|away| ApiError::unavailable(away.0))?;
    let now = now.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?;
    let own = allowed(&now, who)?;
    let identity = own.id.to_string();
    let may_publish = may_publish(own.role);
    let pass = Pass { room: &room_name, identity: &identity, display_name: &own.display_name, may_publish, life: LIFE };
    let token = server.token(&pass).map_err(ApiError::internal)?;
    Ok(RoomCredentials {
        server_url: server.url().to_owned(),
        role: own.role,
        grants: RoomGrants {
            can_publish: may_publish,
            can_subscribe: true,
            can_publish_data: may_publish,
            can_publish_sources: if may_publish { SOURCES.to_vec() } else { Vec::new() },
        },
        expires_at: token.expires_at,
        token: token.text,
        identity,
        room_name,
    })
}

/// Returns the participant if they may enter the room.
fn allowed(meeting: &MeetingSnapshot, who: Id<ids::Participant>) -> Result<&Participant, ApiError> {
    let own = meeting.state.participants.get(&who).ok_or_else(|| ApiError::of(Code::FORBIDDEN))?;
    may_enter(&meeting.state, own).map(|()| own).map_err(|barred| match barred {
        Barred::Removed => {
            ApiError::with_message(Code::FORBIDDEN, "You were removed from this meeting. Ask to be invited again.")
        }
        Barred::NotJoined => ApiError::with_message(Code::INVALID_STATE, "Join the meeting first."),
        Barred::Meeting(MeetingStatus::Scheduled | MeetingStatus::Live) => {
            ApiError::with_message(Code::INVALID_STATE, "The meeting has not started.")
        }
        Barred::Meeting(MeetingStatus::Ended) => ApiError::with_message(Code::INVALID_STATE, "The meeting has ended."),
        Barred::Meeting(MeetingStatus::Cancelled) => {
            ApiError::with_message(Code::INVALID_STATE, "The meeting was cancelled.")
        }
    })
}

fn unavailable(fault: MediaServerError) -> ApiError {
    let (MediaServerError::Unavailable(why) | MediaServerError::Refused(why)) = fault;
    ApiError {
        cause: Some(why.into()),
        retry_after: Some(Duration::from_secs(2)),
        ..ApiError::of(Code::MEDIA_SERVER_UNAVAILABLE)
    }
}
