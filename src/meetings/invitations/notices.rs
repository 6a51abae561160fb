//! LATER: telling everybody who was asked to a meeting that it changed or was cancelled, by mail with a newer calendar entry.
//!
//! Safe to repeat: an invitation notes the version that was sent last, in the transaction that has the letter sent. Two
//! changes in a row may so be told at once, in the state after both.

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::{Meeting, State};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::model::Invitation;
use super::{calendar, letters, store};
use crate::accounts;
use crate::accounts::model::{Account, Language};
use crate::db::{Conn, Failed};
use crate::jobs::mail::{Mailing, Tongue};
use crate::jobs::{self, Fault, Handler, Job};
use crate::meetings;
use crate::meetings::model::join_url;
use crate::meetings::state::Meetings;
use crate::projects;
use crate::projects::model::Project;

const KIND: &str = "meeting notices";
/// Letters in one transaction.
const AT_ONCE: i64 = 20;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    meeting_id: Id<Meeting>,
}

/// Has everybody told once the transaction stands.
///
/// # Errors
/// The database's own.
pub async fn enqueue(conn: &mut Conn, meeting_id: Id<Meeting>, now: Time, request: &RequestId) -> Result<(), Failed> {
    jobs::enqueue(conn, KIND, &Payload { meeting_id }, now, request).await.map(drop)
}

/// Tells them.
pub struct Notices {
    pub state: Meetings,
}

#[async_trait]
impl Handler for Notices {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let payload: Payload = serde_json::from_str(&job.payload).map_err(|error| Fault::Never(error.to_string()))?;
        loop {
            let (state, request) = (self.state.clone(), job.request.clone());
            let told = self
                .state
                .db
                .write(move |conn| Box::pin(async move { some(&state, conn, payload.meeting_id, &request).await }));
            let told: usize = told.await.map_err(|failed: Failed| Fault::Again(failed.to_string()))?;
            self.state.jobs.wake();
            if told == 0 {
                return Ok(());
            }
        }
    }
}

/// Tells some of them; how many there were.
async fn some(
    state: &Meetings,
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    request: &RequestId,
) -> Result<usize, Failed> {
    let now = state.now();
    let Some(meeting) = meetings::store::find(conn, meeting_id).await? else { return Ok(0) };
    let cancelled_at = match meeting.state {
        State::Scheduled | State::Live { .. } => None,
        State::Cancelled { cancelled_at, .. } => Some(cancelled_at),
        // What changed before it ended is of no use any longer.
        State::Ended { .. } => return Ok(0),
    };
    let Some(project) = projects::store::find(conn, meeting.project_id).await? else { return Ok(0) };
    let outdated = store::outdated::find(conn, &meeting, cancelled_at, now, AT_ONCE).await?;
    for invitation in &outdated {
        store::outdated::set_sequence(conn, invitation.id, meeting.version).await?;
        let place = meeting.participants.get(&invitation.participant_id);
        if place.is_some_and(actors::meeting::Participant::is_removed) {
            continue;
        }
        let own = own_language(conn, invitation).await?;
        let inviter = accounts::store::account(conn, invitation.invited_by_id).await?;
        let tongue = tongue(own, &project, inviter.as_ref());
        let inviter = inviter.map(|inviter| inviter.full_name).unwrap_or_default();
        let join_url = join_url(&state.url, meeting.id);
        let entry = entry(state, &meeting, &join_url, invitation, &inviter, now);
        let words = |calendar| letters::Words {
            to: &invitation.email,
            tongue,
            meeting: &meeting,
            project: &project.name,
            inviter: &inviter,
            calendar,
        };
        let letter = match &meeting.state {
            State::Cancelled { reason, .. } => letters::cancelled(words(calendar::cancel(entry)), reason.as_deref()),
            _ => letters::changed(words(calendar::request(entry)), join_url.clone()),
        };
        state.post.send(conn, Mailing::from(letter), now, request).await?;
    }
    Ok(outdated.len())
}

/// The calendar entry of somebody who was asked.
pub fn entry<'a>(
    state: &'a Meetings,
    meeting: &'a Meeting,
    join_url: &'a str,
    invitation: &'a Invitation,
    inviter: &'a str,
    now: Time,
) -> calendar::Entry<'a> {
    calendar::Entry {
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

/// The language of an invitee who has an account.
pub async fn own_language(conn: &mut Conn, invitation: &Invitation) -> Result<Option<Language>, Failed> {
    let account = match invitation.user_id {
        Some(user_id) => accounts::store::account(conn, user_id).await?,
        None => accounts::store::account_of(conn, &invitation.email).await?,
    };
    Ok(account.map(|account| account.language))
}

/// The language of somebody's letters: their own, else the project's, else that of who invited them.
#[must_use]
pub fn tongue(own: Option<Language>, project: &Project, inviter: Option<&Account>) -> Tongue {
    let projects = Some(project.language).filter(|language| *language != Language::Auto);
    own.or(projects).or(inviter.map(|inviter| inviter.language)).unwrap_or(Language::En).tongue()
}
