//! Reads and verifies the approval trail of a project.

use actors::ids::{self, Id};

use crate::analysis;
use crate::analysis::trail::model::{ApprovalEvent, TrailFilter, TrailVerification};
use crate::analysis::trail::verification;
use crate::db::DbError;
use crate::http::answer::CountedAnswer;
use crate::http::budget::Share;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::reviews::state::Reviews;

/// Lists a project's approval events, newest first.
///
/// # Errors
/// Only database errors, 503 if the client holds too many bytes already.
pub async fn list(
    state: &Reviews,
    project_id: Id<ids::Project>,
    listing: Listing<TrailFilter>,
    mut share: Share,
) -> Result<CountedAnswer<List<ApprovalEvent>>, ApiError> {
    let listed = state.db.read(move |conn| {
        Box::pin(async move {
            let page = analysis::trail::store::list(conn, project_id, listing, &mut share).await?;
            Ok((page, share))
        })
    });
    let (page, share) = listed.await.map_err(|failed: DbError| ApiError::from(failed))?;
    Ok(CountedAnswer { reply: Reply::ok(page), share })
}

/// Verifies a project's approval trail.
///
/// # Errors
/// Only database errors.
pub async fn verify(state: &Reviews, project_id: Id<ids::Project>) -> Result<TrailVerification, ApiError> {
    verification::verify(&state.db, project_id).await.map_err(ApiError::from)
}
