//! Who may listen to a project, and what they are told first.

use actors::ids::Id;
use actors::live::{Topic, TopicKind};
use async_trait::async_trait;
use serde::Serialize;
use uuid::Uuid;

use super::model::Project;
use super::{operations, store};
use crate::access::caller::Caller;
use crate::access::guard::Guarded;
use crate::app::App;
use crate::db::{Conn, Failed, events};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::live::audience::{self, Snapshot};

/// Members.
pub struct Audience;

/// A project with all that its events tell.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    project: Project,
    active_runs: [(); 0],
    active_exports: [(); 0],
}

#[async_trait]
impl audience::Audience for Audience {
    fn kind(&self) -> TopicKind {
        TopicKind::Project
    }

    async fn admit(&self, app: &App, caller: Caller, id: Uuid) -> Result<Topic, Failure> {
        let found = Project::find(app, Id::from_uuid(id), caller).await?;
        if found.standing.role.is_none() {
            return Err(Failure::of(Code::FORBIDDEN));
        }
        Ok(operations::topic(Id::from_uuid(id)))
    }

    async fn snapshot(&self, app: &App, id: Uuid) -> Result<Snapshot, Failure> {
        let id = Id::from_uuid(id);
        let read = async move |conn: &mut Conn| {
            let Some(project) = store::find(conn, id).await? else { return Ok::<_, Failed>(None) };
            let head = events::head(conn, operations::topic(id)).await?;
            Ok(Some((project, head.map_or(0, |(_, last)| last))))
        };
        let found = app.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(Failure::from)?;
        let (project, offset) = found.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
        Snapshot::of(&State { project, active_runs: [], active_exports: [] }, offset, "project.updated")
    }
}
