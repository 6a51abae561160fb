//! Who may subscribe to the topics of runs and projects, and the snapshots they receive first. The project topic also
//! carries events of the project's runs, so its audience is defined here and not in `projects`.

use actors::ids::{self, Id};
use actors::live::{EventRecord, Topic, TopicKind};
use actors::run::{self, AiRunStatus};
use async_trait::async_trait;
use serde::Serialize;
use uuid::Uuid;

use super::model::AiAnalysisRun;
use super::store;
use crate::access::policy::Resource;
use crate::access::principal::Principal;
use crate::access::role::ProjectRole;
use crate::analysis::state::Analysis;
use crate::db::{Conn, DbError, events};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::live::audience::{Audience, TopicSnapshot};
use crate::meetings::invitations;
use crate::projects::{self, events::topic, model::Project};

/// The members of a run's project.
pub struct RunAudience {
    pub state: Analysis,
}

#[async_trait]
impl Audience for RunAudience {
    fn kind(&self) -> TopicKind {
        TopicKind::Run
    }

    async fn admit(&self, caller: Principal, id: Uuid) -> Result<Topic, ApiError> {
        let caller = caller.account()?;
        let run = find(&self.state, id).await?;
        let project_id = run.state.project_id;
        match self.state.roles.of(&self.state.db, project_id, caller.user_id).await? {
            Some(_) => Ok(topic(project_id)),
            None => Err(ApiError::of(Code::FORBIDDEN)),
        }
    }

    async fn snapshot(&self, id: Uuid) -> Result<TopicSnapshot, ApiError> {
        let run = find(&self.state, id).await?;
        TopicSnapshot::of(&AiAnalysisRun::of(&run.state), run.state.revision, event(&run.state))
    }
}

async fn find(state: &Analysis, id: Uuid) -> Result<super::RunSnapshot, ApiError> {
    let found = state.registry.snapshot(Id::from_uuid(id)).await.map_err(|away| ApiError::unavailable(away.0))?;
    found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))
}

/// The event kind that matches a run's present state.
fn event(run: &run::Run) -> &'static str {
    match run.status() {
        AiRunStatus::Queued if run.attempt > 1 => run::Event::Retried.kind(),
        AiRunStatus::Queued => run::Event::Queued.kind(),
        AiRunStatus::Processing => run::Event::Progressed.kind(),
        AiRunStatus::Completed => run::Event::Completed.kind(),
        AiRunStatus::Partial => run::Event::Partial.kind(),
        AiRunStatus::Rejected => run::Event::Rejected.kind(),
        AiRunStatus::Failed => run::Event::Failed.kind(),
        AiRunStatus::Cancelled => run::Event::Cancelled { by: run.created_by }.kind(),
    }
}

/// Whether an event of this kind ends a run, so that only a retry can follow.
#[must_use]
pub fn ends(event: &str) -> bool {
    matches!(event, "run.completed" | "run.partial" | "run.rejected" | "run.failed" | "run.cancelled")
}

/// Whether events of this kind are published only to the analysts of their project: what stakeholders say of results.
fn is_for_analysts(event: &str) -> bool {
    event.starts_with("feedback.")
}

/// The members of a project.
pub struct ProjectAudience {
    pub state: Analysis,
}

/// The snapshot of a project topic: everything that its events can change.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State {
    project: Project,
    active_runs: Vec<AiAnalysisRun>,
    /// Always empty until exports are implemented.
    active_exports: [(); 0],
}

#[async_trait]
impl Audience for ProjectAudience {
    fn kind(&self) -> TopicKind {
        TopicKind::Project
    }

    async fn admit(&self, caller: Principal, id: Uuid) -> Result<Topic, ApiError> {
        let caller = caller.account()?;
        let id: Id<ids::Project> = Id::from_uuid(id);
        let found = Project::find(&self.state, id, caller).await?;
        if found.relation.role.is_none() {
            return Err(ApiError::of(Code::FORBIDDEN));
        }
        Ok(topic(id))
    }

    async fn snapshot(&self, id: Uuid) -> Result<TopicSnapshot, ApiError> {
        let id = Id::from_uuid(id);
        let read = async move |conn: &mut Conn| {
            let Some(project) = projects::store::find(conn, id).await? else { return Ok::<_, DbError>(None) };
            let runs = store::active(conn, id).await?;
            let head = events::head(conn, topic(id)).await?;
            Ok(Some((project, runs, head.map_or(0, |(_, last)| last))))
        };
        let found = self.state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(ApiError::from)?;
        let (project, runs, offset) = found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        let active_runs = runs.iter().map(AiAnalysisRun::of).collect();
        TopicSnapshot::of(&State { project, active_runs, active_exports: [] }, offset, "project.updated")
    }

    fn is_for_some(&self, event: &str) -> bool {
        invitations::is_for_hosts(event) || is_for_analysts(event)
    }

    async fn may_see(&self, caller: Principal, record: &EventRecord) -> Result<bool, ApiError> {
        let Ok(caller) = caller.account() else { return Ok(false) };
        if is_for_analysts(&record.kind) {
            let role = self.state.roles.of(&self.state.db, Id::from_uuid(record.topic.id), caller.user_id).await?;
            return Ok(role.is_some_and(|role| role.may_act_as(ProjectRole::Analyst)));
        }
        invitations::receives_invitation_events(&self.state, caller, &record.data).await
    }
}
