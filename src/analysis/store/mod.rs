//! Queries of runs, and the stored outputs of their nodes.

pub mod answers;

use std::collections::HashSet;
use std::time::Duration;

use actors::ids::{self, AiJob, Id, User};
use actors::language::Language;
use actors::live::{Topic, TopicKind};
use actors::meeting::Meeting;
use actors::run::{self, AiRunStatus, AnalysisType, Node, Run, RunWarning, State};
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, JoinOnDsl, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::bodies::Filter;
use crate::db::schema::{run_nodes, run_results, run_undos, runs};
use crate::db::sweep::Retention;
use crate::db::{AtOnce, Columns, Conn, DbError, RunQueryDsl, at_once, is_wanted, kept, number, page_of};
use crate::http::envelope::List;
use crate::http::list::Listing;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = runs)]
struct RunRow {
    id: Id<Run>,
    project_id: Id<ids::Project>,
    created_by_id: Id<User>,
    meeting_id: Option<Id<Meeting>>,
    document_ids: String,
    analysis_type: AnalysisType,
    language: Language,
    engine: String,
    input_hash: String,
    status: AiRunStatus,
    progress: i64,
    node: Node,
    message: String,
    error_message: Option<String>,
    ai_job_id: Id<AiJob>,
    attempt: i64,
    warnings: String,
    revision: i64,
    started_at: Option<Time>,
    completed_at: Option<Time>,
    created_at: Time,
    updated_at: Time,
    taken_up: i64,
    document_versions: String,
}

/// The statuses of runs that have not ended.
pub const UNFINISHED: [AiRunStatus; 2] = [AiRunStatus::Queued, AiRunStatus::Processing];
/// The statuses of runs that have a result.
pub const SUCCESSFUL: [AiRunStatus; 2] = [AiRunStatus::Completed, AiRunStatus::Partial];

impl TryFrom<&Run> for RunRow {
    type Error = DbError;
    fn try_from(run: &Run) -> Result<Self, DbError> {
        let json = |error: serde_json::Error| DbError::Broken(error.to_string());
        Ok(Self {
            id: run.id,
            project_id: run.project_id,
            created_by_id: run.created_by,
            meeting_id: run.meeting_id,
            document_ids: serde_json::to_string(&run.document_ids).map_err(json)?,
            analysis_type: run.analysis_type,
            language: run.language,
            engine: run.engine.clone(),
            input_hash: run.input_hash.clone(),
            status: run.status(),
            progress: i64::from(run.progress),
            node: run.node(),
            message: run.message.clone(),
            error_message: run.error_message().map(str::to_owned),
            ai_job_id: run.ai_job_id,
            attempt: i64::from(run.attempt),
            warnings: serde_json::to_string(&run.warnings).map_err(json)?,
            revision: number(run.revision),
            started_at: run.started_at(),
            completed_at: run.completed_at(),
            created_at: run.created_at,
            updated_at: run.updated_at,
            taken_up: i64::from(run.taken_up),
            document_versions: serde_json::to_string(&run.document_versions).map_err(json)?,
        })
    }
}

impl RunRow {
    fn state(&self) -> Result<State, DbError> {
        let node = self.node;
        match (self.status, self.started_at, self.completed_at, self.error_message.clone()) {
            (AiRunStatus::Queued, None, None, None) => Ok(State::Queued),
            (AiRunStatus::Processing, Some(started_at), None, None) => Ok(State::Processing { started_at, node }),
            (AiRunStatus::Completed, Some(started_at), Some(completed_at), None) => {
                Ok(State::Completed { started_at, completed_at })
            }
            (AiRunStatus::Partial, Some(started_at), Some(completed_at), None) => {
                Ok(State::Partial { started_at, completed_at })
            }
            (AiRunStatus::Rejected, Some(started_at), Some(completed_at), Some(reason)) => {
                Ok(State::Rejected { started_at, completed_at, node, reason })
            }
            (AiRunStatus::Failed, Some(started_at), Some(completed_at), Some(error_message)) => {
                Ok(State::Failed { started_at, completed_at, node, error_message })
            }
            (AiRunStatus::Cancelled, started_at, Some(completed_at), None) => {
                Ok(State::Cancelled { started_at, completed_at, node })
            }
            _ => Err(self.inconsistent("its times and messages, which do not fit its status")),
        }
    }

    fn inconsistent(&self, what: &str) -> DbError {
        DbError::Broken(format!("the run {:?} can't be: {what}", self.id))
    }

