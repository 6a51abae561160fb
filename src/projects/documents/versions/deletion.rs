//! Deletion of the former versions of a document that was deleted: some at a time, since each comes with its text, which may have
//! millions of characters. Idempotent.

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::store;
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobPayload, RetryPolicy, Turns};
use crate::projects::documents::contents::delete_orphans;
use crate::projects::documents::model::Document;
use crate::projects::state::Projects;

/// Deletes all versions of a document but the present one, which was deleted before.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteFormerVersions {
    document_id: Id<ids::Document>,
}

impl JobPayload for DeleteFormerVersions {
    const KIND: &'static str = "delete-former-versions";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues the deletion of the versions of a document that is deleted in the same transaction, if it has any but the present one.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_deletion(
    conn: &mut Conn,
    document: &Document,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    if document.newest_version == 1 {
        return Ok(());
    }
    let (project, payload) = (document.project_id.to_string(), DeleteFormerVersions { document_id: document.id });
    jobs::enqueue_in_turn(conn, &project, &payload, now, request).await.map(|_| ())
}

/// Runs [`DeleteFormerVersions`].
pub struct DeleteFormerVersionsHandler {
    pub state: Projects,
}

#[async_trait]
impl Handler for DeleteFormerVersionsHandler {
    type Payload = DeleteFormerVersions;

    // A backup that is being taken is no reason to give up.
    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// It deletes some files, in a folder or in a bucket.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, _: &Job, DeleteFormerVersions { document_id }: DeleteFormerVersions) -> Result<(), JobError> {
        loop {
            let some = self.state.db.read(move |conn| Box::pin(store::some_contents(conn, document_id))).await?;
            if some.is_empty() {
                return Ok(());
            }
            let (versions, contents): (Vec<i64>, Vec<String>) = some.into_iter().unzip();
            self.state.db.write(move |conn| Box::pin(store::delete(conn, document_id, versions))).await?;
            // Killed before this, it leaves files that the sweep finds.
            delete_orphans(&self.state, contents).await?;
        }
    }
}
