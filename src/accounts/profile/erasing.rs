//! LATER: the last traces of a deleted account, in what others go on with. Safe to repeat.
//!
//! A job knows the account by its id and keyed hashes of its addresses, so that the job itself keeps nothing of it.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::leaving::Deletion;
use super::store;
use super::traces::{self, Person, Reached};
use crate::accounts::sessions::operations::are_over;
use crate::accounts::state::Accounts;
use crate::db::idempotency::OF_ACCOUNT;
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, Failed};
use crate::jobs::{self, Fault, Handler, Job, Jobs, Patience};
use crate::keys::Secret;

/// What was under way when the account ended has come to its end by then, and may have written a name again.
const ONCE_MORE: Duration = Duration::from_secs(30);
/// After so many pages at most the job says where it is: that many are looked at again by whoever takes it up.
const NOTED: usize = 20;
const ERASE: &str = "erase-account";
const OVERWRITE: &str = "overwrite-deleted";
/// By then the last mail to the account is sent, and its row gone; if not, the hourly sweep overwrites it.
const AFTER_THE_LAST_MAIL: Duration = Duration::from_secs(2);

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    user_id: Id<User>,
    /// See [`hashed`].
    addresses: Vec<String>,
    /// How far the job came before.
    #[serde(default)]
    reached: Reached,
}

/// By what an address is known again without being kept.
pub fn hashed(secret: &Secret, email: &str) -> String {
    secret.hex("address of a deleted account", &[email.as_bytes()])
}

/// Has the traces of an account erased once the transaction stands.
///
/// # Errors
/// The database's own.
pub async fn enqueue(
    conn: &mut Conn,
    jobs: &Jobs,
    (user_id, addresses): (Id<User>, Vec<String>),
    now: Time,
    request: &RequestId,
) -> Result<(), Failed> {
    let payload = Payload { user_id, addresses, reached: Reached::default() };
    jobs::enqueue(conn, ERASE, &payload, now, request).await?;
    jobs::enqueue_after(conn, jobs, ERASE, &payload, ONCE_MORE, request).await.map(|_| ())
}

/// Erases: names in what lives on, then in what was told and answered.
pub struct Erasing {
    pub state: Deletion,
}

#[async_trait]
impl Handler for Erasing {
    fn kind(&self) -> &'static str {
        ERASE
    }

    fn patience(&self) -> Patience {
        Patience::UNTIL_DONE
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let payload: Payload = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        let user_id = payload.user_id;
        let now = self.state.now();
        let ended = self.state.db.write(move |conn| Box::pin(store::end_all(conn, user_id, now))).await;
        are_over(&self.state, ended.map_err(|error: Failed| error.to_string())?, now);
        for holder in self.state.holders.iter() {
            holder.erase(user_id, &job.request).await?;
        }
        let stopping = self.state.tasks.stopping();
        let keys = in_pages(&self.state.db, &stopping, move |conn| Box::pin(OF_ACCOUNT.page(conn, user_id, PAGE)));
        keys.await.map_err(|error: Failed| error.to_string())?;
        self.erase_traces(job, payload).await?;
        let (jobs, request) = (self.state.jobs.clone(), job.request.clone());
        let later = self.state.db.write(move |conn| {
            let (nothing, delay) = (serde_json::json!({}), AFTER_THE_LAST_MAIL);
            Box::pin(async move { jobs::enqueue_after(conn, &jobs, OVERWRITE, &nothing, delay, &request).await })
        });
        later.await.map_err(|error: Failed| error.to_string())?;
        Ok(())
    }
}

impl Erasing {
    /// Goes through all that was told and answered once, page by page, from where the job came before.
    async fn erase_traces(&self, job: &Job, mut payload: Payload) -> Result<(), Fault> {
        let (secret, addresses) = (self.state.secret.clone(), payload.addresses.clone());
        let person = Person::of(payload.user_id, move |email| addresses.contains(&hashed(&secret, email)));
        let stopping = self.state.tasks.stopping();
        let mut since_noted = 0;
        loop {
            if stopping.is_cancelled() {
                return Err(Fault::Again("the server stops".to_owned()));
            }
            let page =
                traces::look(&self.state.db, &person, &payload.reached).await.map_err(|error| error.to_string())?;
            // The page after the last: nothing is on it.
            let Some(reached) = page.reached.clone() else { return Ok(()) };
            since_noted += 1;
            let former = std::mem::replace(&mut payload.reached, reached);
            if page.is_clean() && since_noted < NOTED {
                continue;
            }
            let (own, noted) = (job.clone(), serde_json::to_value(&payload).map_err(|error| error.to_string())?);
            let written = self.state.db.write(move |conn| {
                Box::pin(async move {
                    let is_whole = page.write(conn).await?;
                    if is_whole && !jobs::note(conn, &own, &noted).await? {
                        return Err(Failed::Broken("the job is another attempt's by now".to_owned()));
                    }
                    Ok(is_whole)
                })
            });
            if written.await.map_err(|error: Failed| error.to_string())? {
                since_noted = 0;
            } else {
                payload.reached = former;
            }
        }
    }
}

/// Has the database overwrite what was deleted in its own files.
pub struct Overwriting {
    pub state: Accounts,
}

#[async_trait]
impl Handler for Overwriting {
    fn kind(&self) -> &'static str {
        OVERWRITE
    }

    fn patience(&self) -> Patience {
        Patience::UNTIL_DONE
    }

    async fn run(&self, _: &Job) -> Result<(), Fault> {
        Ok(self.state.db.overwrite_deleted().await.map_err(|error| error.to_string())?)
    }
}
