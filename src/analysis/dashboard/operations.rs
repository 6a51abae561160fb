//! The dashboard operation.

use std::marker::PhantomData;

use actors::ids::{self, Id};
use actors::run::Run;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::current;
use super::filter::DashboardFilter;
use super::model::ResultsDashboard;
use crate::analysis::exports;
use crate::analysis::exports::model::DashboardExport;
use crate::analysis::results::store::{self as results, ChangedItem, StoredResult};
use crate::analysis::state::Analysis;
use crate::analysis::store;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::envelope::{Prerendered, success};
use crate::http::error::ApiError;

/// Returns the results of a run; without a run id, those of the newest successful run, or an empty dashboard.
///
/// The newest run shows the project's items as they are now, the older ones as they were. The stored result is not parsed
/// beyond that, because it may be large and is polled.
///
/// # Errors
/// 404 for a run that is not in the project; 409 for a run without a result.
pub async fn dashboard(
    state: &Analysis,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    filter: DashboardFilter,
    message: &'static str,
) -> Result<Prerendered<ResultsDashboard>, ApiError> {
    let now = state.now();
    let read = async move |conn: &mut Conn| {
        let Some(found) = find(conn, project_id, run_id).await? else { return Ok(None) };
        let exports = exports::store::of_run(conn, project_id, found.run_id, now).await?;
        Ok::<_, DbError>(Some((found, exports)))
    };
    let found = state.db.read(move |conn| Box::pin(async move { read(conn).await })).await?;
    let (FoundResult { run_id, result, changed }, exports) = match (found, run_id) {
        (Some(found), _) => found,
        (None, Some(_)) => return Err(ApiError::of(Code::NOT_FOUND)),
        (None, None) => {
            let empty = ResultsDashboard::empty(project_id, state.now());
            return Ok(rendered("\"none\"".to_owned(), success(200, message, &empty)?));
        }
    };
    let result = result.ok_or_else(no_result)?;
    let etag = etag(run_id, &result, &changed);
    let etag = if exports.is_empty() { etag } else { format!("{etag}-{}", exports_hash(&exports)?) };
    if !filter.is_empty() {
        let stored = StoredDashboard { run_id, etag, result, changed };
        let etag = format!("\"{}-{}\"", stored.etag, filter.hash());
        let body = spawn_blocking(move || {
            let mut dashboard = stored.parse()?;
            filter.apply(&mut dashboard);
            dashboard.exports = exports;
            success(200, message, &dashboard)
        });
        return Ok(rendered(etag, body.await.map_err(ApiError::internal)??));
    }
    let etag = format!("\"{etag}\"");
    if changed.is_empty() && exports.is_empty() {
        let result = RawValue::from_string(result.result).map_err(ApiError::internal)?;
        return Ok(rendered(etag, success(200, message, &result)?));
    }
    let body = spawn_blocking(move || current::rendered(&result.result, run_id, &changed, &exports, message));
    Ok(rendered(etag, body.await.map_err(ApiError::internal)??))
}

fn no_result() -> ApiError {
    ApiError::with_message(Code::INVALID_STATE, "The run has no result.")
}

/// Returns 16 hex digits that change with any of the exports.
fn exports_hash(exports: &[DashboardExport]) -> Result<String, ApiError> {
    let text = serde_json::to_vec(exports).map_err(ApiError::internal)?;
    Ok(hex::encode(Sha256::digest(text)).chars().take(16).collect())
}

/// Returns what changes with the content of a dashboard.
fn etag(run_id: Id<Run>, stored: &StoredResult, changed: &[ChangedItem]) -> String {
    let generated_at = stored.generated_at.millis();
    if changed.is_empty() {
        return format!("{run_id}-{generated_at}");
    }
    format!("{run_id}-{generated_at}-{}", current::hash(changed))
}

/// A dashboard that is not parsed yet.
pub struct StoredDashboard {
    pub run_id: Id<Run>,
    /// Changes with the content.
    pub etag: String,
    result: StoredResult,
    changed: Vec<ChangedItem>,
}

impl StoredDashboard {
    /// The size of what is stored, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.result.result.len() + self.changed.iter().map(|item| item.body.len()).sum::<usize>()
    }

    /// Parses it. Takes long for a large one.
    ///
    /// # Errors
    /// 500 for a stored result or item that can't be parsed.
    pub fn parse(&self) -> Result<ResultsDashboard, ApiError> {
        current::parsed(&self.result.result, self.run_id, &self.changed)
    }
}

/// Returns the dashboard of a run, or of the newest successful one, for those who need more of it than its text. `None`
/// if there is no such run in the project, or it has no result.
///
/// # Errors
/// Only database errors.
pub async fn stored(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
) -> Result<Option<StoredDashboard>, DbError> {
    let Some(FoundResult { run_id, result: Some(result), changed }) = find(conn, project_id, run_id).await? else {
        return Ok(None);
    };
    let etag = etag(run_id, &result, &changed);
    Ok(Some(StoredDashboard { run_id, etag, result, changed }))
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
    Ok(results::result(conn, run_id).await?.map(|stored| (stored.result, is_newest)))
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
    changed: Vec<ChangedItem>,
}

async fn find(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
) -> Result<Option<FoundResult>, DbError> {
    let newest = store::newest_successful(conn, project_id).await?.map(|run| run.id);
    let Some(run_id) = run_id.or(newest) else { return Ok(None) };
    if newest != Some(run_id) {
        let run = store::find(conn, run_id).await?.filter(|run| run.project_id == project_id);
        let Some(run) = run else { return Ok(None) };
        return Ok(Some(FoundResult {
            run_id: run.id,
            result: results::result(conn, run.id).await?,
            changed: Vec::new(),
        }));
    }
    let result = results::result(conn, run_id).await?;
    let changed = match &result {
        Some(stored) => results::changed_since(conn, project_id, stored.composed_at).await?,
        None => Vec::new(),
    };
    Ok(Some(FoundResult { run_id, result, changed }))
}

fn rendered(etag: String, body: Vec<u8>) -> Prerendered<ResultsDashboard> {
    Prerendered { etag, body: body.into(), of: PhantomData }
}
