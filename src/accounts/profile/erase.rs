//! Jobs that erase the personal data of a deleted account from data that stays. Safe to repeat.
//!
//! A job refers to the account by its id and by keyed hashes of its addresses, so that the job itself stores no
//! personal data.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::deletion::AccountDeletion;
use super::personal_data::{self, Person, Reached};
use super::store;
use crate::accounts::sessions::operations::are_over;
use crate::accounts::state::Accounts;
use crate::db::idempotency::OF_ACCOUNT;
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobPayload, Jobs, RetryPolicy, Turns};
use crate::keys::Secret;

/// Delay of the second run: by then, requests that were in progress when the account was deleted have ended; they may
/// have written a name again.
const ONCE_MORE: Duration = Duration::from_secs(30);
/// After this many pages at most, the job saves its progress: a retry repeats no more than these.
const PAGES_BETWEEN_SAVES: usize = 20;
/// By then the last e-mail to the account is sent and its row deleted; otherwise the hourly sweep overwrites it.
const AFTER_THE_LAST_MAIL: Duration = Duration::from_secs(2);

/// Erases the personal data of an account: first in the features, then in stored events and idempotent responses.
#[derive(Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EraseAccount {
    user_id: Id<User>,
    /// See [`hashed`].
    addresses: Vec<String>,
    /// The progress of earlier attempts.
    #[serde(default)]
    reached: Reached,
}

impl JobPayload for EraseAccount {
    const KIND: &'static str = "erase-account";
    const TURNS: Turns = Turns::Fair;
}

/// Returns the keyed hash that identifies an address without storing it.
pub fn hashed(secret: &Secret, email: &str) -> String {
    secret.hex("address of a deleted account", &[email.as_bytes()])
}

/// Enqueues the jobs that erase the personal data of an account; they run once the transaction is committed.
///
/// # Errors
/// Returns the database error.
pub async fn enqueue(
    conn: &mut Conn,
    jobs: &Jobs,
    (user_id, addresses): (Id<User>, Vec<String>),
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let payload = EraseAccount { user_id, addresses, reached: Reached::default() };
    let account = user_id.to_string();
    jobs::enqueue_in_turn(conn, &account, &payload, now, request).await?;
    jobs::enqueue_in_turn_after(conn, jobs, &account, &payload, ONCE_MORE, request).await.map(|_| ())
}

/// Runs [`EraseAccount`]. Idempotent.
pub struct EraseAccountHandler {
    pub state: AccountDeletion,
}

#[async_trait]
impl Handler for EraseAccountHandler {
    type Payload = EraseAccount;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// The progress is stored, so that the next attempt goes on from there.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(60 * 60)
    }

    async fn run(&self, job: &Job, payload: EraseAccount) -> Result<(), JobError> {
        let user_id = payload.user_id;
        let now = self.state.now();
        let ended = self.state.db.write(move |conn| Box::pin(store::end_all(conn, user_id, now))).await;
        are_over(&self.state, ended?, now);
        for holder in self.state.hooks.iter() {
            holder.erase(user_id, &job.request).await?;
        }
        let stopping = self.state.tasks.stopping();
        let keys = in_pages(&self.state.db, &stopping, move |conn| Box::pin(OF_ACCOUNT.page(conn, user_id, PAGE)));
        keys.await?;
        self.erase_traces(job, payload).await?;
        let (jobs, request) = (self.state.jobs.clone(), job.request.clone());
        let later = self.state.db.write(move |conn| {
            let (overwrite, delay) = (OverwriteDeleted {}, AFTER_THE_LAST_MAIL);
            Box::pin(async move { jobs::enqueue_after(conn, &jobs, &overwrite, delay, &request).await })
        });
        later.await?;
        Ok(())
    }
}

impl EraseAccountHandler {
    /// Scans all stored events and idempotent responses once, page by page, starting at the saved progress.
    async fn erase_traces(&self, job: &Job, mut payload: EraseAccount) -> Result<(), JobError> {
        let (secret, addresses) = (self.state.secret.clone(), payload.addresses.clone());
        let person = Person::of(payload.user_id, move |email| addresses.contains(&hashed(&secret, email)));
        let stopping = self.state.tasks.stopping();
        let mut since_saved = 0;
        loop {
            if stopping.is_cancelled() {
                return Err(JobError::Again("the server is stopping".to_owned()));
            }
            let page = personal_data::read_page(&self.state.db, &person, &payload.reached)
                .await
                .map_err(|error| error.to_string())?;
            // Past the last page there is no more progress.
            let Some(reached) = page.reached.clone() else { return Ok(()) };
            since_saved += 1;
            let former = std::mem::replace(&mut payload.reached, reached);
            if page.is_clean() && since_saved < PAGES_BETWEEN_SAVES {
                continue;
            }
            let (job, progress) = (job.clone(), payload.clone());
            let written = self.state.db.write(move |conn| {
                Box::pin(async move {
                    let is_whole = page.write(conn).await?;
                    if is_whole && !jobs::save_progress(conn, &job, &progress).await? {
                        return Err(DbError::Broken("another attempt has claimed the job".to_owned()));
                    }
                    Ok(is_whole)
                })
            });
            if written.await? {
                since_saved = 0;
            } else {
                payload.reached = former;
            }
        }
    }
}

/// Makes the database overwrite deleted data in its own files.
#[derive(Serialize, Deserialize)]
pub struct OverwriteDeleted {}

impl JobPayload for OverwriteDeleted {
    const KIND: &'static str = "overwrite-deleted";
    const TURNS: Turns = Turns::InOrder("no user causes it, and each does the work of all that wait");
}

/// Runs [`OverwriteDeleted`].
pub struct OverwriteDeletedHandler {
    pub state: Accounts,
}

#[async_trait]
impl Handler for OverwriteDeletedHandler {
    type Payload = OverwriteDeleted;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// SQLite rewrites its whole file, as long as that may be.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(120 * 60)
    }

    async fn run(&self, _: &Job, _: OverwriteDeleted) -> Result<(), JobError> {
        Ok(self.state.db.overwrite_deleted().await.map_err(|error| error.to_string())?)
    }
}
