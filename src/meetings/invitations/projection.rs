//! Updates invitations when their meeting changes. Written in the transaction of the meeting, so that a crash can't
//! separate the two.

use actors::event_kind::EventKind;
use actors::live::{Change, EventRecord, RequestId, Topic, TopicKind};
use actors::meeting::{Event, Meeting, Participant, Presence};
use actors::time::Time;

use super::calendar_updates;
use super::model::{self, InvitationChanged};
use super::store::{self, AcceptOutcome, Admission};
use crate::db::{Conn, DbError, events};

/// A participant was admitted by an invitation that has been answered or revoked in the meantime: the meeting must not
/// be saved.
#[derive(Debug)]
pub struct NotTheirs;

/// Marks the invitations as accepted by which participants were admitted. Returns the events to publish.
pub async fn admitted(
    conn: &mut Conn,
    before: &Meeting,
    meeting: &Meeting,
    now: Time,
    request: &RequestId,
) -> Result<Result<Vec<EventRecord>, NotTheirs>, DbError> {
    let mut records = Vec::new();
    for participant in meeting.participants.changed_since(&before.participants) {
        let Some(invitation_id) = participant.invitation else { continue };
        let was = before.participants.get(&participant.id);
        let key = |one: &Participant| (one.invitation, one.user_id, one.is_removed());
        if was.map(key) == Some(key(participant)) || participant.is_removed() {
            continue;
        }
        let admission = Admission {
            invitation_id,
            meeting_id: meeting.id,
            participant_id: participant.id,
            user_id: participant.user_id,
        };
        match store::accept(conn, admission, now).await? {
            AcceptOutcome::Now => {
                let changed = InvitationChanged { id: invitation_id, meeting_id: meeting.id };
                records.push(append_event(conn, meeting, EventKind::InvitationAccepted, changed, now, request).await?);
            }
            AcceptOutcome::Before => {}
            AcceptOutcome::Not => return Ok(Err(NotTheirs)),
        }
    }
    Ok(Ok(records))
}

/// Whether a meeting has invitations, open or not. [`follow`] wants to know it only for what [`is_shown`].
#[derive(Debug, Clone, Copy)]
pub struct HasInvitations(pub bool);

/// Whether the change shows in calendar entries.
pub fn is_shown(before: &Meeting, change: &Change<Meeting>) -> bool {
    let after = &change.next;
    let is_cancelled = |event: &Event| matches!(event, Event::Cancelled { .. });
    before.scheduled_at != after.scheduled_at || before.title != after.title || change.events.iter().any(is_cancelled)
}

/// Applies an event of the meeting to its invitations. Returns whether a job was enqueued.
pub async fn follow(
    conn: &mut Conn,
    (before, meeting): (&Meeting, &Meeting),
    event: &Event,
    HasInvitations(has_any): HasInvitations,
    now: Time,
    request: &RequestId,
) -> Result<bool, DbError> {
    match event {
        Event::Updated => {
            let is_elsewhen = before.scheduled_at != meeting.scheduled_at;
            if is_elsewhen {
                for one in store::moving(conn, meeting.id, now).await? {
                    store::set_expiry(conn, one.id, model::expiry(one.last_sent_at, meeting.scheduled_at)).await?;
                }
            }
            if (is_elsewhen || before.title != meeting.title) && has_any {
                calendar_updates::enqueue(conn, meeting, now, request).await?;
                return Ok(true);
            }
        }
        Event::Cancelled { .. } => {
            store::revoke_all_open(conn, meeting.id, now).await?;
            if has_any {
                calendar_updates::enqueue(conn, meeting, now, request).await?;
                return Ok(true);
            }
        }
        Event::Removed { participant } => {
            let removed = meeting.participants.get(participant);
            // No user removed them: what admitted them was revoked.
            let taken_back = removed.filter(|one| matches!(one.presence, Presence::Removed { by: None, .. }));
            if let Some(invitation) = taken_back.and_then(|one| one.invitation) {
                store::revoke(conn, invitation, now).await?;
            }
        }
        Event::Started { .. }
        | Event::Ended { .. }
        | Event::Joined { .. }
        | Event::Left { .. }
        | Event::Changed { .. }
        | Event::Consented { .. }
        | Event::Recording { .. }
        | Event::Forgotten { .. } => {}
    }
    Ok(false)
}

/// Appends an event about an invitation to the topic of its project.
pub async fn append_event(
    conn: &mut Conn,
    meeting: &Meeting,
    kind: EventKind,
    changed: InvitationChanged,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let topic = Topic { kind: TopicKind::Project, id: meeting.project_id.uuid() };
    let data = serde_json::to_string(&changed).map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic, kind, &data, now, request).await
}
