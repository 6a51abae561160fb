//! The dashboard operation.

use std::marker::PhantomData;

use actors::ids::{self, Id};
use actors::run::Run;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::current::{self, CurrentResult, Unparsed};
use super::filter::DashboardFilter;
use super::model::ResultsDashboard;
use super::store::{self as results, StoredResult};
use crate::analysis::exports::model::DashboardExport;
use crate::analysis::items::spooled::SpooledItems;
use crate::analysis::items::spooling::{FewItems, few_since};
use crate::analysis::large_reads::memory::{MAX_PARSED_BYTES, ReservedMemory, WorkMemory};
use crate::analysis::large_reads::{SharedAnswer, answered};
use crate::analysis::state::Analysis;
use crate::analysis::{exports, store};
use crate::db::{Conn, DbError};
use crate::http::answer::SpooledAnswer;
use crate::http::code::Code;
use crate::http::envelope::write;
use crate::http::error::ApiError;
use crate::http::spool::{SpoolWriter, unspooled};

/// Returns the results of a run; without a run id, those of the newest successful run, or an empty dashboard.
///
/// The newest run shows the project's items as they are now, the older ones as they were. The stored result is not parsed
/// beyond that, because it may be large and is polled. Equal requests share the work.
///
/// # Errors
/// 404 for a run that is not in the project; 409 for a run without a result, and for more than can be filtered at once; 503 if
/// there is no memory for it.
pub async fn dashboard(
    state: &Analysis,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    filter: DashboardFilter,
    message: &'static str,
) -> Result<SpooledAnswer<ResultsDashboard>, ApiError> {
    let run = run_id.map(|id| id.to_string()).unwrap_or_default();
    let key = format!("dashboard {project_id} {run} {}", filter.hash());
    let made = state.large_reads.answers.share(key, || make(state, project_id, run_id, filter, message)).await?;
    Ok(SpooledAnswer { etag: made.etag, spool: made.spool, of: PhantomData })
}

async fn make(
    state: &Analysis,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    filter: DashboardFilter,
    message: &'static str,
) -> Result<SharedAnswer, ApiError> {
    let now = state.now();
    let spool = state.large_reads.spool(project_id);
    let read = async move |conn: &mut Conn| {
        let Some(found) = find(conn, project_id, run_id, spool).await? else { return Ok(None) };
        let exports = exports::store::of_run(conn, project_id, found.run_id, now).await?;
        Ok::<_, DbError>(Some((found, exports)))
    };
    let found = state.db.read(move |conn| Box::pin(async move { read(conn).await })).await?;
    let mut spool = state.large_reads.spool(project_id);
    let (FoundResult { run_id, result, changed }, exports) = match (found, run_id) {
        (Some(found), _) => found,
        (None, Some(_)) => return Err(ApiError::of(Code::NOT_FOUND)),
        (None, None) => {
            write(&mut spool, 200, message, &ResultsDashboard::empty(project_id, state.now()))?;
            return answered(Some("\"none\"".to_owned()), spool.finish());
        }
    };
    let result = result.ok_or_else(no_result)?;
    let stored = StoredDashboard::of(state, run_id, result, changed).await?;
    let etag = match exports.is_empty() {
        true => stored.etag.clone(),
        false => format!("{}-{}", stored.etag, exports_hash(&exports)?),
    };
    if !filter.is_empty() {
        let memory = WorkMemory::soon(state.large_reads.memory.for_parsed(project_id, stored.bytes())).await?;
        let etag = format!("\"{etag}-{}\"", filter.hash());
        let dashboard = stored.parse(state, filter, &memory).await.map_err(ApiError::from)?;
        let shown = ResultsDashboard { exports, ..dashboard };
        let written = spawn_blocking(move || {
            let _memory = memory;
            write(&mut spool, 200, message, &shown)?;
            Ok::<_, ApiError>(spool.finish())
        });
        return answered(Some(etag), written.await.map_err(ApiError::internal)??);
    }
    let memory = WorkMemory::soon(state.large_reads.memory.reserve(project_id, stored.bytes_shown())).await?;
    let text = stored.text(state, &memory).await.map_err(ApiError::from)?;
    let written = spawn_blocking(move || {
        let _memory = memory;
        if stored.changed.is_empty() && exports.is_empty() {
            let raw: &RawValue = serde_json::from_str(&text).map_err(ApiError::internal)?;
            write(&mut spool, 200, message, raw)?;
        } else {
            current::shown(stored.current(&text), &exports, |shown| write(&mut spool, 200, message, shown))?;
        }
        Ok::<_, ApiError>(spool.finish())
    });
    answered(Some(format!("\"{etag}\"")), written.await.map_err(ApiError::internal)??)
}

fn no_result() -> ApiError {
    ApiError::with_message(Code::INVALID_STATE, "The run has no result.")
}

/// Returns 16 hex digits that change with any of the exports.
fn exports_hash(exports: &[DashboardExport]) -> Result<String, ApiError> {
    let text = serde_json::to_vec(exports).map_err(ApiError::internal)?;
    Ok(hex::encode(Sha256::digest(text)).chars().take(16).collect())
}

/// A dashboard of which only the items that changed were read.
pub struct StoredDashboard {
    pub run_id: Id<Run>,
    /// Changes with the content.
    pub etag: String,
    result: StoredResult,
    changed: SpooledItems,
}

