//! Deletion of stored contents that no document refers to any more, even if the server was stopped in between.
//! Idempotent.

use std::time::Duration;

use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::store;
use crate::clients::files::SETTLED;
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobPayload, RetryPolicy, Turns};
use crate::projects::state::Projects;

/// Deletes contents that no document refers to.
#[derive(Serialize, Deserialize)]
pub struct DeleteContents {
    contents: Vec<String>,
}

impl JobPayload for DeleteContents {
    const KIND: &'static str = "forget-contents";
    const TURNS: Turns = Turns::InOrder("nobody waits for files that nothing names any more");
}

/// Enqueues the deletion of contents, to run after the transaction has committed. Contents that a document refers to by
/// then are not deleted.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_deletion(
    conn: &mut Conn,
    contents: Vec<String>,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    if contents.is_empty() {
        return Ok(());
    }
    jobs::enqueue(conn, &DeleteContents { contents }, now, request).await.map(|_| ())
}

/// Deletes contents, except for those that a document refers to again. An error leaves nothing worse than a file that
/// no document refers to.
pub async fn delete_contents(state: &Projects, contents: Vec<String>) {
    if contents.is_empty() {
        return;
    }
    let (state, tasks) = (state.clone(), state.tasks.clone());
    let (done, wait) = oneshot::channel();
    // Runs in a task of its own: a client that disconnects must not interrupt it between the check and the deletion.
    tasks.spawn(async move {
        if let Err(error) = delete_orphans(&state, contents).await {
            tracing::warn!(error, "document contents that may be unused could not be removed");
        }
        // The client may have disconnected, and needs no response then.
        let _ = done.send(());
    });
    // An error means that the server is shutting down.
    let _ = wait.await;
}

/// Deletes those of the contents that no document refers to. Must run to completion once it has started.
///
/// # Errors
/// Returns the reason why some contents were not deleted.
pub async fn delete_orphans(state: &Projects, contents: Vec<String>) -> Result<(), String> {
    let forgetting = state.files.forgetting().await;
    let orphans = state.db.read(move |conn| Box::pin(store::orphans(conn, contents))).await;
    for content in orphans? {
        forgetting.forget(&content).await.map_err(|error| format!("{content}: {error}"))?;
    }
    Ok(())
}

/// Deletes contents that no document ever referred to, because the server was killed in between, and those left over
/// when their last document was deleted. Returns their number.
///
/// # Errors
/// Returns the reason why some contents were not deleted.
pub async fn sweep(state: &Projects) -> Result<usize, String> {
    let db = state.db.clone();
    let named = move |contents| {
        let db = db.clone();
        async move {
            let named = db.read(move |conn| Box::pin(store::named(conn, contents))).await;
            Ok(named?)
        }
        .boxed()
    };
    state.files.sweep((state.now() - SETTLED).utc().into(), named, &state.tasks.stopping()).await
}

/// Runs [`DeleteContents`].
pub struct DeleteContentsHandler {
    pub state: Projects,
}

#[async_trait]
impl Handler for DeleteContentsHandler {
    type Payload = DeleteContents;

    // A backup that is being taken is no reason to give up.
    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// It deletes some files, in a folder or in a bucket.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, _: &Job, payload: DeleteContents) -> Result<(), JobError> {
        Ok(delete_orphans(&self.state, payload.contents).await?)
    }
}
