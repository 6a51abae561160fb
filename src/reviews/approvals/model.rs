//! The rules of approval: which decision an item takes, and what becomes of it.

use actors::time::Time;
use chrono::{Days, NaiveDate};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::trail::model::{ApprovalAction, ItemDecision, RejectionReason, Signature};
use crate::http::error::ApiError;
use crate::http::fields::{Field, InvalidValue, text};
use crate::http::reason::Reason;

/// 1–5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 5000, example = "Agreed in the workshop.")]
pub struct ReviewComment(pub String);

impl Field for ReviewComment {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 5000).map(Self)
    }
}

/// The date until which a review is put off, as `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, format = Date, example = "2027-01-15")]
pub struct DeferralDate(pub NaiveDate);

impl Field for DeferralDate {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let date = value.as_str().filter(|text| text.len() == 10).and_then(|text| text.parse().ok());
        date.map(Self).ok_or_else(|| InvalidValue::value("This must be a date such as 2027-01-15."))
    }
}

/// Days for which a review may be put off.
const MAX_DEFERRAL: Days = Days::new(366);

/// A decision about the status of items.
#[derive(Debug, Clone)]
pub struct StatusDecision {
    pub status: WorkflowStatus,
    pub comment: Option<ReviewComment>,
    pub reason_code: Option<RejectionReason>,
    pub deferred_until: Option<DeferralDate>,
    pub signature: Option<Signature>,
}

impl StatusDecision {
    /// Checks what a body alone can't.
    ///
    /// # Errors
    /// 422 for a deferral that is not in the future, or further than a year.
    pub fn must_be_timely(&self, now: Time) -> Result<(), ApiError> {
        let Some(DeferralDate(until)) = self.deferred_until else { return Ok(()) };
        let today = now.utc().date_naive();
        let latest = today.checked_add_days(MAX_DEFERRAL).unwrap_or(today);
        if until <= today || until > latest {
            let sentence = "This must be a day after today, within a year.";
            return Err(ApiError::field("deferredUntil", Reason::InvalidValue, sentence));
        }
        Ok(())
    }

    /// What the verdict does to an item. `None` if the item does not take it in its state.
    #[must_use]
    pub fn apply(&self, item: &ProjectItem, now: Time) -> Option<(ProjectItem, ItemDecision)> {
        use WorkflowStatus::{Approved, NeedsReview, Rejected};
        let action = match (item.workflow_status(), self.status, self.deferred_until) {
            (NeedsReview, Approved, _) => ApprovalAction::Approve,
            (Approved, Approved, _) if item.is_suspect() => ApprovalAction::Approve,
            (NeedsReview, Rejected, _) => ApprovalAction::Reject,
            (_, NeedsReview, Some(_)) => ApprovalAction::Defer,
            (Approved | Rejected, NeedsReview, None) => ApprovalAction::Reopen,
            // The deferral is taken back.
            (NeedsReview, NeedsReview, None) if item.is_deferred() => ApprovalAction::Reopen,
            _ => return None,
        };
        let after = match self.deferred_until {
            Some(DeferralDate(until)) => item.clone().deferred(until, now),
            None => item.clone().judged(self.status, now),
        };
        let reason_code =
            (action == ApprovalAction::Reject).then(|| self.reason_code.unwrap_or(RejectionReason::Other));
        let decision = ItemDecision {
            comment: self.comment.clone().map(|comment| comment.0),
            reason_code,
            deferred_until: self.deferred_until.map(|date| date.0),
            signature: self.signature.filter(|_| action == ApprovalAction::Approve),
            ..ItemDecision::of(action)
        };
        Some((after, decision))
    }
}

/// What became of one item of a decision about many.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkResult {
    pub id: Uuid,
    /// Null for an item that the project does not have.
    #[schema(required, example = "REQ-001")]
    pub code: Option<String>,
    /// Whether this item was changed.
    pub ok: bool,
    /// Why the item stays as it was: NotFound, PreconditionFailed or InvalidState.
    #[schema(required)]
    pub error_code: Option<String>,
}

/// What became of each item, in the order of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BulkResults {
    /// The items in the order of the request, each with what became of it.
    pub items: Vec<BulkResult>,
}
