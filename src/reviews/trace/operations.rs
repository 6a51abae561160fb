//! The operation that makes the trace matrix.

use actors::ids::{self, Id};
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;

use super::matrix::{StoredItems, matrix};
use super::model::TraceMatrix;
use super::store;
use crate::db::DbError;
use crate::http::budget::Share;
use crate::http::error::ApiError;
use crate::reviews::state::Reviews;

/// How many matrices are made at once: each holds all items of a project.
static TRACING: Semaphore = Semaphore::const_new(2);

/// Returns the trace matrix, and 32 hex digits that change with it.
///
/// # Errors
/// 503 if the client holds too many bytes already; 500 for a stored item that can't be parsed.
pub async fn trace(
    state: &Reviews,
    project_id: Id<ids::Project>,
    gaps_only: bool,
    share: &mut Share,
) -> Result<(TraceMatrix, String), ApiError> {
    let _permit = TRACING.acquire().await.map_err(ApiError::internal)?;
    let items = state.db.read(move |conn| Box::pin(store::all_items(conn, project_id))).await;
    let items = items.map_err(|failed: DbError| ApiError::from(failed))?;
    share.grow_to(items.requirements.iter().map(String::len).sum())?;
    let made = spawn_blocking(move || Ok((matrix(&items, gaps_only)?, digest(&items, gaps_only))));
    made.await.map_err(ApiError::internal)?.map_err(|error: serde_json::Error| ApiError::internal(error))
}

fn digest(items: &StoredItems, gaps_only: bool) -> String {
    let mut hash = Sha256::new();
    hash.update([u8::from(gaps_only)]);
    for body in items.requirements.iter().chain(&items.stories) {
        hash.update(body);
    }
    hex::encode(hash.finalize()).chars().take(32).collect()
}
