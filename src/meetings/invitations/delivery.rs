//! Tracks the delivery of invitation e-mails: QUEUED, then SENT or FAILED. Each change is published to the hosts.

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use async_trait::async_trait;

use super::model::{Delivery, Invitation, InvitationChanged};
use super::{projection, store};
use crate::db::{Conn, DbError};
use crate::jobs::JobOutcome;
use crate::jobs::mail::Delivered;
use crate::meetings;

/// The kind of the reference by which delivery outcomes of invitation e-mails are reported.
pub const KIND: &str = "meeting invitation";

/// Stores delivery outcomes in invitations.
pub struct Deliveries;

/// Returns the reference of the newest sending of the invitation. Once it is sent again, outcomes of this sending are
/// ignored.
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

    async fn record(
        &self,
        conn: &mut Conn,
        id: &str,
        outcome: JobOutcome<'_>,
        now: Time,
        request: &RequestId,
    ) -> Result<Vec<EventRecord>, DbError> {
        let (id, send_count) =
            referred(id).ok_or_else(|| DbError::Broken(format!("{id} is not the reference of an invitation")))?;
        let delivery = match outcome {
            JobOutcome::Done => Delivery::Sent,
            JobOutcome::Failed(_) => Delivery::Failed,
        };
        let Some(invitation) = store::deliver(conn, id, send_count, delivery).await? else { return Ok(Vec::new()) };
        let Some(meeting) = meetings::store::find(conn, invitation.meeting_id).await? else { return Ok(Vec::new()) };
        let changed = InvitationChanged { id, meeting_id: meeting.id };
        Ok(vec![projection::append_event(conn, &meeting, EventKind::InvitationUpdated, changed, now, request).await?])
    }
}
