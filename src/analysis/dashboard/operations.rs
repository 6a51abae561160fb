//! The dashboard operation.

use std::marker::PhantomData;

use actors::ids::{self, Id};
use actors::run::Run;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use tokio::task::spawn_blocking;

use super::filter::DashboardFilter;
use super::filtering::Sieve;
use super::model::ResultsDashboard;
use super::specification::StoredSpecification;
use super::store::{self as results, StoredResult};
use super::unparsed::Unparsed;
use crate::analysis::effects::store::findings_of;
use crate::analysis::effects::telling;
use crate::analysis::exports::model::DashboardExport;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::items::spooling::all_items;
use crate::analysis::large_reads::memory::{MAX_PARSED_BYTES, ReservedMemory, WorkMemory};
use crate::analysis::large_reads::{SharedAnswer, answered};
use crate::analysis::pairs::store::contradictions_of_run;
use crate::analysis::state::Analysis;
use crate::analysis::{exports, store};
use crate::db::{Conn, DbError};
use crate::http::answer::SpooledAnswer;
use crate::http::code::Code;
use crate::http::envelope::write;
use crate::http::error::ApiError;
use crate::http::spool::unspooled;

/// Returns what a run found; without a run id, the specification as it stands.
///
/// What a run found stays as it was. The stored items are not parsed beyond what is counted, because they may be many and are
/// polled. Equal requests share the work.
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
    let exports = state.db.read(move |conn| {
        Box::pin(async move {
            run_with_result(conn, project_id, run_id).await?;
            Ok(exports::store::of_run(conn, project_id, run_id, now).await?)
        })
    });
    let exports: Result<Vec<DashboardExport>, ApiError> = exports.await;
    let exports = exports?;
    let stored = stored(state, project_id, run_id).await?.ok_or_else(no_result)?;
    let etag = match exports.is_empty() {
        true => stored.etag.clone(),
        false => format!("{}-{}", stored.etag, exports_hash(&exports)?),
    };
    let mut spool = state.large_reads.spool(project_id);
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
    // What a run found is shown as it is stored, but with exports it is parsed.
    let memory = match &stored.content {
        StoredContent::Run { result, .. } if !exports.is_empty() => {
            WorkMemory::soon(state.large_reads.memory.for_parsed(project_id, result.bytes)).await?
        }
        _ => WorkMemory::soon(state.large_reads.memory.reserve(project_id, stored.bytes_shown())).await?,
    };
    let written = match stored.content {
        StoredContent::Specification(specification) => spawn_blocking(move || {
            let _memory = memory;
            specification.shown(&exports, |shown| write(&mut spool, 200, message, shown))?;
            Ok::<_, ApiError>(spool.finish())
        }),
        StoredContent::Run { run_id, .. } => {
            let text = result_text(state, run_id, &memory).await?;
            spawn_blocking(move || {
                let _memory = memory;
                if exports.is_empty() {
                    let raw: &RawValue = serde_json::from_str(&text).map_err(ApiError::internal)?;
                    write(&mut spool, 200, message, raw)?;
                } else {
                    let found: ResultsDashboard = serde_json::from_str(&text).map_err(ApiError::internal)?;
                    write(&mut spool, 200, message, &ResultsDashboard { exports, ..found })?;
                }
                Ok::<_, ApiError>(spool.finish())
            })
        }
    };
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

/// A dashboard, of which no item has been parsed.
pub struct StoredDashboard {
    /// Changes with the content.
    pub etag: String,
    content: StoredContent,
}

enum StoredContent {
    Specification(StoredSpecification),
    Run { run_id: Id<Run>, result: StoredResult },
}

impl StoredDashboard {
    /// The size of all that is stored, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match &self.content {
            StoredContent::Specification(specification) => specification.bytes(),
            StoredContent::Run { result, .. } => result.bytes,
        }
    }

    /// How much memory it takes to show it.
    fn bytes_shown(&self) -> usize {
        match &self.content {
            StoredContent::Specification(specification) => specification.bytes_shown(),
            StoredContent::Run { result, .. } => result.bytes.saturating_mul(2),
        }
    }

    /// Parses what a filter keeps, with the memory that is reserved for it.
    ///
    /// # Errors
    /// [`Unparsed`] if it is too large, or can't be parsed.
    pub async fn parse(
        self,
        state: &Analysis,
        filter: DashboardFilter,
        memory: &ReservedMemory,
    ) -> Result<ResultsDashboard, Unparsed> {
        let held = memory.clone();
        let parsed = match self.content {
            StoredContent::Specification(specification) => spawn_blocking(move || {
                let _memory = held;
                specification.parsed(&filter, MAX_PARSED_BYTES)
            }),
            StoredContent::Run { run_id, .. } => {
                let text = result_text(state, run_id, memory).await;
                let text = text.map_err(|failed| Unparsed::Failed(failed.into()))?;
                spawn_blocking(move || {
                    let _memory = held;
                    parsed_result(&text, &filter, MAX_PARSED_BYTES)
                })
            }
        };
        parsed.await.map_err(|error| Unparsed::Failed(ApiError::internal(error)))?
    }
}