impl StoredDashboard {
    async fn of(state: &Analysis, run_id: Id<Run>, result: StoredResult, changed: FewItems) -> Result<Self, DbError> {
        let changed = changed.all(&state.db).await?;
        let generated_at = result.generated_at.millis();
        if changed.is_empty() {
            return Ok(Self { run_id, etag: format!("{run_id}-{generated_at}"), result, changed });
        }
        let hashed = spawn_blocking(move || changed.hash(16).map(|hash| (hash, changed))).await;
        let hashed = hashed.map_err(|error| DbError::Unavailable(error.to_string()))?;
        let (hash, changed) = hashed.map_err(|error| unspooled(&error))?;
        Ok(Self { run_id, etag: format!("{run_id}-{generated_at}-{hash}"), result, changed })
    }

    /// The size of all that is stored, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.result.bytes.saturating_add(self.changed.bytes())
    }

    /// How much memory it takes to show it: the stored text with the places of its items, and some items.
    fn bytes_shown(&self) -> usize {
        let largest = self.changed.iter().map(|(_, item)| item.bytes).max().unwrap_or_default();
        self.result.bytes.saturating_mul(2).saturating_add(largest.saturating_mul(2))
    }

    /// Reads what is stored, with the memory that is reserved for it.
    async fn text(&self, state: &Analysis, memory: &ReservedMemory) -> Result<String, DbError> {
        let (run_id, memory) = (self.run_id, memory.clone());
        let text = state.db.read(move |conn| {
            Box::pin(async move {
                let text = results::result_text(conn, run_id).await;
                drop(memory);
                text
            })
        });
        let text = text.await?;
        text.ok_or_else(|| DbError::Broken(format!("the result of the run {run_id} is gone")))
    }

    const fn current<'a>(&'a self, text: &'a str) -> CurrentResult<'a> {
        CurrentResult { stored: text, run_id: self.run_id, changed: &self.changed }
    }

    /// Reads it, and parses what a filter keeps, with the memory that is reserved for it.
    ///
    /// # Errors
    /// [`Unparsed`] if it is too large, or can't be parsed.
    pub async fn parse(
        self,
        state: &Analysis,
        filter: DashboardFilter,
        memory: &ReservedMemory,
    ) -> Result<ResultsDashboard, Unparsed> {
        let text = self.text(state, memory).await.map_err(|failed| Unparsed::Failed(failed.into()))?;
        let memory = memory.clone();
        let parsed = spawn_blocking(move || {
            let _memory = memory;
            current::parsed(self.current(&text), &filter, MAX_PARSED_BYTES)
        });
        let parsed = parsed.await;
        parsed.map_err(|error| Unparsed::Failed(ApiError::internal(error)))?
    }
}

impl From<Unparsed> for ApiError {
    fn from(unparsed: Unparsed) -> Self {
        match unparsed {
            Unparsed::TooLarge => Self::of(Code::RESULTS_TOO_LARGE),
            Unparsed::Failed(failed) => failed,
        }
    }
}

/// Finds the dashboard of a run, or of the newest successful one, for those who need more of it than its text. `None`
/// if there is no such run in the project, or it has no result.
///
/// # Errors
/// Only database errors.
pub async fn stored(
    state: &Analysis,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
) -> Result<Option<StoredDashboard>, DbError> {
    let spool = state.large_reads.spool(project_id);
    let found = state.db.read(move |conn| Box::pin(find(conn, project_id, run_id, spool))).await?;
    let Some(FoundResult { run_id, result: Some(result), changed }) = found else { return Ok(None) };
    StoredDashboard::of(state, run_id, result, changed).await.map(Some)
}

/// Returns the stored result of a run as it is stored, for those who parse it elsewhere, and whether the dashboard also shows the
/// items of the run that people accepted since: that of the newest run does. `None` if the run has no result.
///
/// # Errors
/// Only database errors.
pub async fn unparsed(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Id<Run>,
) -> Result<Option<(String, bool)>, DbError> {
    let newest = store::newest_successful(conn, project_id).await?;
    let is_newest = newest.is_some_and(|run| run.id == run_id);
    Ok(results::result_text(conn, run_id).await?.map(|text| (text, is_newest)))
}

/// Finds the run whose dashboard is meant: the given one, or the newest successful one. `None` if no run of the project was
/// successful.
///
/// # Errors
/// 404 for a run that is not in the project; 409 for a run without a result.
pub async fn run_with_result(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
) -> Result<Option<Id<Run>>, ApiError> {
    let Some(id) = run_id else { return Ok(store::newest_successful(conn, project_id).await?.map(|run| run.id)) };
    let run = store::find(conn, id).await?.filter(|run| run.project_id == project_id);
    run.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    if results::has_result(conn, id).await? { Ok(Some(id)) } else { Err(no_result()) }
}

/// The result of a run, and the items that have changed since, if it is the newest one.
struct FoundResult {
    run_id: Id<Run>,
    result: Option<StoredResult>,
    changed: FewItems,
}

async fn find(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    spool: SpoolWriter,
) -> Result<Option<FoundResult>, DbError> {
    let newest = store::newest_successful(conn, project_id).await?.map(|run| run.id);
    let Some(run_id) = run_id.or(newest) else { return Ok(None) };
    if newest != Some(run_id) && store::find(conn, run_id).await?.is_none_or(|run| run.project_id != project_id) {
        return Ok(None);
    }
    let result = results::result(conn, run_id).await?;
    let changed = match result.filter(|_| newest == Some(run_id)) {
        Some(stored) => few_since(conn, project_id, stored.composed_at, spool).await?,
        None => FewItems::none(project_id, spool),
    };
    Ok(Some(FoundResult { run_id, result, changed }))
}
