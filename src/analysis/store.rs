//! Queries of runs, the journal of their actors, and the stored outputs of their nodes.

use std::sync::Arc;
use std::time::Duration;

use actors::ids::{self, AiJob, Id, User};
use actors::live::{
    Batch, Change, Decided, EventRecord, Journal, Live, RequestId, StoreUnavailable, Topic, TopicKind, Unsaved,
};
use actors::meeting::Meeting;
use actors::run::{AnalysisType, Node, Run, RunWarning, State, Status};
use actors::time::Time;
use async_trait::async_trait;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, IntoSql, OptionalExtension, QueryDsl, Queryable, Selectable,
};

use super::model::{AiAnalysisRun, AiRunStatus};
use super::results;
use crate::db::schema::{run_nodes, runs};
use crate::db::sweep::Over;
use crate::db::{At, Columns, Conn, Db, DbError, Key, RunQueryDsl, events};
use crate::http::page::PageQuery;

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = runs)]
struct RunRow {
    id: Key<Run>,
    project_id: Key<ids::Project>,
    created_by_id: Key<User>,
    meeting_id: Option<Key<Meeting>>,
    document_ids: String,
    analysis_type: String,
    language: String,
    engine: String,
    input_hash: String,
    status: String,
    progress: i64,
    node: String,
    message: String,
    error_message: Option<String>,
    ai_job_id: Key<AiJob>,
    attempt: i64,
    warnings: String,
    revision: i64,
    started_at: Option<At>,
    completed_at: Option<At>,
    created_at: At,
    updated_at: At,
    taken_up: i64,
}

/// The statuses of runs that have not ended.
pub const UNFINISHED: [&str; 2] = [Status::Queued.as_str(), Status::Processing.as_str()];
/// The statuses of runs that have a result.
pub const SUCCESSFUL: [&str; 2] = [Status::Completed.as_str(), Status::Partial.as_str()];

fn number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

impl TryFrom<&Run> for RunRow {
    type Error = DbError;
    fn try_from(run: &Run) -> Result<Self, DbError> {
        let json = |error: serde_json::Error| DbError::Broken(error.to_string());
        Ok(Self {
            id: Key(run.id),
            project_id: Key(run.project_id),
            created_by_id: Key(run.created_by),
            meeting_id: run.meeting_id.map(Key),
            document_ids: serde_json::to_string(&run.document_ids).map_err(json)?,
            analysis_type: run.analysis_type.as_str().to_owned(),
            language: run.language.clone(),
            engine: run.engine.clone(),
            input_hash: run.input_hash.clone(),
            status: run.status().as_str().to_owned(),
            progress: i64::from(run.progress),
            node: run.node().as_str().to_owned(),
            message: run.message.clone(),
            error_message: run.error_message().map(str::to_owned),
            ai_job_id: Key(run.ai_job_id),
            attempt: i64::from(run.attempt),
            warnings: serde_json::to_string(&run.warnings).map_err(json)?,
            revision: number(run.revision),
            started_at: run.started_at().map(At),
            completed_at: run.completed_at().map(At),
            created_at: At(run.created_at),
            updated_at: At(run.updated_at),
            taken_up: i64::from(run.taken_up),
        })
    }
}

impl RunRow {
    fn state(&self) -> Result<State, DbError> {
        let status: Status = self.status.parse().map_err(|_| self.wrong("its status"))?;
        let node: Node = self.node.parse().map_err(|_| self.wrong("its node"))?;
        let (started, completed) = (self.started_at.map(|at| at.0), self.completed_at.map(|at| at.0));
        match (status, started, completed, self.error_message.clone()) {
            (Status::Queued, None, None, None) => Ok(State::Queued),
            (Status::Processing, Some(started_at), None, None) => Ok(State::Processing { started_at, node }),
            (Status::Completed, Some(started_at), Some(completed_at), None) => {
                Ok(State::Completed { started_at, completed_at })
            }
            (Status::Partial, Some(started_at), Some(completed_at), None) => {
                Ok(State::Partial { started_at, completed_at })
            }
            (Status::Rejected, Some(started_at), Some(completed_at), Some(reason)) => {
                Ok(State::Rejected { started_at, completed_at, node, reason })
            }
            (Status::Failed, Some(started_at), Some(completed_at), Some(error_message)) => {
                Ok(State::Failed { started_at, completed_at, node, error_message })
            }
            (Status::Cancelled, started_at, Some(completed_at), None) => {
                Ok(State::Cancelled { started_at, completed_at, node })
            }
            _ => Err(self.wrong("its times and messages, which do not fit its status")),
        }
    }

    fn wrong(&self, what: &str) -> DbError {
        DbError::Broken(format!("the run {:?} can't be: {what}", self.id))
    }

