//! Invitations to meetings: who is asked, by mail with a calendar entry, and who comes by the link in it.
//!
//! ```text
//!   invite --> row, token (hash alone), letter --> link --> preview, accept --Admit--> the meeting decides who has a place
//!                                                    `--> decline           `--> guest token, for this meeting alone
//! ```
//! That somebody accepted, or that what let them in was taken back, is written with the meeting, in one transaction: see
//! [`kept`]. Letters that follow a change of the meeting are written by a job: see [`notices`].

pub mod calendar;
pub mod delivery;
pub mod kept;
pub mod letters;
pub mod model;
pub mod notices;
pub mod operations;
pub mod routes;
pub mod store;

use actors::ids::{self, Id};

use self::model::InvitationChanged;
use super::Meeting;
use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::db::Failed;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::meetings::state::Meetings;

/// An invitation of a meeting, for those who host it.
pub struct Invitation {
    pub meeting: Meeting,
    pub invitation: model::Invitation,
}

/// Whether an event is told to those alone who host the meeting that it is about.
#[must_use]
pub fn is_for_hosts(event: &str) -> bool {
    event.starts_with("invitation.")
}

/// Whether somebody hosts the meeting that an event of an invitation is about.
///
/// # Errors
/// 503: it can't be known at the moment.
pub async fn is_told(state: &Meetings, caller: Caller, data: &str) -> Result<bool, Failure> {
    let Ok(InvitationChanged { meeting_id, .. }) = serde_json::from_str(data) else { return Ok(false) };
    match Meeting::find(state, meeting_id, caller).await {
        Ok(found) => Ok(found.standing.may_host()),
        Err(failure) if failure.code == Code::SERVICE_UNAVAILABLE => Err(failure),
        Err(_) => Ok(false),
    }
}

impl Guarded for Invitation {
    type State = Meetings;
    type Ids = (Id<actors::meeting::Meeting>, Id<ids::Invitation>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        Ok((path.id("meetingId")?, path.id("invitationId")?))
    }

    async fn find(state: &Meetings, (meeting_id, id): Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let Found { standing, thing } = Meeting::find(state, meeting_id, caller).await?;
        let meeting = thing?;
        let found = state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = found.map_err(|failed: Failed| Failure::from(failed))?;
        let thing = match found.filter(|invitation| invitation.meeting_id == meeting_id) {
            Some(invitation) => Ok(Self { meeting, invitation }),
            None => Err(Failure::of(Code::NOT_FOUND)),
        };
        Ok(Found { standing, thing })
    }
}