    fn run(self) -> Result<Run, DbError> {
        let state = self.state()?;
        let document_ids = serde_json::from_str(&self.document_ids).map_err(|_| self.inconsistent("its documents"))?;
        let document_versions = serde_json::from_str(&self.document_versions)
            .map_err(|_| self.inconsistent("the versions of its documents"))?;
        let warnings: Vec<RunWarning> =
            serde_json::from_str(&self.warnings).map_err(|_| self.inconsistent("its warnings"))?;
        let progress = u8::try_from(self.progress).ok().filter(|progress| *progress <= 100);
        Ok(Run {
            progress: progress.ok_or_else(|| self.inconsistent("its progress"))?,
            attempt: u32::try_from(self.attempt).map_err(|_| self.inconsistent("its attempt"))?,
            taken_up: u32::try_from(self.taken_up).map_err(|_| self.inconsistent("how often it was begun"))?,
            revision: u64::try_from(self.revision).map_err(|_| self.inconsistent("its revision"))?,
            id: self.id,
            project_id: self.project_id,
            created_by: self.created_by_id,
            document_ids,
            document_versions,
            meeting_id: self.meeting_id,
            analysis_type: self.analysis_type,
            language: self.language,
            engine: self.engine,
            ai_job_id: self.ai_job_id,
            message: self.message,
            warnings,
            input_hash: self.input_hash,
            state,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

pub async fn find(conn: &mut Conn, id: Id<Run>) -> Result<Option<Run>, DbError> {
    let row = runs::table.find(id).select(RunRow::columns()).first(conn).await.optional()?;
    row.map(RunRow::run).transpose()
}

/// The unfinished run over the same input, if there is one.
pub async fn unfinished(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    input_hash: &str,
) -> Result<Option<Run>, DbError> {
    let row = runs::table
        .filter(runs::project_id.eq(project_id))
        .filter(runs::input_hash.eq(input_hash))
        .filter(runs::status.eq_any(UNFINISHED))
        .select(RunRow::columns())
        .first(conn)
        .await
        .optional()?;
    row.map(RunRow::run).transpose()
}

/// Counts the unfinished runs of a user, up to `most`.
pub async fn unfinished_of(conn: &mut Conn, user_id: Id<User>, most: usize) -> Result<usize, DbError> {
    let unfinished = runs::table
        .filter(runs::status.eq_any(UNFINISHED))
        .filter(runs::created_by_id.eq(user_id))
        .select(runs::id)
        .limit(i64::try_from(most).unwrap_or(i64::MAX));
    let unfinished: Vec<Id<Run>> = unfinished.load(conn).await?;
    Ok(unfinished.len())
}

/// A project's unfinished runs.
pub async fn active(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<Run>, DbError> {
    let rows: Vec<RunRow> = runs::table
        .filter(runs::project_id.eq(project_id))
        .filter(runs::status.eq_any(UNFINISHED))
        .order(runs::id.asc())
        .select(RunRow::columns())
        .load(conn)
        .await?;
    rows.into_iter().map(RunRow::run).collect()
}

/// The ids of all unfinished runs, for the runner.
pub async fn all_unfinished(conn: &mut Conn) -> Result<Vec<Id<Run>>, DbError> {
    let found = runs::table.filter(runs::status.eq_any(UNFINISHED)).order(runs::id.asc()).select(runs::id);
    Ok(found.load(conn).await?)
}

/// The project's newest run that has a result.
pub async fn newest_successful(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Option<Run>, DbError> {
    let row = runs::table
        .filter(runs::project_id.eq(project_id))
        .filter(runs::status.eq_any(SUCCESSFUL))
        .order(runs::id.desc())
        .select(RunRow::columns())
        .first(conn)
        .await
        .optional()?;
    row.map(RunRow::run).transpose()
}

/// The documents, with their versions, that runs with a result have read for the kinds of results of an analysis. Runs that were undone
/// do not count.
pub async fn documents_read(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    analysis_type: AnalysisType,
) -> Result<HashSet<(Id<ids::Document>, i64)>, DbError> {
    let read: Vec<(String, String)> = runs::table
        .inner_join(run_results::table.on(run_results::run_id.eq(runs::id)))
        .left_join(run_undos::table.on(run_undos::run_id.eq(runs::id)))
        .filter(runs::project_id.eq(project_id))
        .filter(runs::analysis_type.eq_any([AnalysisType::Full, analysis_type]))
        .filter(run_undos::undone_at.is_null())
        .select((runs::document_ids, runs::document_versions))
        .load(conn)
        .await?;
    let broken = |error: serde_json::Error| DbError::Broken(format!("the documents of a run: {error}"));
    let mut documents = HashSet::new();
    for (ids, versions) in read {
        let ids: Vec<Id<ids::Document>> = serde_json::from_str(&ids).map_err(broken)?;
        let versions: Vec<i64> = serde_json::from_str(&versions).map_err(broken)?;
        documents.extend(run::documents(&ids, &versions));
    }
    Ok(documents)
}

/// Inserts a newly queued run. Returns false if the run exists already, or another run over the same input is unfinished.
pub async fn insert(conn: &mut Conn, run: &Run) -> Result<bool, DbError> {
    let row = RunRow::try_from(run)?;
    Ok(diesel::insert_into(runs::table).values(&row).on_conflict_do_nothing().execute(conn).await? > 0)
}

/// Updates the row of a run, if it still has the revision `before`. Returns whether it has.
pub async fn update(conn: AtOnce<'_>, run: &Run, before: u64) -> Result<bool, DbError> {
    let row = RunRow::try_from(run)?;
    let stored = runs::revision.eq(number(before));
    let updated = kept(diesel::update(runs::table.find(row.id)).filter(stored).set((
        runs::status.eq(row.status),
        runs::progress.eq(row.progress),
        runs::node.eq(row.node),
        runs::message.eq(row.message),
        runs::error_message.eq(row.error_message),
        runs::ai_job_id.eq(row.ai_job_id),
        runs::attempt.eq(row.attempt),
        runs::warnings.eq(row.warnings),
        runs::revision.eq(row.revision),
        runs::started_at.eq(row.started_at),
        runs::completed_at.eq(row.completed_at),
        runs::updated_at.eq(row.updated_at),
        runs::taken_up.eq(row.taken_up),
    )));
    let (updated,) = at_once!(conn, execute(updated));
    Ok(updated? > 0)
}

/// Lists a project's runs, newest first.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    Listing { filter, page }: Listing<Filter>,
) -> Result<List<Run>, DbError> {
    let listed = runs::table.filter(runs::project_id.eq(project_id)).filter(is_wanted(runs::status, filter.status));
    let (rows, total): (Vec<RunRow>, _) = page_of!(conn, page, listed, runs::id, RunRow::columns());
    page.list(rows, total, |row| row.id.uuid()).try_map(RunRow::run)
}

/// The topic of a run's events.
#[must_use]
pub fn topic(id: Id<Run>) -> Topic {
    Topic { kind: TopicKind::Run, id: id.uuid() }
}

/// Whether a run has ended. Locks the row, so that it can't be retried before the transaction ends.
pub async fn is_over(conn: &mut Conn, id: Id<Run>) -> Result<bool, DbError> {
    let over = runs::table.find(id).filter(runs::status.ne_all(UNFINISHED));
    // Changes nothing, but locks the row.
    Ok(diesel::update(over).set(runs::attempt.eq(runs::attempt)).execute(conn).await? == 1)
}

/// Whether this attempt of the run is in progress. Locks the row, so that no other writer can end the attempt before
/// the transaction does: rows written for it in the same transaction cannot be orphaned.
pub async fn is_at_work(conn: &mut Conn, id: Id<Run>, attempt: u32) -> Result<bool, DbError> {
    let attempt = i64::from(attempt);
    let at_work = runs::table.find(id).filter(runs::attempt.eq(attempt));
    let at_work = at_work.filter(runs::status.eq(AiRunStatus::Processing));
    // Changes nothing, but locks the row.
    Ok(diesel::update(at_work).set(runs::attempt.eq(attempt)).execute(conn).await? == 1)
}

/// The stored output of a node for the same input and engine version, from the latest attempt.
pub async fn node_output(
    conn: &mut Conn,
    run_id: Id<Run>,
    node: Node,
    input_hash: &str,
    engine_version: &str,
) -> Result<Option<String>, DbError> {
    Ok(run_nodes::table
        .filter(run_nodes::run_id.eq(run_id))
        .filter(run_nodes::node.eq(node))
        .filter(run_nodes::input_hash.eq(input_hash))
        .filter(run_nodes::engine_version.eq(engine_version))
        .order(run_nodes::attempt.desc())
        .select(run_nodes::output)
        .first(conn)
        .await
        .optional()?)
}

/// The stored output of a node.
#[derive(Insertable)]
#[diesel(table_name = run_nodes)]
pub struct NodeOutput {
    pub run_id: Id<Run>,
    pub attempt: i64,
    pub node: Node,
    pub input_hash: String,
    pub engine_version: String,
    pub output: String,
    pub kept_at: Time,
}

/// Stores the output of a node, replacing an earlier one of the same attempt.
pub async fn save_node_output(conn: &mut Conn, output: NodeOutput) -> Result<(), DbError> {
    diesel::delete(run_nodes::table.find((output.run_id, output.attempt, output.node))).execute(conn).await?;
    diesel::insert_into(run_nodes::table).values(&output).execute(conn).await?;
    Ok(())
}

/// Deletes the stored outputs of a run's nodes.
pub async fn delete_node_outputs(conn: &mut Conn, run_id: Id<Run>) -> Result<(), DbError> {
    diesel::delete(run_nodes::table.filter(run_nodes::run_id.eq(run_id))).execute(conn).await?;
    Ok(())
}

/// Outputs of nodes older than a day: their run has ended, or is better started from the beginning.
pub const RETENTION: Retention = Retention {
    table: "run_nodes",
    key: "run_id, attempt, node",
    at: "kept_at",
    period: Duration::from_secs(24 * 60 * 60),
};
