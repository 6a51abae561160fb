//! Room credentials.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Participant, Status};

use super::model::{Barred, RoomCredentials, RoomGrants, may_enter, may_publish};
use super::name;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::meetings::Meeting;
use crate::meetings::operations::active;
use crate::meetings::state::Meetings;
use crate::outside::livekit::{Fault, Pass, Room, SOURCES};

/// How long a token lets somebody in. Who loses the connection later asks for another one.
const LIFE: Duration = Duration::from_secs(10 * 60);
/// How long a room stays with nobody in it: longer than any meeting, which closes its room by itself when it is over. So a
/// room that is finished before was finished by somebody.
const IDLE: Duration = Duration::from_secs(12 * 3600);
/// When it may be tried again where somebody has to set something first.
const UNTIL_SET: Duration = Duration::from_secs(60);

/// Lets somebody into the meeting's room, which is made if it isn't there.
///
/// # Errors
/// 403, 409: why they may not come in. 503: there is no media server, or it can't be reached.
pub async fn issue(
    state: &Meetings,
    meeting: &Meeting,
    who: Id<ids::Participant>,
    request: RequestId,
) -> Result<RoomCredentials, Failure> {
    active(state, meeting).await?;
    allowed(meeting, who)?;
    let server = state
        .rooms
        .server()
        .ok_or_else(|| Failure { retry_after: Some(UNTIL_SET), ..Failure::of(Code::MEDIA_SERVER_NOT_CONFIGURED) })?;
    let id = meeting.state.id;
    let room_name = name(id);
    let metadata = serde_json::json!({"meetingId": id, "projectId": meeting.state.project_id}).to_string();
    let room = Room { name: &room_name, most: state.config.meetings.people, idle: IDLE, metadata };
    server.make_room(&room, &request).await.map_err(unavailable)?;
    // Meanwhile they may have been put out, or the meeting have ended.
    let now = state.registry.snapshot(id).await.map_err(|away| Failure::unavailable(away.0))?;
    let now = now.ok_or_else(|| Failure::of(Code::MEETING_NOT_FOUND))?;
    let own = allowed(&now, who)?;
    let identity = own.id.to_string();
    let may_publish = may_publish(own.role);
    let pass = Pass { room: &room_name, identity: &identity, display_name: &own.display_name, may_publish, life: LIFE };
    let token = server.token(&pass).map_err(Failure::internal)?;
    Ok(RoomCredentials {
        server_url: server.url().to_owned(),
        role: own.role.into(),
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

/// Their place, from which they may come in.
fn allowed(meeting: &Meeting, who: Id<ids::Participant>) -> Result<&Participant, Failure> {
    let own = meeting.state.participants.get(&who).ok_or_else(|| Failure::of(Code::FORBIDDEN))?;
    may_enter(&meeting.state, own).map(|()| own).map_err(|barred| match barred {
        Barred::Removed => {
            Failure::saying(Code::FORBIDDEN, "You were removed from this meeting. Ask to be invited again.")
        }
        Barred::NotJoined => Failure::saying(Code::INVALID_STATE, "Join the meeting first."),
        Barred::Meeting(Status::Scheduled | Status::Live) => {
            Failure::saying(Code::INVALID_STATE, "The meeting has not begun.")
        }
        Barred::Meeting(Status::Ended) => Failure::saying(Code::INVALID_STATE, "The meeting has ended."),
        Barred::Meeting(Status::Cancelled) => Failure::saying(Code::INVALID_STATE, "The meeting was cancelled."),
    })
}

fn unavailable(fault: Fault) -> Failure {
    let (Fault::Away(why) | Fault::Refused(why)) = fault;
    Failure {
        cause: Some(why.into()),
        retry_after: Some(Duration::from_secs(2)),
        ..Failure::of(Code::MEDIA_SERVER_UNAVAILABLE)
    }
}
