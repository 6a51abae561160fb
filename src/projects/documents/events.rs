//! The events of documents, which are published on their project's topic.

use actors::event_kind::EventKind;
use actors::live::{EventRecord, RequestId};
use actors::time::Time;

use super::model::Document;
use crate::db::{Conn, DbError, events};
use crate::projects::events::topic;

/// Appends an event of a document to its project's topic.
pub async fn record_event(
    conn: &mut Conn,
    document: &Document,
    kind: EventKind,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let data = serde_json::to_string(document).map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(document.project_id), kind, &data, now, request).await
}
