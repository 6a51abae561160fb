//! Notes that the requirements of a project have changed, and are to be compared with each other again (see [`super::super::pairs`]).
//! However many change meanwhile, one job waits for a project.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::time::Time;
use serde::{Deserialize, Serialize};

use super::store::comparing;
use crate::db::{Conn, DbError};
use crate::jobs::{self, JobPayload, Turns};

/// Compares the requirements of a project.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompareRequirements {
    pub project_id: Id<ids::Project>,
}

impl JobPayload for CompareRequirements {
    const KIND: &'static str = "compare-requirements";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues the job, unless one waits already.
///
/// # Errors
/// Only database errors.
pub async fn enqueue(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    if comparing::note(conn, project_id).await? {
        enqueue_noted(conn, project_id, now, request).await?;
    }
    Ok(())
}

/// Enqueues the job of a project that is noted already.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_noted(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let payload = CompareRequirements { project_id };
    jobs::enqueue_in_turn(conn, &project_id.to_string(), &payload, now, request).await.map(|_| ())
}
