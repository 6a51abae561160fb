//! Commands on runs for an operator: those of `colloquy admin` on the server's machine, with or without a running server,
//! and those of the interface.
//!
//! ```text
//! cancel ── a job "cancel-run" ──claimed──> the server asks the run's actor, as for any user
//!                 │
//!                 └──not claimed within 5 s: no server runs ──> withdrawn; the run is changed and saved here
//! ```
//! In both cases a single writer wins: a server that starts at the same moment gets a revision conflict and loads the
//! saved state.

pub mod model;
mod store;

use std::sync::Arc;
use std::time::Duration;

use actors::ids::{Id, User};
use actors::live::{Batch, Decided, Journal, Live, RequestId, Unsaved};
use actors::run::{AiRunStatus, Command, Run};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use self::model::OperatorRun;
use super::journal::{RunJournal, RunTables};
use super::operations;
use crate::analysis::state::Analysis;
use crate::db::{Db, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::jobs::{self, Handler, Job, JobError, JobPayload, Turns};

pub use model::RunQuery;
pub use store::RunListItem;

/// How long to wait for a server to claim the job. A running server claims it within a second.
const CLAIMED: Duration = Duration::from_secs(5);
/// How long to wait for the run to end after that: the server's actor may have to be loaded first.
const ENDED: Duration = Duration::from_secs(15);
const CHECK_INTERVAL: Duration = Duration::from_millis(100);
/// How often saving is tried when other writers change the run in between.
const CONFLICTS: usize = 5;

/// The author of the cancellation in events: an id that no account has, since a project does not learn who operates its
/// server.
const fn operator() -> Id<User> {
    Id::from_uuid(uuid::Uuid::nil())
}

/// Cancels a run for an operator.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelRun {
    run_id: Id<Run>,
}

impl JobPayload for CancelRun {
    const KIND: &'static str = "cancel-run";
    const TURNS: Turns = Turns::InOrder("an operator's own command");
}

/// Lists runs with an id after `after`, oldest first: only unfinished ones, or all.
///
/// # Errors
/// Only database errors.
pub async fn list(db: &Db, after: Id<Run>, limit: i64, with_those_over: bool) -> Result<Vec<RunListItem>, ApiError> {
    let found = db.read(move |conn| Box::pin(store::list(conn, after, limit, with_those_over))).await;
    found.map_err(|failed: DbError| failed.into())
}

/// Returns a page of the runs of all projects, unfinished ones first and then newest first, one more than the limit if
/// there are as many; and how many there are on all pages.
///
/// # Errors
/// Only database errors.
pub async fn page(db: &Db, query: RunQuery) -> Result<(Vec<OperatorRun>, i64), ApiError> {
    let found = db.read(move |conn| Box::pin(store::page(conn, query))).await;
    found.map_err(|failed: DbError| failed.into())
}

/// Returns a run.
///
/// # Errors
/// Only database errors.
pub async fn find(db: &Db, id: Id<Run>) -> Result<Option<OperatorRun>, ApiError> {
    let found = db.read(move |conn| Box::pin(store::find(conn, id))).await;
    found.map_err(|failed: DbError| failed.into())
}

/// Counts unfinished runs.
///
/// # Errors
/// Only database errors.
pub async fn unfinished_count(db: &Db) -> Result<i64, ApiError> {
    let found = db.read(|conn| Box::pin(store::unfinished_count(conn))).await;
    found.map_err(|failed: DbError| failed.into())
}

/// Cancels an unfinished run within the server that works on it.
///
/// # Errors
/// 404 for an unknown run; 409 for one that has ended.
pub async fn cancel_here(state: &Analysis, id: Id<Run>, request: RequestId) -> Result<(), ApiError> {
    operations::stop(state, id, operator(), request).await.map(drop)
}

