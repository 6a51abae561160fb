//! The events of projects.

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId, Topic, TopicKind};
use actors::time::Time;

use super::model::Project;
use crate::db::{Conn, DbError, events};

/// The topic of a project's events.
#[must_use]
pub fn topic(id: Id<ids::Project>) -> Topic {
    Topic { kind: TopicKind::Project, id: id.uuid() }
}

/// Appends an event with the project's state after a change; `now` and `request` are those of the change.
pub async fn record_event(
    conn: &mut Conn,
    project: &Project,
    kind: EventKind,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let data = serde_json::to_string(project).map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(project.id), kind, &data, now, request).await
}
