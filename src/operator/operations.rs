//! Operations for operators, one function each. Those that change something leave a line in the log, with the account.

use actors::ids::Id;
use actors::live::RequestId;
use actors::run::Run;

use super::figures;
use super::model::{OperatorOverview, RetriedJobs};
use super::state::Operators;
use crate::access::principal::Caller;
use crate::analysis::operator as runs;
use crate::analysis::operator::RunQuery;
use crate::analysis::operator::model::{OperatorRun, RunCursor};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;
use crate::jobs::model::{JobQuery, JobState, OperatorJob};
use crate::jobs::operator::Which;
use crate::jobs::{self, Job};

/// Returns the state of the installation.
///
/// # Errors
/// Returns the database error.
pub async fn overview(state: &Operators, request: RequestId) -> Result<OperatorOverview, ApiError> {
    let figures = figures::figures(state, &request).await?;
    let unfinished_runs = runs::unfinished_count(&state.db).await?;
    let failed_jobs = state.db.read(|conn| Box::pin(jobs::failed_count(conn))).await.map_err(ApiError::from)?;
    Ok(OperatorOverview {
        version: env!("CARGO_PKG_VERSION"),
        started_at: state.started_at,
        uptime_seconds: state.now().since(state.started_at).as_secs(),
        open_sockets: state.real_time.sockets.held(),
        open_streams: state.real_time.streams.held(),
        connections: state.http.connections.count(),
        database_waiting: state.db.waiting(),
        unfinished_runs,
        failed_jobs,
        figures,
    })
}

/// Lists the runs of all projects, unfinished ones first and then newest first.
///
/// # Errors
/// Returns the database error.
pub async fn list_runs(state: &Operators, query: RunQuery) -> Result<List<OperatorRun>, ApiError> {
    let limit = usize::try_from(query.limit).unwrap_or(usize::MAX);
    let (mut items, total_count) = runs::page(&state.db, query).await?;
    let more = items.len() > limit;
    items.truncate(limit);
    let cursor = |run: &OperatorRun| RunCursor { is_over: run.completed_at.is_some(), id: run.id.uuid() }.to_string();
    let next_cursor = items.last().filter(|_| more).map(cursor);
    Ok(List { items, next_cursor, total_count })
}

/// Returns a run.
///
/// # Errors
/// Returns the database error.
pub async fn run(state: &Operators, id: Id<Run>) -> Result<Option<OperatorRun>, ApiError> {
    runs::find(&state.db, id).await
}

/// Cancels an unfinished run of any project.
///
/// # Errors
/// 409 for a run that has ended.
pub async fn cancel_run(
    state: &Operators,
    caller: Caller,
    id: Id<Run>,
    request: RequestId,
) -> Result<OperatorRun, ApiError> {
    runs::cancel_here(&state.analysis, id, request).await?;
    tracing::info!(account = %caller.user_id, run = %id, "an operator cancelled a run");
    run(state, id).await?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))
}

/// Lists the jobs in a state, newest first.
///
/// # Errors
/// Returns the database error.
pub async fn list_jobs(
    state: &Operators,
    of: JobState,
    kind: Option<String>,
    page: PageQuery,
) -> Result<List<OperatorJob>, ApiError> {
    let query = JobQuery { state: of, kind, before: page.before(), limit: page.limit };
    let (items, total_count) = jobs::operator::list(&state.db, &state.outbox, query).await?;
    Ok(page.list(items, total_count, |job| job.id.uuid()))
}

/// Returns a job.
///
/// # Errors
/// Returns the database error.
pub async fn job(state: &Operators, id: Id<Job>) -> Result<Option<OperatorJob>, ApiError> {
    Ok(jobs::operator::find(&state.db, &state.outbox, id).await?)
}

/// Retries a job that failed for good, with all its attempts.
///
/// # Errors
/// 409 for a job in another state.
pub async fn retry_job(state: &Operators, caller: Caller, job: OperatorJob) -> Result<OperatorJob, ApiError> {
    let (id, now) = (job.id, state.now());
    let requeued = jobs::operator::requeue(&state.db, Which { id: Some(id), kind: None }, now).await?;
    if requeued == 0 {
        return Err(ApiError::of(Code::INVALID_STATE));
    }
    state.jobs.wake();
    tracing::info!(account = %caller.user_id, job = %id, "an operator retried a job");
    // It is not read again: it may be done by now, and have no row.
    Ok(OperatorJob { state: JobState::Waiting, attempts: 0, run_at: now, failed_at: None, ..job })
}

/// Retries all failed jobs, or those of a kind, with all their attempts.
///
/// # Errors
/// Returns the database error; some jobs may be requeued by then.
pub async fn retry_jobs(state: &Operators, caller: Caller, kind: Option<String>) -> Result<RetriedJobs, ApiError> {
    let which = Which { id: None, kind: kind.clone() };
    // Before the first of them: whatever fails then, the log says who did it.
    tracing::info!(account = %caller.user_id, kind, "an operator retries failed jobs");
    let requeued = jobs::operator::requeue(&state.db, which, state.now()).await;
    state.jobs.wake();
    Ok(RetriedJobs { requeued: requeued? })
}
