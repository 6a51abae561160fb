//! LATER: contents that no document has any more are forgotten, however the server ended before. Safe to repeat.

use actors::live::RequestId;
use actors::time::Time;
use async_trait::async_trait;
use futures_util::FutureExt;
use serde::{Deserialize, Serialize};

use super::operations::forget_orphans;
use super::store;
use crate::app::App;
use crate::db::{Conn, Failed};
use crate::jobs::{self, Fault, Handler, Job};
use crate::outside::files::SETTLED;

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

/// Removes contents that no document ever named, since a server was killed in between, and those that stayed when their
/// last document went; gives how many.
///
/// # Errors
/// Why some stay.
pub async fn sweep(app: &App) -> Result<usize, String> {
    let db = app.db.clone();
    let named = move |contents| {
        let db = db.clone();
        async move {
            let named = db.read(move |conn| Box::pin(store::named(conn, contents))).await;
            named.map_err(|error: Failed| error.to_string())
        }
        .boxed()
    };
    app.files.sweep((app.now() - SETTLED).utc().into(), named, &app.tasks.stopping()).await
}

/// Forgets contents.
pub struct Forgetting {
    pub app: App,
}

#[async_trait]
impl Handler for Forgetting {
    fn kind(&self) -> &'static str {
        KIND
    }

    async fn run(&self, job: &Job) -> Result<(), Fault> {
        let Payload { contents } = serde_json::from_str(&job.payload).map_err(|error| error.to_string())?;
        Ok(forget_orphans(&self.app, contents).await?)
    }
}
