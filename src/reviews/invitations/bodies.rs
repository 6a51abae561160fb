//! The bodies and queries of requests about review invitations.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use utoipa::ToSchema;

use super::model::{Organisation, ProjectReviewInvitationStatus, ProjectReviewPermission, ReviewScope, SelectedItems};
use crate::accounts::model::{Email, FullName};
use crate::http::input::{Body, Query};
use crate::http::list::Search;
use crate::meetings::invitations::model::Message;
use crate::reviews::baselines::model::Baseline;

/// A person to invite to a review.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ReviewInvitee {
    pub email: Email,
    pub full_name: Option<FullName>,
    pub organisation: Option<Organisation>,
}

/// Whom to invite to a review, and what they may do.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct CreateReviewInvitation {
    /// 1–100 people, each mailed a link of their own.
    #[schema(min_items = 1, max_items = 100)]
    #[body(objects)]
    pub invitees: Vec<ReviewInvitee>,
    pub permission: ProjectReviewPermission,
    /// A run of the project with a result, whose findings are shown to the invitees; without it, the specification as `scope` says.
    pub run_id: Option<Id<Run>>,
    /// What of the specification the invitees see. Default: ALL. With a run, ALL alone.
    pub scope: Option<ReviewScope>,
    /// The baseline of the scope BASELINE.
    pub baseline_id: Option<Id<Baseline>>,
    /// The items of the scope SELECTED, of any kind.
    pub item_ids: Option<SelectedItems>,
    /// Plain text for the e-mail; nothing in it becomes a link.
    pub message: Option<Message>,
    /// Within the next 90 days: when the links and the accesses that they give expire. By default in 30 days.
    pub expires_at: Option<Time>,
}

/// Which invitations of a project are listed.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only invitations with this status.
    pub status: Option<ProjectReviewInvitationStatus>,
    /// Return only invitations that give this permission.
    pub permission: Option<ProjectReviewPermission>,
    /// Return only invitations whose name, e-mail address or organisation contains this text.
    pub search: Option<Search>,
}

/// The name to show to the project's analysts. Without it, the name in the invitation is used.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct AcceptReviewInvitation {
    pub full_name: Option<FullName>,
}