    fn run(self) -> Result<Run, DbError> {
        let state = self.state()?;
        let document_ids = serde_json::from_str(&self.document_ids).map_err(|_| self.wrong("its documents"))?;
        let warnings: Vec<RunWarning> = serde_json::from_str(&self.warnings).map_err(|_| self.wrong("its warnings"))?;
        let analysis_type: AnalysisType = self.analysis_type.parse().map_err(|_| self.wrong("its type"))?;
        let progress = u8::try_from(self.progress).ok().filter(|progress| *progress <= 100);
        Ok(Run {
            progress: progress.ok_or_else(|| self.wrong("its progress"))?,
            attempt: u32::try_from(self.attempt).map_err(|_| self.wrong("its attempt"))?,
            taken_up: u32::try_from(self.taken_up).map_err(|_| self.wrong("how often it was begun"))?,
            revision: u64::try_from(self.revision).map_err(|_| self.wrong("its revision"))?,
            id: self.id.0,
            project_id: self.project_id.0,
            created_by: self.created_by_id.0,
            document_ids,
            meeting_id: self.meeting_id.map(|id| id.0),
            analysis_type,
            language: self.language,
            engine: self.engine,
            ai_job_id: self.ai_job_id.0,
            message: self.message,
            warnings,
            input_hash: self.input_hash,
            state,
            created_at: self.created_at.0,
            updated_at: self.updated_at.0,
        })
    }
}

pub async fn find(conn: &mut Conn, id: Id<Run>) -> Result<Option<Run>, DbError> {
    let row = runs::table.find(Key(id)).select(RunRow::columns()).first(conn).await.optional()?;
    row.map(RunRow::run).transpose()
}

/// The unfinished run over the same input, if there is one.
pub async fn unfinished(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    input_hash: &str,
) -> Result<Option<Run>, DbError> {
    let row = runs::table
        .filter(runs::project_id.eq(Key(project_id)))
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
        .filter(runs::created_by_id.eq(Key(user_id)))
        .select(runs::id)
        .limit(i64::try_from(most).unwrap_or(i64::MAX));
    let unfinished: Vec<Key<Run>> = unfinished.load(conn).await?;
    Ok(unfinished.len())
}

