//! The types of exports to a tracker.

use actors::ids::{Id, User};
use actors::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::clients::trackers::model::TrackerProvider;
use crate::http::enumeration::wire_enum;
use crate::trackers::destinations::model::TrackerDestination;

wire_enum! {
    /// `QUEUED --> RUNNING --> COMPLETED | PARTIAL | FAILED | CANCELLED`
    pub enum TrackerExportStatus {
        Queued,
        Running,
        /// Every story has its issue, with its content.
        Completed,
        /// Some stories have their issue and its content, some not.
        Partial,
        /// Of no story that can be said.
        Failed,
        Cancelled,
    }
}

impl TrackerExportStatus {
    #[must_use]
    pub const fn is_active(self) -> bool {
        matches!(self, Self::Queued | Self::Running)
    }
}

wire_enum! {
    /// What became of a story. In a dry run: what would become of it.
    pub enum TrackerExportItemStatus {
        Pending,
        Created,
        Updated,
        /// Its issue has this content already.
        SkippedUnchanged,
        Failed,
    }
}

/// An export of user stories to an issue tracker.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerExport {
    pub id: Id<TrackerExport>,
    pub status: TrackerExportStatus,
    pub provider: TrackerProvider,
    pub destination: TrackerDestination,
    /// Nothing is sent: the items say what would be done, and what the tracker would refuse.
    pub dry_run: bool,
    /// Stories of the export.
    pub total: i64,
    /// Stories for which an issue was created.
    pub created: i64,
    /// Stories whose issue was changed.
    pub updated: i64,
    /// Stories whose issue was the same already.
    pub skipped: i64,
    /// Stories that could not be exported; their items say why.
    pub failed: i64,
    /// In the order of the stories' codes. Empty in lists and events: get the export for them.
    pub items: Vec<TrackerExportItem>,
    /// Why it could not go on.
    #[schema(required)]
    pub error_message: Option<String>,
    /// Until when it waits, and for what: because the tracker limits calls, or may still be creating an issue.
    #[schema(required)]
    pub waiting_until: Option<Time>,
    /// What the export waits for, in a sentence for people; null if for nothing.
    #[schema(required)]
    pub waiting_for: Option<String>,
    /// When it may be done, by its speed so far; null before the first stories are, and after the end.
    #[schema(required)]
    pub estimated_completion_at: Option<Time>,
    /// Id of the account that started it.
    pub started_by_id: Id<User>,
    pub created_at: Time,
    /// When the export ended, in whatever way; null until then.
    #[schema(required)]
    pub completed_at: Option<Time>,
}

/// One story of an export.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct TrackerExportItem {
    /// Id of the user story.
    pub user_story_id: Uuid,
    /// The code of the user story, such as `US-001`.
    #[schema(example = "US-001")]
    pub code: String,
    /// The version of the story that was exported.
    pub version: i64,
    pub status: TrackerExportItemStatus,
    /// The issue's key at the tracker; null until there is one.
    #[schema(required)]
    pub issue_key: Option<String>,
    /// The issue's page; null until there is one.
    #[schema(required)]
    pub issue_url: Option<String>,
    /// Why it failed, or what is to be known about its issue: `StoryNotApproved`, `StorySuspect`, `StoryMissing`, `IssueMissing`,
    /// `IssueEdited`, `IssueMoved`, `FieldRejected`, `TooLong`, `Forbidden`, `Rejected`, or `ExportStopped` where the export could not
    /// go on.
    #[schema(required)]
    pub error_code: Option<String>,
    /// The same in words, where it can be in the tracker's own.
    #[schema(required)]
    pub error_message: Option<String>,
    /// How often it was tried to create or change its issue.
    pub attempts: i64,
}

/// How an export is to be done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExportOptions {
    /// Issues that were deleted in the tracker are created anew.
    pub recreate_missing: bool,
    /// What was edited in the tracker is overwritten.
    pub overwrite_edited: bool,
}

/// What became of one story of an export.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemOutcome {
    pub user_story_id: Uuid,
    /// The version that was exported; `None`: none was.
    pub version: Option<i64>,
    pub status: TrackerExportItemStatus,
    /// The key and address of its issue.
    pub issue: Option<(String, String)>,
    /// A code of [`TrackerExportItem::error_code`], and words.
    pub note: Option<(&'static str, String)>,
}

impl ItemOutcome {
    #[must_use]
    pub fn failed(user_story_id: Uuid, code: &'static str, message: impl Into<String>) -> Self {
        Self {
            user_story_id,
            version: None,
            status: TrackerExportItemStatus::Failed,
            issue: None,
            note: Some((code, message.into())),
        }
    }
}

/// When an export may be done, by its speed so far.
#[must_use]
pub fn estimate(started_at: Time, now: Time, done: i64, total: i64, waiting_until: Option<Time>) -> Option<Time> {
    let (done, left) = (u32::try_from(done).ok()?, u32::try_from(total - done).ok()?);
    if done == 0 {
        return waiting_until;
    }
    let each = now.since(started_at) / done;
    let from = waiting_until.filter(|until| *until > now).unwrap_or(now);
    Some(from + each.saturating_mul(left))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actors::time::Time;

    use super::estimate;

    #[test]
    fn an_export_is_estimated_by_its_speed_and_by_what_it_waits_for() {
        let at = |seconds: i64| Time::from_millis(1_795_000_000_000 + seconds * 1000).unwrap();
        assert_eq!(estimate(at(0), at(10), 0, 200, None), None);
        assert_eq!(estimate(at(0), at(10), 50, 200, None), Some(at(40)));
        assert_eq!(estimate(at(0), at(10), 50, 200, Some(at(70))), Some(at(100)));
        assert_eq!(estimate(at(0), at(10), 50, 200, Some(at(5))), Some(at(40)));
        assert_eq!(estimate(at(0), at(10), 200, 200, None), Some(at(10)));
        assert_eq!(estimate(at(0), at(0), 1, i64::from(u32::MAX), None), Some(at(0) + Duration::ZERO));
    }
}
