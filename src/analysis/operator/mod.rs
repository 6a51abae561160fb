//! What an operator does to runs at the machine, beside a running server or without one.
//!
//! ```text
//! cancel ── a job "cancel-run" ──taken──> the server asks the run's actor, as for anybody
//!                 │
//!                 └──not taken within 5 s: no server runs ──> withdrawn; the run is decided and saved here
//! ```
//! Either way one writer decides: a server that starts just then loses by revision, and meets what was saved.

mod store;

use std::sync::Arc;
use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::{Decided, Group, Journal, Live, RequestId, Unsaved};
use actors::run::{Command, Run, Status};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::operations;
use super::store::RunJournal;
use crate::analysis::state::Analysis;
use crate::db::{Db, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::jobs::{self, Fault, Handler, Job};
pub use store::Listed;

const KIND: &str = "cancel-run";
/// A server that runs takes a job within a second.
const TAKEN: Duration = Duration::from_secs(5);
/// And then asks the actor, which may have to be loaded.
const ENDED: Duration = Duration::from_secs(15);
const LOOK: Duration = Duration::from_millis(100);
/// Other writers before one of which the operator's change is saved.
const CONFLICTS: usize = 5;

/// Who cancels, as events name people: nobody who has an account.
const fn operator() -> Id<User> {
    Id::from_uuid(uuid::Uuid::nil())
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Payload {
    run_id: Id<Run>,
}

/// Runs after one, oldest first: those that are not over, or all.
///
/// # Errors
/// The database's own.
pub async fn list(db: &Db, after: Id<Run>, limit: i64, with_those_over: bool) -> Result<Vec<Listed>, Failure> {
    let found = db.read(move |conn| Box::pin(store::list(conn, after, limit, with_those_over))).await;
    found.map_err(|failed: Failed| failed.into())
}

/// Ends a run that is not over, and returns once it has ended.
///
/// # Errors
/// 404 for no run, 409 for one that is over, 503 where a server took it on and does not come to an end.
pub async fn cancel(db: &Db, id: Id<Run>, now: Time) -> Result<(), Failure> {
    unfinished(db, id).await?;
    let request: RequestId = format!("operator-{id}").into();
    let asked = Arc::clone(&request);
    let payload = Payload { run_id: id };
    let job = db.write(move |conn| Box::pin(async move { jobs::enqueue(conn, KIND, &payload, now, &asked).await }));
    let job = job.await?;
    for _ in 0..TAKEN.as_millis() / LOOK.as_millis() {
        if !jobs::operator::is_waiting(db, job).await? {
            return until_over(db, id).await;
        }
        tokio::time::sleep(LOOK).await;
    }
    if !jobs::operator::withdraw(db, job).await? {
        return until_over(db, id).await;
    }
    save(db, id, request, now).await
}

/// 409 for a run that is over.
async fn unfinished(db: &Db, id: Id<Run>) -> Result<Run, Failure> {
    let found = RunJournal { db: db.clone() }.load(id).await.map_err(|away| Failure::unavailable(away.0))?;
    let run = found.ok_or_else(|| Failure::saying(Code::NOT_FOUND, format!("There is no run {id}.")))?;
    if run.is_over() {
        let over = format!("The run {id} is over: it is {}.", run.status().as_str());
        return Err(Failure::saying(Code::INVALID_STATE, over));
    }
    Ok(run)
}

async fn until_over(db: &Db, id: Id<Run>) -> Result<(), Failure> {
    for _ in 0..ENDED.as_millis() / LOOK.as_millis() {
        let run = RunJournal { db: db.clone() }.load(id).await.map_err(|away| Failure::unavailable(away.0))?;
        match run.map(|run| run.status()) {
            // With its project.
            None | Some(Status::Cancelled) => return Ok(()),
            Some(Status::Queued | Status::Processing) => tokio::time::sleep(LOOK).await,
            Some(status) => {
                let over = format!("The run {id} came to its end first: it is {}.", status.as_str());
                return Err(Failure::saying(Code::INVALID_STATE, over));
            }
        }
    }
    let message = "The server was told and has not ended the run yet; see `colloquy admin list-runs`.";
    Err(Failure::saying(Code::SERVICE_UNAVAILABLE, message))
}

/// Without a server: what the run's actor would do.
async fn save(db: &Db, id: Id<Run>, request: RequestId, now: Time) -> Result<(), Failure> {
    let journal = RunJournal { db: db.clone() };
    for _ in 0..CONFLICTS {
        let before = unfinished(db, id).await?;
        let decided = before.decide(Command::Cancel { by: operator() }, now);
        let change = decided.map_err(|_| Failure::of(Code::INVALID_STATE))?;
        let changes = vec![Decided { change, request: Arc::clone(&request), at: now }];
        match journal.save(Arc::new(Group { before, changes })).await {
            Ok(_) => return Ok(()),
            Err(Unsaved::Conflict) => {}
            Err(Unsaved::Failed(why) | Unsaved::Unknown(why)) => return Err(Failure::unavailable(why)),
        }
    }
    Err(Failure::unavailable("the run changed all the time"))
}

/// Cancels runs for an operator. Safe to repeat.
pub struct Cancelling {
    pub state: Analysis,
}

#[async_trait]
impl Handler for Cancelling {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let payload: Payload = serde_json::from_str(&job.payload).map_err(|error| Fault::Never(error.to_string()))?;
        match operations::stop(&self.state, payload.run_id, operator(), Arc::clone(&job.request)).await {
            Ok(_) => Ok(()),
            // It is over, or gone.
            Err(failure) if matches!(failure.code.status, 404 | 409) => Ok(()),
            Err(failure) => Err(Fault::Again(failure.to_string())),
        }
    }
}
