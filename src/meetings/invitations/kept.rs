//! What becomes of invitations when their meeting changes: written with the meeting, in its transaction, so that no kill comes
//! between the two.

use actors::live::{RequestId, Told, Topic, TopicKind};
use actors::meeting::{Event, Meeting, Participant, Presence};
use actors::time::Time;

use super::model::{self, InvitationChanged};
use super::notices;
use super::store::{self, Given, Taken};
use crate::db::{Conn, Failed, events};

/// A place was given by an invitation that was answered or taken back meanwhile: the meeting may not be saved.
#[derive(Debug)]
pub struct NotTheirs;

/// Notes what was accepted; answers what is to be told of that.
pub async fn admitted(
    conn: &mut Conn,
    before: &Meeting,
    meeting: &Meeting,
    now: Time,
    request: &RequestId,
) -> Result<Result<Vec<Told>, NotTheirs>, Failed> {
    let mut told = Vec::new();
    for participant in meeting.participants.changed_since(&before.participants) {
        let Some(invitation_id) = participant.invitation else { continue };
        let was = before.participants.get(&participant.id);
        let place = |one: &Participant| (one.invitation, one.user_id, one.is_removed());
        if was.map(place) == Some(place(participant)) || participant.is_removed() {
            continue;
        }
        let given = Given {
            invitation_id,
            meeting_id: meeting.id,
            participant_id: participant.id,
            user_id: participant.user_id,
        };
        match store::accept(conn, given, now).await? {
            Taken::Now => {
                let changed = InvitationChanged { id: invitation_id, meeting_id: meeting.id };
                told.push(tell(conn, meeting, "invitation.accepted", changed, now, request).await?);
            }
            Taken::Before => {}
            Taken::Not => return Ok(Err(NotTheirs)),
        }
    }
    Ok(Ok(told))
}

/// What an event of the meeting does to its invitations; whether a job was made of it.
pub async fn follow(
    conn: &mut Conn,
    before: &Meeting,
    meeting: &Meeting,
    event: &Event,
    now: Time,
    request: &RequestId,
) -> Result<bool, Failed> {
    match event {
        Event::Updated => {
            let is_elsewhen = before.scheduled_at != meeting.scheduled_at;
            if is_elsewhen {
                for one in store::moving(conn, meeting.id, now).await? {
                    store::set_expiry(conn, one.id, model::expiry(one.last_sent_at, meeting.scheduled_at)).await?;
                }
            }
            if (is_elsewhen || before.title != meeting.title) && store::outdated::has_any(conn, meeting.id).await? {
                notices::enqueue(conn, meeting.id, now, request).await?;
                return Ok(true);
            }
        }
        Event::Cancelled { .. } => {
            store::revoke_all_open(conn, meeting.id, now).await?;
            if store::outdated::has_any(conn, meeting.id).await? {
                notices::enqueue(conn, meeting.id, now, request).await?;
                return Ok(true);
            }
        }
        Event::Removed { participant } => {
            let removed = meeting.participants.get(participant);
            // Nobody put them out: what let them in was taken back.
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
        | Event::Forgotten { .. } => {}
    }
    Ok(false)
}

/// An event of an invitation, in its project's topic.
pub async fn tell(
    conn: &mut Conn,
    meeting: &Meeting,
    kind: &str,
    changed: InvitationChanged,
    now: Time,
    request: &RequestId,
) -> Result<Told, Failed> {
    let topic = Topic { kind: TopicKind::Project, id: meeting.project_id.uuid() };
    let data = serde_json::to_string(&changed).map_err(|error| Failed::Broken(error.to_string()))?;
    events::append(conn, topic, kind, &data, now, request).await
}
