//! LATER: contents that no document has any more are forgotten, however the server ended before. Safe to repeat.

use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::store;
use crate::db::{Conn, Failed};
use crate::jobs::{self, Fault, Handler, Job};
use crate::outside::files::SETTLED;
use crate::projects::state::Projects;

const KIND: &str = "forget-contents";

#[derive(Serialize, Deserialize)]
struct Payload {
    contents: Vec<String>,
}

/// Has contents forgotten once the transaction stands, except for those that a document has then.
///
/// # Errors
/// The database's own.
pub async fn forget(conn: &mut Conn, contents: Vec<String>, now: Time, request: &RequestId) -> Result<(), Failed> {
    if contents.is_empty() {
        return Ok(());
    }
    jobs::enqueue(conn, KIND, &Payload { contents }, now, request).await.map(|_| ())
}

/// Drops contents, except for those that a document has again. A failure leaves a file that nobody reads, no more.
pub async fn forget_contents(state: &Projects, contents: Vec<String>) {
    if contents.is_empty() {
        return;
    }
    let (state, tasks) = (state.clone(), state.tasks.clone());
    let (done, wait) = oneshot::channel();
    // In a task of its own: a client that goes away must not end this between looking and forgetting.
    tasks.spawn(async move {
        if let Err(error) = forget_orphans(&state, contents).await {
            tracing::warn!(error, "contents stay that perhaps no document has");
        }
        // A client that went away needs no answer.
        let _ = done.send(());
    });
    // An error means that the server ends.
    let _ = wait.await;
}

/// Drops those of the contents that no document has. Must come to its end once it was begun.
///
/// # Errors
/// Why some stay.
pub async fn forget_orphans(state: &Projects, contents: Vec<String>) -> Result<(), String> {
    let forgetting = state.files.forgetting().await;
    let orphans = state.db.read(move |conn| Box::pin(store::orphans(conn, contents))).await;
    for content in orphans.map_err(|error| error.to_string())? {
        forgetting.forget(&content).await.map_err(|error| format!("{content}: {error}"))?;
    }
    Ok(())
}

/// Removes contents that no document ever named, since a server was killed in between, and those that stayed when their
/// last document went; gives how many.
///
/// # Errors
/// Why some stay.
pub async fn sweep(state: &Projects) -> Result<usize, String> {
    let db = state.db.clone();
    let named = move |contents| {
        let db = db.clone();
        async move {
            let named = db.read(move |conn| Box::pin(store::named(conn, contents))).await;
            named.map_err(|error: Failed| error.to_string())
        }
        .boxed()
    };
    state.files.sweep((state.now() - SETTLED).utc().into(), named, &state.tasks.stopping()).await
}

/// Forgets contents.
pub struct Forgetting {
    pub state: Projects,
}

#[async_trait]
impl Handler for Forgetting {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let Payload { contents } = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        Ok(forget_orphans(&self.state, contents).await?)
    }
}
