//! What becomes of the letters of invitations: QUEUED, then SENT or FAILED, and hosts hear of it.

use actors::ids::{self, Id};
use actors::live::{RequestId, Told};
use actors::time::Time;
use async_trait::async_trait;

use super::model::{Delivery, Invitation, InvitationChanged};
use super::{kept, store};
use crate::db::{Conn, Failed};
use crate::jobs::Outcome;
use crate::jobs::mail::Delivered;
use crate::meetings;

/// What its letters are told under.
pub const KIND: &str = "meeting invitation";

/// Keeps what became of letters.
pub struct Deliveries;

/// What a letter is told to: this sending of the invitation. A later one makes news of this one worthless.
#[must_use]
pub fn reference(invitation: &Invitation) -> String {
    format!("{}/{}", invitation.id, invitation.send_count)
}

fn referred(text: &str) -> Option<(Id<ids::Invitation>, i64)> {
    let (id, send_count) = text.split_once('/')?;
    Some((id.parse().ok()?, send_count.parse().ok()?))
}

#[async_trait]
impl Delivered for Deliveries {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn keep(
        &self,
        conn: &mut Conn,
        id: &str,
        outcome: Outcome<'_>,
        now: Time,
        request: &RequestId,
    ) -> Result<Vec<Told>, Failed> {
        let (id, send_count) = referred(id).ok_or_else(|| Failed::Broken(format!("{id} names no invitation")))?;
        let delivery = match outcome {
            Outcome::Done => Delivery::Sent,
            Outcome::Failed(_) => Delivery::Failed,
        };
        let Some(invitation) = store::deliver(conn, id, send_count, delivery).await? else { return Ok(Vec::new()) };
        let Some(meeting) = meetings::store::find(conn, invitation.meeting_id).await? else { return Ok(Vec::new()) };
        let changed = InvitationChanged { id, meeting_id: meeting.id };
        Ok(vec![kept::tell(conn, &meeting, "invitation.updated", changed, now, request).await?])
    }
}
