//! Who may listen to runs and to projects, and what they are told first. A project's topic tells of its runs too, which
//! is why it stands here and not with projects.

use actors::ids::{self, Id};
use actors::live::{Told, Topic, TopicKind};
use actors::run::{self, Status};
use async_trait::async_trait;
use serde::Serialize;
use uuid::Uuid;

use super::model::AiAnalysisRun;
use super::store;
use crate::access::caller::Visitor;
use crate::access::guard::Guarded;
use crate::analysis::state::Analysis;
use crate::db::{Conn, Failed, events};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::live::audience::{Audience, Snapshot};
use crate::meetings::invitations;
use crate::projects::{self, events::topic, model::Project};

/// Members of a run's project.
pub struct OfRuns {
    pub state: Analysis,
}

#[async_trait]
impl Audience for OfRuns {
    fn kind(&self) -> TopicKind {
        TopicKind::Run
    }

    async fn admit(&self, caller: Visitor, id: Uuid) -> Result<Topic, Failure> {
        let caller = caller.account()?;
        let run = find(&self.state, id).await?;
        let project_id = run.state.project_id;
        match self.state.roles.of(&self.state.db, project_id, caller.user_id).await? {
            Some(_) => Ok(topic(project_id)),
            None => Err(Failure::of(Code::FORBIDDEN)),
        }
    }

    async fn snapshot(&self, id: Uuid) -> Result<Snapshot, Failure> {
        let run = find(&self.state, id).await?;
        Snapshot::of(&AiAnalysisRun::of(&run.state), run.state.revision, event(&run.state))
    }
}

async fn find(state: &Analysis, id: Uuid) -> Result<super::Run, Failure> {
    let found = state.registry.snapshot(Id::from_uuid(id)).await.map_err(|away| Failure::unavailable(away.0))?;
    found.ok_or_else(|| Failure::of(Code::NOT_FOUND))
}

/// The event that would tell a run's state.
fn event(run: &run::Run) -> &'static str {
    match run.status() {
        Status::Queued if run.attempt > 1 => run::Event::Retried.kind(),
        Status::Queued => run::Event::Queued.kind(),
        Status::Processing => run::Event::Progressed.kind(),
        Status::Completed => run::Event::Completed.kind(),
        Status::Partial => run::Event::Partial.kind(),
        Status::Rejected => run::Event::Rejected.kind(),
        Status::Failed => run::Event::Failed.kind(),
        Status::Cancelled => run::Event::Cancelled { by: run.created_by }.kind(),
    }
}

/// Whether nothing follows an event of a run but a retry.
#[must_use]
pub fn ends(event: &str) -> bool {
    matches!(event, "run.completed" | "run.partial" | "run.rejected" | "run.failed" | "run.cancelled")
}

/// Members of a project.
pub struct OfProjects {
    pub state: Analysis,
}

/// A project with all that its events tell.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    project: Project,
    active_runs: Vec<AiAnalysisRun>,
    /// Exports come with a later part of the interface.
    active_exports: [(); 0],
}

#[async_trait]
impl Audience for OfProjects {
    fn kind(&self) -> TopicKind {
        TopicKind::Project
    }

    async fn admit(&self, caller: Visitor, id: Uuid) -> Result<Topic, Failure> {
        let caller = caller.account()?;
        let id: Id<ids::Project> = Id::from_uuid(id);
        let found = Project::find(&self.state, id, caller).await?;
        if found.standing.role.is_none() {
            return Err(Failure::of(Code::FORBIDDEN));
        }
        Ok(topic(id))
    }

    async fn snapshot(&self, id: Uuid) -> Result<Snapshot, Failure> {
        let id = Id::from_uuid(id);
        let read = async move |conn: &mut Conn| {
            let Some(project) = projects::store::find(conn, id).await? else { return Ok::<_, Failed>(None) };
            let runs = store::active(conn, id).await?;
            let head = events::head(conn, topic(id)).await?;
            Ok(Some((project, runs, head.map_or(0, |(_, last)| last))))
        };
        let found = self.state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(Failure::from)?;
        let (project, runs, offset) = found.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
        let active_runs = runs.iter().map(AiAnalysisRun::of).collect();
        Snapshot::of(&State { project, active_runs, active_exports: [] }, offset, "project.updated")
    }

    fn is_for_some(&self, event: &str) -> bool {
        invitations::is_for_hosts(event)
    }

    async fn tells(&self, caller: Visitor, told: &Told) -> Result<bool, Failure> {
        let Ok(caller) = caller.account() else { return Ok(false) };
        invitations::is_told(&self.state, caller, &told.data).await
    }
}
