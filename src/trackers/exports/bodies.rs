//! The body of a request that exports stories.

use actors::ids::Id;
use utoipa::ToSchema;

use super::MAX_STORIES;
use super::model::TrackerExport;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::Body;
use crate::http::reason::Reason;

/// Which user stories to export.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ExportApprovedUserStories {
    /// These stories; absent: all that are approved and not suspect. Of stories that are not approved the export says so.
    #[schema(max_items = 5000)]
    pub user_story_ids: Option<Vec<Id<()>>>,
    /// The stories that this earlier export did not export, in place of `userStoryIds`.
    pub retry_of: Option<Id<TrackerExport>>,
    /// Send nothing: only say what would be created, changed or skipped, and what the tracker would refuse.
    pub dry_run: Option<bool>,
    /// Create the issues anew that were deleted in the tracker.
    pub recreate_missing: Option<bool>,
    /// Overwrite what was edited in the tracker.
    pub overwrite_edited: Option<bool>,
}

/// By hand, because what two fields break together is said even if others are wrong, and an empty list is not the same as none.
impl Body for ExportApprovedUserStories {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let has_ids = fields.has("userStoryIds");
        let user_story_ids = fields.values("userStoryIds", MAX_STORIES, |_| Ok(()));
        let retry_of = fields.optional("retryOf");
        let dry_run = fields.optional("dryRun");
        let recreate_missing = fields.optional("recreateMissing");
        let overwrite_edited = fields.optional("overwriteEdited");
        if has_ids && matches!(retry_of, Ok(Some(_))) {
            return Err(fields.fault("retryOf", Reason::InvalidValue, "Give this or userStoryIds, not both."));
        }
        if has_ids && matches!(&user_story_ids, Ok(ids) if ids.is_empty()) {
            return Err(fields.fault("userStoryIds", Reason::TooShort, "This must have at least one item."));
        }
        Ok(Self {
            user_story_ids: Some(user_story_ids?).filter(|_| has_ids),
            retry_of: retry_of?,
            dry_run: dry_run?,
            recreate_missing: recreate_missing?,
            overwrite_edited: overwrite_edited?,
        })
    }
}
