//! The events of exports to trackers, on the topic of their project.

use actors::event_kind::EventKind;
use actors::live::{EventRecord, RequestId};
use actors::time::Time;

use super::store::StoredTrackerExport;
use crate::db::{Conn, DbError, events};
use crate::projects::events::topic;

/// Appends the event of an export that has changed; its kind says whether it has ended.
///
/// # Errors
/// Only database errors.
pub async fn progress_event(
    conn: &mut Conn,
    export: &StoredTrackerExport,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let kind = if export.status.is_active() { EventKind::ExportProgressed } else { EventKind::ExportCompleted };
    let data = serde_json::to_string(&export.shown(Vec::new(), now));
    let data = data.map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(export.project_id), kind, &data, now, request).await
}
