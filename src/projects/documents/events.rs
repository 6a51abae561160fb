//! What is told of a document, under its project.

use actors::live::{RequestId, Told};
use actors::time::Time;

use super::model::Document;
use crate::db::{Conn, Failed, events};
use crate::projects::events::topic;

/// An event of a document, in its project's topic.
pub async fn tell(
    conn: &mut Conn,
    document: &Document,
    kind: &str,
    now: Time,
    request: &RequestId,
) -> Result<Told, Failed> {
    let data = serde_json::to_string(document).map_err(|error| Failed::Broken(error.to_string()))?;
    events::append(conn, topic(document.project_id), kind, &data, now, request).await
}
