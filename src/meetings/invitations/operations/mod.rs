//! The operations on meeting invitations, one function each.

mod answering;
mod asking;
mod sending;

pub use answering::{accept, decline, must_lead, preview};
pub use asking::{InvitationRequest, invite};
pub use sending::{resend, revoke};

use actors::ids::Id;
use actors::meeting::{Meeting, Status};

use super::model::MeetingInvitation;
use super::store::{self, Filter};
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;
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
    filter: Filter,
    page: PageQuery,
) -> Result<List<MeetingInvitation>, ApiError> {
    let now = state.now();
    let read = state.db.read(move |conn| {
        Box::pin(async move {
            let (found, total_count) = store::list(conn, meeting_id, &filter, &page, now).await?;
            let (found, next_cursor) = page.cut(found, |invitation| invitation.id.uuid());
            let items = found.into_iter().map(|invitation| MeetingInvitation::of(invitation, now)).collect();
            Ok::<_, DbError>(List { items, next_cursor, total_count })
        })
    });
    read.await.map_err(ApiError::from)
}

/// Checks that the meeting has neither ended nor been cancelled: until then, invitations can be sent and answered.
///
/// # Errors
/// 409 when it has ended or was cancelled.
fn must_go_on(meeting: &Meeting) -> Result<(), ApiError> {
    match meeting.status() {
        Status::Scheduled | Status::Live => Ok(()),
        Status::Ended => Err(ApiError::saying(Code::INVALID_STATE, "The meeting has ended.")),
        Status::Cancelled => Err(ApiError::saying(Code::INVALID_STATE, "The meeting was cancelled.")),
    }
}
