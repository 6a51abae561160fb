//! Operations on baselines, one function each.

use std::collections::HashMap;

use actors::ids::{self, Id, User};
use tokio::task::spawn_blocking;

use super::bodies::CreateBaseline;
use super::comparison::compare as compared;
use super::model::{Baseline, BaselineAuthor, BaselineComparison, BaselineCounts};
use super::store::{self, StoredBaseline};
use super::{MAX_BASELINES, ProjectBaseline};
use crate::access::principal::Caller;
use crate::analysis::large_reads::memory::{MAX_PARSED_BYTES, WorkMemory};
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;
use crate::http::reason::Reason;
use crate::reviews::state::Reviews;
use crate::{accounts, projects};

/// Takes a baseline. If the id exists already, returns that one.
///
/// # Errors
/// 409 in an archived project, or if it has [`MAX_BASELINES`]; 404 if it was deleted in the meantime.
pub async fn create(
    state: &Reviews,
    caller: Caller,
    project_id: Id<ids::Project>,
    id: Id<Baseline>,
    body: CreateBaseline,
) -> Result<Baseline, ApiError> {
    let now = state.now();
    let taken = state.db.write(move |conn| {
        Box::pin(async move {
            let gone = || ApiError::of(Code::NOT_FOUND);
            // Locks the project's row: of two baselines the second gets the next number.
            let project = projects::store::find_to_change(conn, project_id).await?.ok_or_else(gone)?;
            if let Some(taken) = store::find(conn, project_id, id).await? {
                return shown(conn, vec![taken]).await?.pop().ok_or_else(gone);
            }
            projects::must_be_active(&project)?;
            let count = store::count(conn, project_id).await?;
            if count >= MAX_BASELINES {
                let full = format!("A project can have {MAX_BASELINES} baselines, and baselines are never deleted.");
                return Err(ApiError::with_message(Code::BASELINE_LIMIT_REACHED, full));
            }
            let baseline = StoredBaseline {
                id,
                number: count + 1,
                name: body.name.0,
                note: body.note.map(|note| note.0).filter(|note| !note.is_empty()),
                counts: BaselineCounts { requirements: 0, user_stories: 0, acceptance_criteria: 0 },
                created_by: caller.user_id,
                created_at: now,
            };
            let taken = store::take(conn, project_id, baseline).await?;
            shown(conn, vec![taken]).await?.pop().ok_or_else(gone)
        })
    });
    taken.await
}

/// Lists a project's baselines, newest first.
///
/// # Errors
/// Only database errors.
pub async fn list(state: &Reviews, project_id: Id<ids::Project>, page: PageQuery) -> Result<List<Baseline>, ApiError> {
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let List { items, next_cursor, total_count } = store::list(conn, project_id, page).await?;
            Ok::<_, DbError>(List { items: shown(conn, items).await?, next_cursor, total_count })
        })
    });
    Ok(found.await?)
}

/// Adds the names of those who took the baselines.
async fn shown(conn: &mut Conn, stored: Vec<StoredBaseline>) -> Result<Vec<Baseline>, DbError> {
    let mut authors: Vec<Id<User>> = stored.iter().map(|one| one.created_by).collect();
    authors.sort_unstable();
    authors.dedup();
    let found = accounts::store::accounts(conn, &authors).await?;
    let names: HashMap<Id<User>, String> = found.into_iter().map(|one| (one.id, one.full_name)).collect();
    let baseline = |one: StoredBaseline| Baseline {
        id: one.id,
        number: one.number,
        name: one.name,
        note: one.note,
        counts: one.counts,
        created_by: BaselineAuthor { id: one.created_by, name: names.get(&one.created_by).cloned() },
        created_at: one.created_at,
    };
    Ok(stored.into_iter().map(baseline).collect())
}

/// Compares a baseline with another one, or with the present.
///
/// # Errors
/// 422 if the other one is none of this project; 409 if the items are too large to be compared at once; 503 if there is no
/// memory for it.
pub async fn compare(
    state: &Reviews,
    baseline: ProjectBaseline,
    with: Option<Id<Baseline>>,
) -> Result<BaselineComparison, ApiError> {
    let ProjectBaseline { project_id, id } = baseline;
    let sizes = state.db.read(move |conn| {
        Box::pin(async move {
            let other = match with {
                None => store::present_bytes(conn, project_id).await?,
                Some(with) => store::copied_bytes(conn, project_id, with).await?,
            };
            Ok::<_, DbError>(store::copied_bytes(conn, project_id, id).await?.saturating_add(other))
        })
    });
    let bytes = sizes.await.map_err(ApiError::from)?;
    if bytes > MAX_PARSED_BYTES {
        return Err(ApiError::of(Code::RESULTS_TOO_LARGE));
    }
    let memory = WorkMemory::soon(state.analysis.large_reads.memory.for_parsed(project_id, bytes)).await?;
    let held = memory.clone();
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            // Both as of one moment.
            let found = conn.transaction(async |conn| {
                let other = match with {
                    None => store::present_items(conn, project_id).await?,
                    Some(with) if store::find(conn, project_id, with).await?.is_none() => return Ok(None),
                    Some(with) => store::copied_items(conn, project_id, with).await?,
                };
                Ok::<_, DbError>(Some((store::copied_items(conn, project_id, id).await?, other)))
            });
            let found = found.await;
            drop(held);
            found
        })
    });
    let found = found.await.map_err(|failed: DbError| ApiError::from(failed))?;
    let unknown =
        || ApiError::field("with", Reason::InvalidValue, "This must be the id of a baseline of this project.");
    let (before, after) = found.ok_or_else(unknown)?;
    let comparison = spawn_blocking(move || {
        let _memory = memory;
        compared(&before, &after)
    });
    comparison.await.map_err(ApiError::internal)?.map_err(ApiError::internal)
}
