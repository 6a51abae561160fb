//! The operations on meeting invitations, one function each.

mod answering;
mod inviting;
mod sending;

pub use answering::{accept, decline, must_lead, preview};
pub use inviting::{InvitationRequest, invite};
pub use sending::{resend, revoke};

use actors::ids::Id;
use actors::meeting::{Meeting, MeetingStatus};

use super::bodies::Filter;
use super::model::MeetingInvitation;
use super::store;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::meetings::state::Meetings;

/// Separates these tokens from those of other links.
const PURPOSE: &str = "meeting invitation";

/// Lists the invitations of a meeting, newest first.
///
/// # Errors
/// Any database error.
pub async fn list(
    state: &Meetings,
    meeting_id: Id<Meeting>,
    listing: Listing<Filter>,
) -> Result<List<MeetingInvitation>, ApiError> {
    let now = state.now();
    let found = state.db.read(move |conn| Box::pin(store::list(conn, meeting_id, listing, now))).await;
    Ok(found.map_err(ApiError::from)?.map(|invitation| MeetingInvitation::of(invitation, now)))
}

/// Checks that the meeting has neither ended nor been cancelled: until then, invitations can be sent and answered.
///
/// # Errors
/// 409 when it has ended or was cancelled.
fn must_go_on(meeting: &Meeting) -> Result<(), ApiError> {
    match meeting.status() {
        MeetingStatus::Scheduled | MeetingStatus::Live => Ok(()),
        MeetingStatus::Ended => Err(ApiError::with_message(Code::INVALID_STATE, "The meeting has ended.")),
        MeetingStatus::Cancelled => Err(ApiError::with_message(Code::INVALID_STATE, "The meeting was cancelled.")),
    }
}