/// A project's unfinished runs.
pub async fn active(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Vec<Run>, DbError> {
    let rows: Vec<RunRow> = runs::table
        .filter(runs::project_id.eq(Key(project_id)))
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
    let found: Vec<Key<Run>> = found.load(conn).await?;
    Ok(found.into_iter().map(|id| id.0).collect())
}

/// The project's newest run that has a result.
pub async fn newest_successful(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Option<Run>, DbError> {
    let row = runs::table
        .filter(runs::project_id.eq(Key(project_id)))
        .filter(runs::status.eq_any(SUCCESSFUL))
        .order(runs::id.desc())
        .select(RunRow::columns())
        .first(conn)
        .await
        .optional()?;
    row.map(RunRow::run).transpose()
}

/// Inserts a newly queued run and its first events. Returns `None` if the run exists already, or another run over the
/// same input is unfinished.
pub async fn insert(
    conn: &mut Conn,
    change: &Change<Run>,
    request: &RequestId,
    at: Time,
) -> Result<Option<Vec<EventRecord>>, DbError> {
    let row = RunRow::try_from(&change.next)?;
    if diesel::insert_into(runs::table).values(&row).on_conflict_do_nothing().execute(conn).await? == 0 {
        return Ok(None);
    }
    let first = Decided { change: change.clone(), request: Arc::clone(request), at };
    tell(conn, std::slice::from_ref(&first), 0).await.map(Some)
}

/// The filter of the list of runs.
#[derive(Debug, Clone)]
pub struct Filter {
    pub status: Option<AiRunStatus>,
}

/// Lists a project's runs, newest first. Returns one more than the page holds, and the total count.
pub async fn list(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    filter: &Filter,
    page: &PageQuery,
) -> Result<(Vec<Run>, i64), DbError> {
    let status = filter.status.map_or("", AiRunStatus::as_str);
    macro_rules! listed {
        () => {
            runs::table
                .filter(runs::project_id.eq(Key(project_id)))
                .filter(filter.status.is_none().into_sql::<diesel::sql_types::Bool>().or(runs::status.eq(status)))
        };
    }
    let total: i64 = listed!().count().get_result(conn).await?;
    let rows: Vec<RunRow> = listed!()
        .filter(runs::id.lt(Key(Id::<Run>::from_uuid(page.before()))))
        .order(runs::id.desc())
        .limit(page.limit + 1)
        .select(RunRow::columns())
        .load(conn)
        .await?;
    let rows: Result<Vec<Run>, DbError> = rows.into_iter().map(RunRow::run).collect();
    Ok((rows?, total))
}

/// The topic of a run's events.
#[must_use]
pub fn topic(id: Id<Run>) -> Topic {
    Topic { kind: TopicKind::Run, id: id.uuid() }
}

/// Appends each event to the run's topic and to the project's topic. The project's comes last, because many writers
/// contend for its row.
async fn tell(conn: &mut Conn, changes: &[Decided<Run>], before: u64) -> Result<Vec<EventRecord>, DbError> {
    let (mut records, mut again) = (Vec::new(), Vec::new());
    let mut offset = before;
    for Decided { change, request, at } in changes {
        let run = &change.next;
        let data =
            serde_json::to_string(&AiAnalysisRun::of(run)).map_err(|error| DbError::Broken(error.to_string()))?;
        for event in &change.events {
            offset += 1;
            records.push(events::append_at(conn, topic(run.id), offset, event.kind(), &data, *at, request).await?);
        }
        let project = Topic { kind: TopicKind::Project, id: run.project_id.uuid() };
        again.push((project, &change.events, data, *at, request));
    }
    for (project, said, data, at, request) in again {
        for event in said {
            records.push(events::append(conn, project, event.kind(), &data, at, request).await?);
        }
    }
    Ok(records)
}

/// The journal of the run actors.
pub struct RunJournal {
    pub db: Db,
}

enum NotSaved {
    Conflict,
    Failed(DbError),
}

impl From<DbError> for NotSaved {
    fn from(failed: DbError) -> Self {
        Self::Failed(failed)
    }
}

#[async_trait]
impl Journal<Run> for RunJournal {
    async fn load(&self, key: Id<Run>) -> Result<Option<Run>, StoreUnavailable> {
        Ok(self.db.read(move |conn| Box::pin(find(conn, key))).await?)
    }

    async fn save(&self, group: Arc<Batch<Run>>) -> Result<Vec<EventRecord>, Unsaved> {
        let saved = self.db.write(move |conn| {
            Box::pin(async move {
                let before = group.before.revision();
                if !update(conn, group.after(), before).await? {
                    return Err(NotSaved::Conflict);
                }
                for Decided { change, .. } in &group.changes {
                    if !change.events.is_empty() && change.next.is_over() {
                        end(conn, &change.next).await?;
                    }
                }
                Ok(tell(conn, &group.changes, before).await?)
            })
        });
        saved.await.map_err(|not| match not {
            NotSaved::Conflict => Unsaved::Conflict,
            NotSaved::Failed(failed) if failed.is_taken() => Unsaved::Conflict,
            NotSaved::Failed(failed) => failed.into(),
        })
    }

    async fn settle(&self, _: Id<Run>) -> Result<(), StoreUnavailable> {
        self.db.settle().await;
        Ok(())
    }

    async fn awake(&self) -> Result<Vec<Id<Run>>, StoreUnavailable> {
        Ok(self.db.read(|conn| Box::pin(all_unfinished(conn))).await?)
    }
}

/// Applies the end of an attempt: publishes its results if it succeeded, and deletes its draft and the stored outputs
/// of its nodes.
async fn end(conn: &mut Conn, run: &Run) -> Result<(), DbError> {
    if SUCCESSFUL.contains(&run.status().as_str()) && !results::store::publish(conn, run).await? {
        return Err(DbError::Broken(format!("the run {} can't be complete: nothing says what it found", run.id)));
    }
    results::store::forget_draft(conn, run.id).await?;
    diesel::delete(run_nodes::table.filter(run_nodes::run_id.eq(Key(run.id)))).execute(conn).await?;
    Ok(())
}

/// Whether this attempt of the run is in progress. Locks the row, so that no other writer can end the attempt before
/// the transaction does: rows written for it in the same transaction cannot be orphaned.
pub async fn is_at_work(conn: &mut Conn, id: Id<Run>, attempt: u32) -> Result<bool, DbError> {
    let attempt = i64::from(attempt);
    let at_work = runs::table.find(Key(id)).filter(runs::attempt.eq(attempt));
    let at_work = at_work.filter(runs::status.eq(Status::Processing.as_str()));
    // Changes nothing, but locks the row.
    Ok(diesel::update(at_work).set(runs::attempt.eq(attempt)).execute(conn).await? == 1)
}

/// Updates a run if the stored revision still equals `before`. Returns whether it did.
async fn update(conn: &mut Conn, run: &Run, before: u64) -> Result<bool, DbError> {
    let row = RunRow::try_from(run)?;
    let updated = diesel::update(runs::table.find(row.id)).filter(runs::revision.eq(number(before))).set((
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
    ));
    Ok(updated.execute(conn).await? == 1)
}

/// The stored output of a node for the same input and engine version, from the latest attempt.
pub async fn node_output(
    conn: &mut Conn,
    run_id: Id<Run>,
    node: &str,
    input_hash: &str,
    engine_version: &str,
) -> Result<Option<String>, DbError> {
    Ok(run_nodes::table
        .filter(run_nodes::run_id.eq(Key(run_id)))
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
    pub run_id: Key<Run>,
    pub attempt: i64,
    pub node: String,
    pub input_hash: String,
    pub engine_version: String,
    pub output: String,
    pub kept_at: At,
}

/// Stores the output of a node, replacing an earlier one of the same attempt.
pub async fn keep_node_output(conn: &mut Conn, output: NodeOutput) -> Result<(), DbError> {
    diesel::delete(run_nodes::table.find((output.run_id, output.attempt, output.node.clone()))).execute(conn).await?;
    diesel::insert_into(run_nodes::table).values(&output).execute(conn).await?;
    Ok(())
}

/// Outputs of nodes older than a day: their run has ended, or is better started from the beginning.
pub const OVER: Over =
    Over { table: "run_nodes", key: "run_id, attempt, node", at: "kept_at", kept: Duration::from_secs(24 * 60 * 60) };
