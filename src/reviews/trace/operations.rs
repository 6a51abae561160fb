//! The operation that makes the trace matrix.

use std::io;
use std::marker::PhantomData;

use actors::ids::{self, Id};
use tokio::task::spawn_blocking;

use super::matrix::matrix;
use super::model::TraceMatrix;
use crate::analysis::large_reads::memory::{MOST_PARSED_BYTES, WorkMemory};
use crate::analysis::large_reads::{SharedAnswer, answered};
use crate::analysis::results::Kind;
use crate::analysis::results::spooled::SpooledItems;
use crate::analysis::results::spooling::all_items;
use crate::http::answer::SpooledAnswer;
use crate::http::code::Code;
use crate::http::envelope::write;
use crate::http::error::ApiError;
use crate::reviews::state::Reviews;

/// Returns the trace matrix. Equal requests share the work.
///
/// # Errors
/// 409 if the requirements are too large to be shown at once; 503 if there is no memory for it; 500 for a stored item that can't be
/// parsed.
pub async fn trace(
    state: &Reviews,
    project_id: Id<ids::Project>,
    gaps_only: bool,
    message: &'static str,
) -> Result<SpooledAnswer<TraceMatrix>, ApiError> {
    let key = format!("trace {project_id} {gaps_only}");
    let made = state.large_reads.answers.share(key, || make(state, project_id, gaps_only, message)).await?;
    Ok(SpooledAnswer { etag: made.etag, spool: made.spool, of: PhantomData })
}

async fn make(
    state: &Reviews,
    project_id: Id<ids::Project>,
    gaps_only: bool,
    message: &'static str,
) -> Result<SharedAnswer, ApiError> {
    let items = all_items(&state.db, project_id, state.large_reads.spool(project_id)).await.map_err(ApiError::from)?;
    // Of a story little is kept: its codes and its status.
    let kept: usize = items.iter().filter(|(_, item)| item.kind == Kind::Requirement).map(|(_, item)| item.bytes).sum();
    if kept > MOST_PARSED_BYTES {
        return Err(ApiError::of(Code::RESULTS_TOO_LARGE));
    }
    let _memory = WorkMemory::soon(state.large_reads.memory.for_parsed(kept)).await?;
    let mut spool = state.large_reads.spool(project_id);
    let made = spawn_blocking(move || {
        let traced = matrix(bodies(&items, Kind::Requirement), bodies(&items, Kind::UserStory), gaps_only);
        write(&mut spool, 200, message, &traced.map_err(ApiError::internal)?)?;
        let etag = items.hash(32).map_err(ApiError::unavailable)?;
        Ok::<_, ApiError>((format!("\"{etag}-{}\"", u8::from(gaps_only)), spool.finish()))
    });
    let (etag, spool) = made.await.map_err(ApiError::internal)??;
    answered(Some(etag), spool)
}

fn bodies(items: &SpooledItems, kind: Kind) -> impl Iterator<Item = io::Result<bytes::Bytes>> {
    items.iter().filter(move |(_, item)| item.kind == kind).map(|(at, _)| items.body(at))
}
