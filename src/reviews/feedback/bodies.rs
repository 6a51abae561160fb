//! The bodies and queries of requests about feedback.

use actors::ids::Id;
use utoipa::ToSchema;
use uuid::Uuid;

use super::model::{FeedbackComment, FeedbackVerdict, ResolutionNote, StakeholderFeedbackStatus};
use crate::http::input::{Body, Query, QueryFlag};
use crate::http::list::Search;
use crate::http::patch::Patch;
use crate::reviews::stakeholder_dashboard::model::FeedbackTargetType;

/// A reviewer's words about the results, or about one item of them.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct SubmitFeedback {
    pub target_type: FeedbackTargetType,
    /// The id of an item of the dashboard; absent for the SUMMARY.
    pub target_id: Option<Id<()>>,
    pub comment: FeedbackComment,
    /// Of a reviewer only with the permission APPROVER.
    pub verdict: Option<FeedbackVerdict>,
}

/// Which feedback is listed.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only feedback with this status.
    pub status: Option<StakeholderFeedbackStatus>,
    /// Return only feedback on items of this type.
    pub target_type: Option<FeedbackTargetType>,
    /// Return only feedback on this item.
    #[query(as = Id<()>, map = Id::uuid)]
    pub target_id: Option<Uuid>,
    /// Return only feedback that was marked as read, or only the rest.
    #[query(as = QueryFlag)]
    pub is_read: Option<bool>,
    /// Return only feedback with this verdict.
    pub verdict: Option<FeedbackVerdict>,
    /// Return only feedback whose comment, item code or author's name contains this text.
    pub search: Option<Search>,
}

/// At least one of the fields.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(not_empty = "Name at least one of status, isRead and resolutionNote.")]
pub struct UpdateFeedbackStatus {
    /// OPEN and IN_PROGRESS may follow each other, and IN_PROGRESS and either RESOLVED or REJECTED.
    #[body(replaced)]
    pub status: Option<StakeholderFeedbackStatus>,
    /// Whether it counts as read.
    #[body(replaced)]
    pub is_read: Option<bool>,
    /// Part of the e-mail to who wrote the feedback, once it is RESOLVED or REJECTED. Null clears it.
    #[schema(value_type = Option<ResolutionNote>)]
    pub resolution_note: Patch<ResolutionNote>,
}