/// Cancels an unfinished run from another process, and returns once it has ended.
///
/// # Errors
/// 404 for an unknown run; 409 for one that has ended; 503 when a server claimed the job but the run did not end in
/// time.
pub async fn cancel(db: &Db, id: Id<Run>, now: Time) -> Result<(), ApiError> {
    unfinished(db, id).await?;
    let request: RequestId = format!("operator-{id}").into();
    let request_id = Arc::clone(&request);
    let payload = CancelRun { run_id: id };
    let job = db.write(move |conn| Box::pin(async move { jobs::enqueue(conn, &payload, now, &request_id).await }));
    let job = job.await?;
    for _ in 0..CLAIMED.as_millis() / CHECK_INTERVAL.as_millis() {
        if !jobs::operator::is_waiting(db, job).await? {
            return until_over(db, id).await;
        }
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
    if !jobs::operator::withdraw(db, job).await? {
        return until_over(db, id).await;
    }
    save(db, id, request, now).await
}

/// 409 for a run that has ended.
async fn unfinished(db: &Db, id: Id<Run>) -> Result<Run, ApiError> {
    let found = RunJournal::new(db.clone(), RunTables).load(id).await.map_err(|away| ApiError::unavailable(away.0))?;
    let run = found.ok_or_else(|| ApiError::with_message(Code::NOT_FOUND, format!("There is no run {id}.")))?;
    if run.is_over() {
        let over = format!("The run {id} has already ended with the status {}.", run.status().into_str());
        return Err(ApiError::with_message(Code::INVALID_STATE, over));
    }
    Ok(run)
}

async fn until_over(db: &Db, id: Id<Run>) -> Result<(), ApiError> {
    for _ in 0..ENDED.as_millis() / CHECK_INTERVAL.as_millis() {
        let run =
            RunJournal::new(db.clone(), RunTables).load(id).await.map_err(|away| ApiError::unavailable(away.0))?;
        match run.map(|run| run.status()) {
            // The run was deleted with its project.
            None | Some(AiRunStatus::Cancelled) => return Ok(()),
            Some(AiRunStatus::Queued | AiRunStatus::Processing) => tokio::time::sleep(CHECK_INTERVAL).await,
            Some(status) => {
                let over =
                    format!("The run {id} ended before it could be cancelled; its status is {}.", status.into_str());
                return Err(ApiError::with_message(Code::INVALID_STATE, over));
            }
        }
    }
    let message = "The cancellation was requested, but the run has not ended yet; see `colloquy admin list-runs`.";
    Err(ApiError::with_message(Code::SERVICE_UNAVAILABLE, message))
}

/// Without a server: applies and saves the change that the run's actor would make.
async fn save(db: &Db, id: Id<Run>, request: RequestId, now: Time) -> Result<(), ApiError> {
    let journal = RunJournal::new(db.clone(), RunTables);
    for _ in 0..CONFLICTS {
        let before = unfinished(db, id).await?;
        let decided = before.decide(Command::Cancel { by: operator() }, now);
        let change = decided.map_err(|_| ApiError::of(Code::INVALID_STATE))?;
        let changes = vec![Decided { change, request: Arc::clone(&request), at: now }];
        match journal.save(Arc::new(Batch { before, changes })).await {
            Ok(_) => return Ok(()),
            Err(Unsaved::Conflict) => {}
            Err(Unsaved::Failed(why) | Unsaved::Unknown(why)) => return Err(ApiError::unavailable(why)),
        }
    }
    Err(ApiError::unavailable("the run kept changing"))
}

/// Runs [`CancelRun`]. Idempotent.
pub struct CancelRunHandler {
    pub state: Analysis,
}

#[async_trait]
impl Handler for CancelRunHandler {
    type Payload = CancelRun;

    /// It is one command to a run.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(5 * 60)
    }

    async fn run(&self, job: &Job, payload: CancelRun) -> Result<(), JobError> {
        match operations::stop(&self.state, payload.run_id, operator(), Arc::clone(&job.request)).await {
            Ok(_) => Ok(()),
            // The run has ended already, or was deleted.
            Err(failure) if matches!(failure.code.status, 404 | 409) => Ok(()),
            Err(failure) => Err(JobError::Again(failure.to_string())),
        }
    }
}
