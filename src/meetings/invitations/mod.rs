//! Invitations to meetings: who is invited, by e-mail with a calendar entry, and who joins by the link in it.
//!
//! ```text
//!   invite --> row, token (hash only), e-mail --> link --> preview, accept --Admit--> the meeting adds the participant
//!                                                      `--> decline          `--> guest token, for this meeting only
//! ```
//! An acceptance, and a revocation that removes a participant, are written together with the meeting in one
//! transaction: see [`projection`]. E-mails about changes of the meeting are sent by a job: see [`calendar_updates`].

pub mod bodies;
pub mod calendar;
pub mod calendar_updates;
pub mod delivery;
pub mod emails;
pub mod model;
pub mod operations;
pub mod projection;
pub mod routes;
pub mod store;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};

use self::model::InvitationChanged;
use super::MeetingSnapshot;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings::state::Meetings;

/// An invitation of a meeting, as a resource for hosts.
pub struct InvitationWithMeeting {
    pub meeting: MeetingSnapshot,
    pub invitation: model::Invitation,
}

/// Whether events of this kind are published only to the hosts of the meeting that they are about.
#[must_use]
pub fn is_for_hosts(event: EventKind) -> bool {
    matches!(event, EventKind::InvitationUpdated | EventKind::InvitationAccepted | EventKind::InvitationDeclined)
}

/// Whether the caller hosts the meeting that an invitation event is about.
///
/// # Errors
/// 503 when that can't be determined at the moment.
pub async fn receives_invitation_events(state: &Meetings, caller: Caller, data: &str) -> Result<bool, ApiError> {
    let Ok(InvitationChanged { meeting_id, .. }) = serde_json::from_str(data) else { return Ok(false) };
    match MeetingSnapshot::find(state, meeting_id, caller).await {
        Ok(found) => Ok(found.relation.may_host()),
        Err(failure) if failure.code == Code::SERVICE_UNAVAILABLE => Err(failure),
        Err(_) => Ok(false),
    }
}

impl Resource for InvitationWithMeeting {
    type State = Meetings;
    type Ids = (Id<actors::meeting::Meeting>, Id<ids::Invitation>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("meetingId")?, path.id("invitationId")?))
    }

    async fn find(state: &Meetings, (meeting_id, id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let Loaded { relation, resource } = MeetingSnapshot::find(state, meeting_id, caller).await?;
        let meeting = resource?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
        let resource = match found.filter(|invitation| invitation.meeting_id == meeting_id) {
            Some(invitation) => Ok(Self { meeting, invitation }),
            None => Err(ApiError::of(Code::NOT_FOUND)),
        };
        Ok(Loaded { relation, resource })
    }
}
