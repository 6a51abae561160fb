//! What of a project an invitation shows: where it is read from, and what of it is left out.

use std::collections::HashSet;

use actors::ids::{self, Id};
use pipeline::result::{IssueCode, Quality};
use tokio::task::spawn_blocking;
use uuid::Uuid;

use crate::analysis::dashboard::filter::DashboardFilter;
use crate::analysis::dashboard::model::ResultsDashboard;
use crate::analysis::dashboard::operations::{self as dashboards, StoredDashboard};
use crate::analysis::dashboard::summary;
use crate::analysis::items::item_of;
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::large_reads::memory::ReservedMemory;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::reviews::baselines::comparison::ComparedRow;
use crate::reviews::baselines::store::{self as baselines, StoredBaseline};
use crate::reviews::invitations::model::{ReviewInvitation, ReviewScope};
use crate::reviews::invitations::shown::ReviewShown;
use crate::reviews::invitations::store as invitations;
use crate::reviews::state::Reviews;

/// Returns what an invitation shows, and the name of its baseline.
///
/// # Errors
/// Only database errors.
pub async fn shown(state: &Reviews, invitation: &ReviewInvitation) -> Result<(ReviewShown, Option<String>), ApiError> {
    let (id, project_id, run_id) = (invitation.id, invitation.project_id, invitation.run_id);
    Ok(match invitation.scope {
        ReviewScope::All => (run_id.map_or(ReviewShown::All, ReviewShown::Run), None),
        ReviewScope::Approved => (ReviewShown::Approved, None),
        ReviewScope::Baseline => {
            let none = || ApiError::internal("a review of no baseline");
            let baseline_id = invitation.baseline_id.ok_or_else(none)?;
            let found = state.db.read(move |conn| Box::pin(baselines::find(conn, project_id, baseline_id))).await;
            let name = found.map_err(ApiError::from)?.map(|found| found.name);
            (ReviewShown::Baseline(baseline_id), name)
        }
        ReviewScope::Selected => {
            let ids = state.db.read(move |conn| Box::pin(invitations::selected_items(conn, id))).await;
            (ReviewShown::Selected(ids.map_err(ApiError::from)?), None)
        }
    })
}

/// What is shown, of which no item has been parsed.
pub enum StoredReview {
    Present(StoredDashboard),
    Baseline { baseline: StoredBaseline, bytes: usize },
}

impl StoredReview {
    /// # Errors
    /// Only database errors, and 404 for what is gone: runs and baselines go with their project alone.
    pub async fn find(state: &Reviews, project_id: Id<ids::Project>, shown: &ReviewShown) -> Result<Self, ApiError> {
        let gone = || ApiError::of(Code::NOT_FOUND);
        let Some(id) = shown.baseline_id() else {
            let found =
                dashboards::stored(&state.analysis, project_id, shown.run_id()).await.map_err(ApiError::from)?;
            return found.map(Self::Present).ok_or_else(gone);
        };
        let found = state.db.read(move |conn| {
            Box::pin(async move {
                let Some(baseline) = baselines::find(conn, project_id, id).await? else {
                    return Ok::<_, DbError>(None);
                };
                let bytes = baselines::copied_bytes(conn, project_id, id).await?;
                Ok(Some(Self::Baseline { baseline, bytes }))
            })
        });
        found.await.map_err(ApiError::from)?.ok_or_else(gone)
    }

    /// Changes with the content.
    pub fn etag(&self) -> String {
        match self {
            Self::Present(stored) => stored.etag.clone(),
            Self::Baseline { baseline, .. } => baseline.id.to_string(),
        }
    }

    /// The size of all that is stored, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Present(stored) => stored.bytes(),
            Self::Baseline { bytes, .. } => *bytes,
        }
    }

    /// Parses it, with the memory that is reserved for it.
    ///
    /// # Errors
    /// Database errors, and those of what is too large or can't be parsed.
    pub async fn parse(
        self,
        state: &Reviews,
        project_id: Id<ids::Project>,
        memory: &ReservedMemory,
    ) -> Result<ResultsDashboard, ApiError> {
        let (id, created_at) = match self {
            Self::Present(stored) => {
                return stored.parse(&state.analysis, DashboardFilter::default(), memory).await.map_err(ApiError::from);
            }
            Self::Baseline { baseline, .. } => (baseline.id, baseline.created_at),
        };
        let copied = state.db.read(move |conn| Box::pin(baselines::copied_items(conn, project_id, id))).await;
        let copied = copied.map_err(ApiError::from)?;
        let held = memory.clone();
        let parsed = spawn_blocking(move || {
            let _memory = held;
            let mut dashboard = ResultsDashboard::empty(project_id, created_at);
            for ComparedRow { target_type, body, .. } in copied {
                dashboard.push(item_of(target_type.item_kind(), &body)?);
            }
            Ok::<_, DbError>(dashboard)
        });
        parsed.await.map_err(ApiError::internal)?.map_err(ApiError::from)
    }
}

/// Leaves of a dashboard what is shown. What tells of other items is left out too: the summary is of what is shown, and nothing
/// refers to an item that is not.
pub fn restricted(dashboard: ResultsDashboard, shown: &ReviewShown) -> ResultsDashboard {
    let is_rejected = |status| status == WorkflowStatus::Rejected;
    let mut kept = match shown {
        ReviewShown::All | ReviewShown::Run(_) => return dashboard.keep(|_, status| !is_rejected(status)),
        ReviewShown::Approved => dashboard.keep(|_, status| status == WorkflowStatus::Approved),
        ReviewShown::Baseline(_) => dashboard.keep(|_, status| !is_rejected(status)),
        ReviewShown::Selected(ids) => {
            dashboard.keep(|id, status| !is_rejected(status) && ids.binary_search(&id).is_ok())
        }
    };
    let ids: HashSet<Uuid> = kept.requirements.iter().map(|one| one.id).collect();
    for requirement in &mut kept.requirements {
        requirement.duplicate_of = requirement.duplicate_of.filter(|id| ids.contains(id));
        let named = requirement.conflicts_with.len();
        requirement.conflicts_with.retain(|id| ids.contains(id));
        if requirement.conflicts_with.len() < named {
            // Their sentences name the other requirements.
            requirement.quality_issues.retain(|issue| issue.code != IssueCode::Conflict);
        }
    }
    for story in &mut kept.user_stories {
        story.requirement_ids.retain(|id| ids.contains(id));
    }
    kept.summary = summary::of_items(&kept);
    kept.quality = Quality::default();
    kept
}
