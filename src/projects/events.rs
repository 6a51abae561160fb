//! What is told of a project.

use actors::ids::{self, Id};
use actors::live::{RequestId, Told, Topic, TopicKind};
use actors::time::Time;

use super::model::Project;
use crate::db::{Conn, Failed, events};

/// What a project is told under.
#[must_use]
pub fn topic(id: Id<ids::Project>) -> Topic {
    Topic { kind: TopicKind::Project, id: id.uuid() }
}

/// Tells a project as it is after a change; `now` and `request` are the change's.
pub async fn tell(
    conn: &mut Conn,
    project: &Project,
    kind: &str,
    now: Time,
    request: &RequestId,
) -> Result<Told, Failed> {
    let data = serde_json::to_string(project).map_err(|error| Failed::Broken(error.to_string()))?;
    events::append(conn, topic(project.id), kind, &data, now, request).await
}
