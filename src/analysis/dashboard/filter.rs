//! Which items of a dashboard are wanted.

use actors::ids::Id;
use pipeline::result::{Priority, RequirementType};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::items::model::WorkflowStatus;
use crate::http::input::Query;
use crate::http::list::Search;

/// Which items of a dashboard are wanted: those that satisfy every filter. A filter on what a kind of items does not have, such
/// as the status of a risk, leaves that kind as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema, Query)]
#[serde(rename_all = "camelCase")]
pub struct DashboardFilter {
    /// Requirements of this type, and the stories that cover one of them.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    #[query(description = "Return only requirements of this type, and the stories that cover one of them.")]
    pub kind: Option<RequirementType>,
    /// Requirements and stories with this priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    #[query(description = "Return only requirements and stories with this priority.")]
    pub priority: Option<Priority>,
    /// Requirements and stories with this workflow status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    #[query(description = "Return only requirements and stories with this status.")]
    pub status: Option<WorkflowStatus>,
    /// Items from this document or recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    #[query(as = Id<()>, map = Id::uuid, description = "Return only items from this document or recording.")]
    pub source: Option<Uuid>,
    /// Items that this speaker said, in any letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    #[query(as = Search, description = "Return only items that this speaker said, in any letter case.")]
    pub speaker: Option<String>,
    /// Items whose text contains this text, in any letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    #[query(as = Search, description = "Return only items whose text contains this text.")]
    pub search: Option<String>,
}

impl DashboardFilter {
    /// Whether it keeps everything.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns 16 hex digits that differ between two filters.
    #[must_use]
    pub fn hash(&self) -> String {
        let text = serde_json::to_vec(self).unwrap_or_default();
        hex::encode(Sha256::digest(text)).chars().take(16).collect()
    }
}
