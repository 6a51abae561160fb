//! Invitations to meetings, one function an operation.

mod answering;
mod asking;
mod sending;

pub use answering::{accept, decline, must_lead, preview};
pub use asking::{Asked, invite};
pub use sending::{resend, revoke};

use actors::ids::Id;
use actors::meeting::{Meeting, Status};

use super::model::MeetingInvitation;
use super::store::{self, Filter};
use crate::db::Failed;
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::meetings::state::Meetings;

/// Keeps these tokens apart from those of other links.
const PURPOSE: &str = "meeting invitation";

/// A meeting's invitations, newest first.
///
/// # Errors
/// The database's own.
pub async fn list(
    state: &Meetings,
    meeting_id: Id<Meeting>,
    filter: Filter,
    page: Page,
) -> Result<List<MeetingInvitation>, Failure> {
    let now = state.now();
    let read = state.db.read(move |conn| {
        Box::pin(async move {
            let (found, total_count) = store::list(conn, meeting_id, &filter, &page, now).await?;
            let (found, next_cursor) = page.cut(found, |invitation| invitation.id.uuid());
            let items = found.into_iter().map(|invitation| MeetingInvitation::of(invitation, now)).collect();
            Ok::<_, Failed>(List { items, next_cursor, total_count })
        })
    });
    read.await.map_err(Failure::from)
}

/// Who was asked may come until the meeting is over.
///
/// # Errors
/// 409: it is.
fn must_go_on(meeting: &Meeting) -> Result<(), Failure> {
    match meeting.status() {
        Status::Scheduled | Status::Live => Ok(()),
        Status::Ended => Err(Failure::saying(Code::INVALID_STATE, "The meeting has ended.")),
        Status::Cancelled => Err(Failure::saying(Code::INVALID_STATE, "The meeting was cancelled.")),
    }
}
