//! Who may subscribe to the topic of a project, and the snapshot they receive first. It also carries the events of the project's
//! runs and exports, so its audience is defined here and not in `projects`.

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, Topic, TopicKind};
use async_trait::async_trait;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::access::policy::Resource;
use crate::access::principal::Principal;
use crate::access::role::ProjectRole;
use crate::analysis;
use crate::analysis::model::AiAnalysisRun;
use crate::db::{Conn, DbError, events};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::live::audience::{Audience, TopicSnapshot};
use crate::meetings::invitations;
use crate::projects::{self, events::topic, model::Project};
use crate::trackers::exports;
use crate::trackers::exports::model::TrackerExport;
use crate::trackers::state::Trackers;

/// Whether events of this kind are published only to the analysts of their project: what stakeholders say of results.
fn is_for_analysts(event: EventKind) -> bool {
    matches!(event, EventKind::FeedbackSubmitted | EventKind::FeedbackUpdated)
}

/// The members of a project.
pub struct ProjectAudience {
    pub state: Trackers,
}

/// The snapshot of a project topic: everything that its events can change.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProjectSnapshot)]
pub struct ProjectTopicSnapshot {
    project: Project,
    /// Runs that are QUEUED or PROCESSING.
    active_runs: Vec<AiAnalysisRun>,
    /// Exports to the tracker that are QUEUED or RUNNING, without their items.
    active_exports: Vec<TrackerExport>,
}

#[async_trait]
impl Audience for ProjectAudience {
    fn kind(&self) -> TopicKind {
        TopicKind::Project
    }

    async fn admit(&self, caller: Principal, id: Uuid) -> Result<Topic, ApiError> {
        let caller = caller.account()?;
        let id: Id<ids::Project> = Id::from_uuid(id);
        let found = Project::find(&self.state.projects, id, caller).await?;
        if found.relation.role.is_none() {
            return Err(ApiError::of(Code::FORBIDDEN));
        }
        Ok(topic(id))
    }

    async fn snapshot(&self, id: Uuid) -> Result<TopicSnapshot, ApiError> {
        let id = Id::from_uuid(id);
        let read = async move |conn: &mut Conn| {
            let Some(project) = projects::store::find(conn, id).await? else { return Ok::<_, DbError>(None) };
            let runs = analysis::store::active(conn, id).await?;
            let export = exports::store::active(conn, id).await?;
            let head = events::head(conn, topic(id)).await?;
            Ok(Some((project, runs, export, head.map_or(0, |(_, last)| last))))
        };
        let found = self.state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(ApiError::from)?;
        let (project, runs, export, offset) = found.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        let active_runs = runs.iter().map(AiAnalysisRun::of).collect();
        let now = self.state.now();
        let active_exports = export.iter().map(|export| export.shown(Vec::new(), now)).collect();
        TopicSnapshot::of(
            &ProjectTopicSnapshot { project, active_runs, active_exports },
            offset,
            EventKind::ProjectUpdated,
        )
    }

    fn is_for_some(&self, event: EventKind) -> bool {
        invitations::is_for_hosts(event) || is_for_analysts(event)
    }

    async fn may_see(&self, caller: Principal, record: &EventRecord) -> Result<bool, ApiError> {
        let Ok(caller) = caller.account() else { return Ok(false) };
        if is_for_analysts(record.kind) {
            let role =
                self.state.projects.roles.of(&self.state.db, Id::from_uuid(record.topic.id), caller.user_id).await?;
            return Ok(role.is_some_and(|role| role.may_act_as(ProjectRole::Analyst)));
        }
        invitations::receives_invitation_events(&self.state.analysis.meetings, caller, &record.data).await
    }
}
