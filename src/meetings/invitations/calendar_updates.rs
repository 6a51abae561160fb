//! Background job: informs the invitees of a meeting that it changed or was cancelled, by e-mail with a newer calendar
//! entry.
//!
//! Safe to repeat: an invitation stores the version that was sent last, in the transaction that enqueues the e-mail.
//! Two successive changes may therefore be sent as one, in the state after both.

use std::time::Duration;

use actors::ids::Id;
use actors::language::Language;
use actors::live::RequestId;
use actors::meeting::{Meeting, State};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::model::Invitation;
use super::{calendar, emails, store};
use crate::db::{Conn, DbError};
use crate::jobs::mail::QueuedEmail;
use crate::jobs::{self, Handler, Job, JobError, JobPayload, Turns};
use crate::meetings::model::join_url;
use crate::meetings::state::Meetings;
use crate::{accounts, meetings, projects};

/// E-mails that one transaction enqueues.
const AT_ONCE: i64 = 20;

/// Informs all invitees of a meeting whose calendar entry is outdated.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SendCalendarUpdates {
    meeting_id: Id<Meeting>,
}

impl JobPayload for SendCalendarUpdates {
    const KIND: &'static str = "meeting notices";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues the job that informs all invitees; it runs after the transaction has been committed. Projects take turns.
///
/// # Errors
/// Any database error.
pub async fn enqueue(conn: &mut Conn, meeting: &Meeting, now: Time, request: &RequestId) -> Result<(), DbError> {
    let (project, job) = (meeting.project_id.to_string(), SendCalendarUpdates { meeting_id: meeting.id });
    jobs::enqueue_in_turn(conn, &project, &job, now, request).await.map(drop)
}

/// Runs [`SendCalendarUpdates`].
pub struct SendCalendarUpdatesHandler {
    pub state: Meetings,
}

#[async_trait]
impl Handler for SendCalendarUpdatesHandler {
    type Payload = SendCalendarUpdates;

    /// What is enqueued stays enqueued: the next attempt goes on with the other invitees.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(15 * 60)
    }

    async fn run(&self, job: &Job, payload: SendCalendarUpdates) -> Result<(), JobError> {
        loop {
            let (state, request) = (self.state.clone(), job.request.clone());
            let processed = self.state.db.write(move |conn| {
                Box::pin(async move { enqueue_some(&state, conn, payload.meeting_id, &request).await })
            });
            let processed: usize = processed.await?;
            self.state.jobs.wake();
            if processed == 0 {
                return Ok(());
            }
        }
    }
}

/// Enqueues e-mails to some of the invitees whose calendar entry is outdated. Returns how many of them it processed.
async fn enqueue_some(
    state: &Meetings,
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    request: &RequestId,
) -> Result<usize, DbError> {
    let now = state.now();
    let Some(meeting) = meetings::store::find(conn, meeting_id).await? else { return Ok(0) };
    let cancelled_at = match meeting.state {
        State::Scheduled | State::Live { .. } => None,
        State::Cancelled { cancelled_at, .. } => Some(cancelled_at),
        // Changes from before the end no longer matter.
        State::Ended { .. } => return Ok(0),
    };
    let Some(project) = projects::store::find(conn, meeting.project_id).await? else { return Ok(0) };
    let outdated = store::outdated::find(conn, &meeting, cancelled_at, now, AT_ONCE).await?;
    for invitation in &outdated {
        store::outdated::set_sequence(conn, invitation.id, meeting.version).await?;
        let participant = meeting.participants.get(&invitation.participant_id);
        if participant.is_some_and(actors::meeting::Participant::is_removed) {
            continue;
        }
        let own = own_language(conn, invitation).await?;
        let inviter = accounts::store::account(conn, invitation.invited_by_id).await?;
        let locale = project.email_locale(own, inviter.as_ref());
        let inviter = inviter.map(|inviter| inviter.full_name).unwrap_or_default();
        let join_url = join_url(&state.url, meeting.id);
        let entry = entry(state, &meeting, &join_url, invitation, &inviter, now);
        let words = |calendar| emails::InvitationEmail {
            to: &invitation.email,
            locale,
            meeting: &meeting,
            project: &project.name,
            inviter: &inviter,
            calendar,
        };
        let email = match &meeting.state {
            State::Cancelled { reason, .. } => emails::cancelled(words(calendar::cancel(entry)), reason.as_deref()),
            _ => emails::changed(words(calendar::request(entry)), join_url.clone()),
        };
        state.outbox.send(conn, QueuedEmail::from(email).in_turn_of(project.id), now, request).await?;
    }
    Ok(outdated.len())
}

/// Returns the data of an invitee's calendar entry.
pub fn entry<'a>(
    state: &'a Meetings,
    meeting: &'a Meeting,
    join_url: &'a str,
    invitation: &'a Invitation,
    inviter: &'a str,
    now: Time,
) -> calendar::CalendarEntry<'a> {
    calendar::CalendarEntry {
        meeting,
        join_url,
        from: &state.config.mail.from,
        inviter,
        email: &invitation.email,
        name: invitation.display_name.as_deref(),
        role: invitation.role,
        accepted: invitation.accepted_at().is_some(),
        now,
    }
}

/// Returns the language of an invitee who has an account.
pub async fn own_language(conn: &mut Conn, invitation: &Invitation) -> Result<Option<Language>, DbError> {
    let account = match invitation.user_id {
        Some(user_id) => accounts::store::account(conn, user_id).await?,
        None => accounts::store::account_of(conn, &invitation.email).await?,
    };
    Ok(account.map(|account| account.language))
}
