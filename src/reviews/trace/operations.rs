//! The operation that makes the trace matrix.

use std::io;
use std::marker::PhantomData;

use actors::ids::{self, Id};
use tokio::task::spawn_blocking;

use super::matrix::{MAX_COVERED, Untraced, matrix};
use super::model::TraceMatrix;
use crate::analysis::items::spooled::SpooledItems;
use crate::analysis::items::spooling::all_items;
use crate::analysis::large_reads::memory::{MAX_PARSED_BYTES, WorkMemory};
use crate::analysis::large_reads::{SharedAnswer, answered};
use crate::http::answer::SpooledAnswer;
use crate::http::code::Code;
use crate::http::envelope::write;
use crate::http::error::ApiError;
use crate::projects::item_kind::ItemKind;
use crate::reviews::state::Reviews;

/// The least that a story says in JSON of a requirement that it covers, in bytes: its id.
const LINK_BYTES: usize = 39;
/// What a row keeps of a story, in bytes: its codes, its status and its issue.
const KEPT_OF_STORY_BYTES: usize = 256;
/// How often a requirement is in memory: as it is stored, parsed, and in its row.
const COPIES: usize = 3;

/// Returns the trace matrix. Equal requests share the work.
///
/// # Errors
/// 409 if the requirements are too large to be shown at once, or have too many stories; 503 if there is no memory for
/// it; 500 for a stored item that can't be parsed.
pub async fn trace(
    state: &Reviews,
    project_id: Id<ids::Project>,
    gaps_only: bool,
    message: &'static str,
) -> Result<SpooledAnswer<TraceMatrix>, ApiError> {
    let key = format!("trace {project_id} {gaps_only}");
    let made = state.analysis.large_reads.answers.share(key, || make(state, project_id, gaps_only, message)).await?;
    Ok(SpooledAnswer { etag: made.etag, spool: made.spool, of: PhantomData })
}

async fn make(
    state: &Reviews,
    project_id: Id<ids::Project>,
    gaps_only: bool,
    message: &'static str,
) -> Result<SharedAnswer, ApiError> {
    let items =
        all_items(&state.db, project_id, state.analysis.large_reads.spool(project_id)).await.map_err(ApiError::from)?;
    let bytes = |kind| items.iter().filter(|(_, item)| item.kind == kind).map(|(_, item)| item.bytes).sum::<usize>();
    let (requirements, stories) = (bytes(ItemKind::Requirement), bytes(ItemKind::UserStory));
    if requirements > MAX_PARSED_BYTES {
        return Err(ApiError::of(Code::RESULTS_TOO_LARGE));
    }
    // Of a story little is kept, though once for each requirement that it covers.
    let kept = stories / LINK_BYTES * KEPT_OF_STORY_BYTES;
    let kept = kept.min(MAX_COVERED * KEPT_OF_STORY_BYTES).saturating_add(requirements.saturating_mul(COPIES));
    let memory = WorkMemory::soon(state.analysis.large_reads.memory.reserve(project_id, kept)).await?;
    let mut spool = state.analysis.large_reads.spool(project_id);
    let made = spawn_blocking(move || {
        let _memory = memory;
        let traced = matrix(bodies(&items, ItemKind::Requirement), bodies(&items, ItemKind::UserStory), gaps_only);
        let traced = traced.map_err(|error| match error {
            Untraced::TooLarge => ApiError::of(Code::RESULTS_TOO_LARGE),
            Untraced::Broken(error) => ApiError::internal(error),
        });
        write(&mut spool, 200, message, &traced?)?;
        let etag = items.hash(32).map_err(ApiError::unavailable)?;
        Ok::<_, ApiError>((format!("\"{etag}-{}\"", u8::from(gaps_only)), spool.finish()))
    });
    let (etag, spool) = made.await.map_err(ApiError::internal)??;
    answered(Some(etag), spool)
}

fn bodies(items: &SpooledItems, kind: ItemKind) -> impl Iterator<Item = io::Result<bytes::Bytes>> {
    items.iter().filter(move |(_, item)| item.kind == kind).map(|(at, _)| items.body(at))
}
