//! Removes a deleted account from meetings: replaces its name in participants, and deletes the invitations sent to it.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::live::RequestId;
use actors::meeting::{Command, Meeting};
use actors::shell;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::invitations::store::deletion::{self as invitations, OF_ACCOUNT};
use super::store::participants as store;
use crate::accounts::model::DELETED_NAME;
use crate::accounts::profile::deletion::{AfterCommit, DeletedAccount, DeletionHook, ReleaseError};
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, DbError};
use crate::http::error::ApiError;
use crate::jobs::{self, Handler, Job, JobError, JobPayload, RetryPolicy, Turns};
use crate::meetings::state::Meetings;

/// Participants that one query reads.
const PARTICIPANTS: i64 = 100;

/// The deletion hook of meetings.
pub struct MeetingDeletionHook {
    pub state: Meetings,
}

#[async_trait]
impl DeletionHook for MeetingDeletionHook {
    /// Returns the other addresses under which the account was invited, if no account has them.
    async fn addresses(&self, conn: &mut Conn, user_id: Id<User>) -> Result<Vec<String>, DbError> {
        invitations::addresses(conn, user_id).await
    }

    /// Deletes the invitations to the account's address page by page if there are more than one page, so that at most
    /// one page is left for the transaction of [`release`](DeletionHook::release).
    async fn prepare(&self, leaving: &DeletedAccount) -> Result<(), ApiError> {
        let (email, now, request) = (leaving.account.email.clone(), leaving.now, leaving.request.clone());
        let stopping = self.state.tasks.stopping();
        let gone = in_pages(&self.state.db, &stopping, move |conn| {
            let (email, request) = (email.clone(), request.clone());
            Box::pin(async move {
                match invitations::has_more_than(conn, &email, PAGE).await? {
                    true => forget_address(conn, &email, PAGE, now, &request).await,
                    false => Ok(0),
                }
            })
        });
        gone.await.map_err(|failed: DbError| ApiError::from(failed)).map(|_| ())
    }

    /// Deletes the invitations to the account's address. Guests who joined by them are forgotten by jobs, whose payload
    /// names only the meeting and the participant.
    async fn release(&self, conn: &mut Conn, leaving: &DeletedAccount) -> Result<Option<AfterCommit>, ReleaseError> {
        forget_address(conn, &leaving.account.email, i64::MAX, leaving.now, &leaving.request).await?;
        Ok(None)
    }

    /// Sends `Command::Forget` to the actor of each meeting, like every other write of a meeting: it may be live.
    async fn erase(&self, user_id: Id<User>, request: &RequestId) -> Result<(), String> {
        // The invitations that name the account, including any that it accepted while it was being deleted.
        let state = &self.state;
        let stopping = state.tasks.stopping();
        let gone = in_pages(&state.db, &stopping, move |conn| Box::pin(OF_ACCOUNT.page(conn, user_id, PAGE)));
        gone.await?;
        loop {
            let named =
                state.db.read(move |conn| Box::pin(store::naming(conn, user_id, DELETED_NAME, PARTICIPANTS))).await;
            let named = named?;
            if named.is_empty() {
                return Ok(());
            }
            for (meeting_id, participant_id) in named {
                erase_name(state, meeting_id, participant_id, request).await?;
            }
        }
    }
}

/// Deletes at most `most` invitations to an address and enqueues a job for each guest who joined by one of them.
/// Returns the number of deleted invitations.
async fn forget_address(
    conn: &mut Conn,
    email: &str,
    most: i64,
    now: Time,
    request: &RequestId,
) -> Result<usize, DbError> {
    let (gone, guests) = invitations::forget_address(conn, email, most).await?;
    for (meeting_id, participant_id) in guests {
        jobs::enqueue(conn, &EraseGuestName { meeting_id, participant_id }, now, request).await?;
    }
    Ok(gone)
}

async fn erase_name(
    state: &Meetings,
    meeting_id: Id<Meeting>,
    participant: Id<ids::Participant>,
    request: &RequestId,
) -> Result<(), String> {
    let command = Command::Forget { participant, name: DELETED_NAME.to_owned() };
    match state.registry.ask(meeting_id, command, request.clone()).await {
        // The meeting was deleted in the meantime: no name is left to erase.
        Ok(_) | Err(shell::CommandError::Missing) => Ok(()),
        Err(failure) => Err(format!("names could not be erased from the meeting {meeting_id}: {failure:?}")),
    }
}

/// Erases the name of a guest who was invited under the address of a deleted account from a meeting.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EraseGuestName {
    meeting_id: Id<Meeting>,
    participant_id: Id<ids::Participant>,
}

impl JobPayload for EraseGuestName {
    const KIND: &'static str = "forget-guest";
    const TURNS: Turns = Turns::InOrder("nobody waits for it: each is one short command to a meeting");
}

/// Runs [`EraseGuestName`]. Idempotent.
pub struct EraseGuestNameHandler {
    pub state: Meetings,
}

#[async_trait]
impl Handler for EraseGuestNameHandler {
    type Payload = EraseGuestName;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// It is one command to a meeting.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(5 * 60)
    }

    async fn run(&self, job: &Job, payload: EraseGuestName) -> Result<(), JobError> {
        Ok(erase_name(&self.state, payload.meeting_id, payload.participant_id, &job.request).await?)
    }
}
