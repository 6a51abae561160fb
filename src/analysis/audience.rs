//! Who may subscribe to the topic of a run, and the snapshot they receive first.

use actors::event_kind::EventKind;
use actors::ids::Id;
use actors::live::{Topic, TopicKind};
use actors::run::{self, AiRunStatus};
use async_trait::async_trait;
use uuid::Uuid;

use super::model::AiAnalysisRun;
use crate::access::principal::Principal;
use crate::analysis::state::Analysis;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::live::audience::{Audience, TopicSnapshot};
use crate::projects::events::topic;

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
        match self.state.projects.roles.of(&self.state.db, project_id, caller.user_id).await? {
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
fn event(run: &run::Run) -> EventKind {
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
pub fn ends(event: EventKind) -> bool {
    matches!(
        event,
        EventKind::RunCompleted
            | EventKind::RunPartial
            | EventKind::RunRejected
            | EventKind::RunFailed
            | EventKind::RunCancelled
    )
}
