//! The types of feedback, and the rules of its lifecycle: `OPEN <-> IN_PROGRESS <-> RESOLVED | REJECTED`.

use actors::ids::{self, Id, User};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::enumeration::wire_enum;
use crate::http::fields::{Field, InvalidValue, text};
use crate::reviews::invitations::model::ReviewInvitation;
use crate::reviews::stakeholder_dashboard::model::FeedbackTargetType;

wire_enum! {
    /// Whether who wrote it agrees. It changes no workflow status.
    pub enum FeedbackVerdict {
        Approve,
        Change,
    }
}

wire_enum! {
    /// What became of a feedback.
    pub enum StakeholderFeedbackStatus {
        Open,
        InProgress,
        Resolved,
        Rejected,
    }
}

impl StakeholderFeedbackStatus {
    /// Whether feedback may go from this status to another one in one step.
    #[must_use]
    pub const fn may_become(self, next: Self) -> bool {
        matches!(
            (self, next),
            (Self::Open | Self::Resolved | Self::Rejected, Self::InProgress)
                | (Self::InProgress, Self::Open | Self::Resolved | Self::Rejected)
        )
    }

    /// Whether it is the last word on the feedback, as long as nobody takes it up again.
    #[must_use]
    pub const fn is_decided(self) -> bool {
        matches!(self, Self::Resolved | Self::Rejected)
    }
}

/// A comment: 1–5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 5000)]
pub struct FeedbackComment(pub String);

impl Field for FeedbackComment {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 5000).map(Self)
    }
}

/// What was done about feedback, or why nothing was: 1–5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 5000)]
pub struct ResolutionNote(pub String);

impl Field for ResolutionNote {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 5000).map(Self)
    }
}

/// What feedback is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedbackTarget {
    pub target_type: FeedbackTargetType,
    /// The item and its code; `None` for the summary.
    pub item: Option<(Uuid, String)>,
}

/// Who wrote feedback.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Authorship {
    /// A reviewer, by the invitation that gave access.
    Reviewer(Id<ReviewInvitation>),
    Member(Id<User>),
}

/// Feedback as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Feedback {
    pub id: Id<Self>,
    pub project_id: Id<ids::Project>,
    pub by: Authorship,
    pub author: FeedbackAuthor,
    pub target: FeedbackTarget,
    pub comment: String,
    pub verdict: Option<FeedbackVerdict>,
    pub status: StakeholderFeedbackStatus,
    pub is_read: bool,
    pub resolution_note: Option<String>,
    pub created_at: Time,
    pub resolved_at: Option<Time>,
}

/// Who wrote feedback, as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackAuthor {
    /// The name of the person who wrote the feedback.
    pub name: String,
    /// Null once the account of the author was deleted.
    #[schema(required, format = Email)]
    pub email: Option<String>,
}

/// Feedback on the results of a project.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StakeholderFeedback {
    pub id: Id<Feedback>,
    pub project_id: Id<ids::Project>,
    pub target_type: FeedbackTargetType,
    /// Null for the summary.
    #[schema(required)]
    pub target_id: Option<Uuid>,
    /// The code that the item had; that of a criterion is preceded by its story's. Null for the summary.
    #[schema(required, example = "US-001/AC-002")]
    pub target_code: Option<String>,
    /// The reviewer's words, 1–5,000 characters.
    pub comment: String,
    #[schema(required)]
    pub verdict: Option<FeedbackVerdict>,
    pub status: StakeholderFeedbackStatus,
    /// Whether a member has read it.
    pub is_read: bool,
    /// How it was resolved or why it was rejected; null if nothing was noted.
    #[schema(required)]
    pub resolution_note: Option<String>,
    pub author: FeedbackAuthor,
    pub created_at: Time,
    /// When it became RESOLVED or REJECTED; null while it is neither.
    #[schema(required)]
    pub resolved_at: Option<Time>,
}

impl From<Feedback> for StakeholderFeedback {
    fn from(feedback: Feedback) -> Self {
        let (target_id, target_code) = feedback.target.item.unzip();
        Self {
            id: feedback.id,
            project_id: feedback.project_id,
            target_type: feedback.target.target_type,
            target_id,
            target_code,
            comment: feedback.comment,
            verdict: feedback.verdict,
            status: feedback.status,
            is_read: feedback.is_read,
            resolution_note: feedback.resolution_note,
            author: feedback.author,
            created_at: feedback.created_at,
            resolved_at: feedback.resolved_at,
        }
    }
}

/// The payload of feedback events, which analysts receive: enough to know what to read again.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct FeedbackChanged {
    pub project_id: Id<ids::Project>,
    pub feedback_id: Id<Feedback>,
    pub target_type: FeedbackTargetType,
    /// Null for feedback on the project as a whole.
    #[schema(required)]
    pub target_id: Option<Uuid>,
    pub status: StakeholderFeedbackStatus,
}

impl FeedbackChanged {
    #[must_use]
    pub fn of(feedback: &Feedback) -> Self {
        Self {
            project_id: feedback.project_id,
            feedback_id: feedback.id,
            target_type: feedback.target.target_type,
            target_id: feedback.target.item.as_ref().map(|(id, _)| *id),
            status: feedback.status,
        }
    }
}

#[cfg(test)]
mod tests {
    use strum::VariantArray as _;

    use super::StakeholderFeedbackStatus as Status;

    #[test]
    fn feedback_goes_step_by_step_and_back() {
        let table = [
            (Status::Open, "-y--"),
            (Status::InProgress, "y-yy"),
            (Status::Resolved, "-y--"),
            (Status::Rejected, "-y--"),
        ];
        for (from, row) in table {
            for (to, cell) in Status::VARIANTS.iter().zip(row.chars()) {
                assert_eq!(from.may_become(*to), cell == 'y', "{from} to {to}");
            }
        }
    }
}
