//! Reads and verifies the approval trail of a project.

use actors::ids::{self, Id};

use crate::analysis;
use crate::analysis::trail::model::{ApprovalEvent, TrailFilter, TrailVerification};
use crate::analysis::trail::verification;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::reviews::state::Reviews;

/// Lists a project's approval events, newest first.
///
/// # Errors
/// Only database errors.
pub async fn list(
    state: &Reviews,
    project_id: Id<ids::Project>,
    listing: Listing<TrailFilter>,
) -> Result<List<ApprovalEvent>, ApiError> {
    let listed = state.db.read(move |conn| Box::pin(analysis::trail::store::list(conn, project_id, listing))).await;
    listed.map_err(ApiError::from)
}

/// Verifies a project's approval trail.
///
/// # Errors
/// Only database errors.
pub async fn verify(state: &Reviews, project_id: Id<ids::Project>) -> Result<TrailVerification, ApiError> {
    verification::verify(&state.db, project_id).await.map_err(ApiError::from)
}