/// Parses a stored result, and leaves of it what a filter keeps, if it has at most `most` bytes.
fn parsed_result(text: &str, filter: &DashboardFilter, most: usize) -> Result<ResultsDashboard, Unparsed> {
    if text.len() > most {
        return Err(Unparsed::TooLarge);
    }
    let found: ResultsDashboard =
        serde_json::from_str(text).map_err(|error| Unparsed::Failed(ApiError::internal(error)))?;
    if filter.is_empty() {
        return Ok(found);
    }
    let mut sieve = Sieve::new(filter);
    let mut kept = ResultsDashboard {
        run_id: found.run_id,
        summary: found.summary,
        metrics: found.metrics,
        quality: found.quality,
        ..ResultsDashboard::empty(found.project_id, found.generated_at)
    };
    let items = found.requirements.into_iter().map(ProjectItem::Requirement);
    let items = items.chain(found.user_stories.into_iter().map(ProjectItem::UserStory));
    let items = items.chain(found.risks.into_iter().map(ProjectItem::Risk));
    let items = items.chain(found.open_questions.into_iter().map(ProjectItem::OpenQuestion));
    let items = items.chain(found.action_items.into_iter().map(ProjectItem::ActionItem));
    for item in items.chain(found.decisions.into_iter().map(ProjectItem::Decision)) {
        if sieve.keeps(&item) {
            kept.push(item);
        }
    }
    kept.count_items();
    Ok(kept)
}

/// Reads the stored result of a run, with the memory that is reserved for it.
async fn result_text(state: &Analysis, run_id: Id<Run>, memory: &ReservedMemory) -> Result<String, DbError> {
    let memory = memory.clone();
    let text = state.db.read(move |conn| {
        Box::pin(async move {
            let text = results::result_text(conn, run_id).await;
            drop(memory);
            text
        })
    });
    text.await?.ok_or_else(|| DbError::Broken(format!("the result of the run {run_id} is gone")))
}

/// Finds what a run found, or the specification as it stands, without parsing an item. `None` if there is no such run in the
/// project, or it has no result.
///
/// # Errors
/// Only database errors; [`DbError::Busy`] too if the disk is full, or the items change all the time.
pub async fn stored(
    state: &Analysis,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
) -> Result<Option<StoredDashboard>, DbError> {
    let Some(run_id) = run_id else { return specification(state, project_id).await.map(Some) };
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let run = store::find(conn, run_id).await?.filter(|run| run.project_id == project_id);
            if run.is_some() { results::result(conn, run_id).await } else { Ok(None) }
        })
    });
    let found: Option<StoredResult> = found.await?;
    Ok(found.map(|result| {
        let etag = format!("{run_id}-{}", result.generated_at.millis());
        StoredDashboard { etag, content: StoredContent::Run { run_id, result } }
    }))
}

async fn specification(state: &Analysis, project_id: Id<ids::Project>) -> Result<StoredDashboard, DbError> {
    let (runs, latest) = state
        .db
        .read(move |conn| {
            Box::pin(async move {
                let runs = results::run_shares(conn, project_id).await?;
                // What the first one found is all that there is.
                let latest = match runs.as_slice() {
                    [_, .., newest] => {
                        let found = findings_of(conn, newest.run_id).await?;
                        let contradictions = contradictions_of_run(conn, newest.run_id, telling::MAX_TOLD).await?;
                        Some(telling::summary(&found, &contradictions))
                    }
                    _ => None,
                };
                Ok::<_, DbError>((runs, latest))
            })
        })
        .await?;
    let items = all_items(&state.db, project_id, state.large_reads.spool(project_id)).await?;
    let specification = StoredSpecification { project_id, now: state.now(), runs, latest, items };
    let revised = spawn_blocking(move || specification.revision().map(|revision| (revision, specification))).await;
    let revised = revised.map_err(|error| DbError::Unavailable(error.to_string()))?;
    let (etag, specification) = revised.map_err(|error| unspooled(&error))?;
    Ok(StoredDashboard { etag, content: StoredContent::Specification(specification) })
}

/// Checks that a run, where one is named, is in the project and has a result.
///
/// # Errors
/// 404 for a run that is not in the project; 409 for a run without a result.
pub async fn run_with_result(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
) -> Result<(), ApiError> {
    let Some(id) = run_id else { return Ok(()) };
    let run = store::find(conn, id).await?.filter(|run| run.project_id == project_id);
    run.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
    if results::has_result(conn, id).await? { Ok(()) } else { Err(no_result()) }
}
