//! Which items of a dashboard are wanted.

use actors::ids::Id;
use pipeline::result::{Priority, RequirementType};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::items::model::WorkflowStatus;
use crate::http::fields::{Field, Fields, InvalidValue, Rejected, text};

/// Which items of a dashboard are wanted: those that satisfy every filter. A filter on what a kind of items does not have, such
/// as the status of a risk, leaves that kind as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DashboardFilter {
    /// Requirements of this type, and the stories that cover one of them.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub kind: Option<RequirementType>,
    /// Requirements and stories with this priority.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub priority: Option<Priority>,
    /// Requirements and stories with this workflow status.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub status: Option<WorkflowStatus>,
    /// Items from this document or recording.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub source: Option<Uuid>,
    /// Items that this speaker said, in any letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub speaker: Option<String>,
    /// Items whose text contains this text, in any letter case.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false, min_length = 1, max_length = 200)]
    pub search: Option<String>,
}

/// A name or words: 1–200 characters.
struct FilterText(String);

impl Field for FilterText {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 200).map(Self)
    }
}

impl DashboardFilter {
    pub const KEYS: [&str; 6] = ["type", "priority", "status", "source", "speaker", "search"];

    /// # Errors
    /// An error was recorded in `fields`.
    pub fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let kind = fields.optional("type");
        let priority = fields.optional("priority");
        let status = fields.optional("status");
        let source = fields.optional::<Id<()>>("source");
        let speaker = fields.optional::<FilterText>("speaker");
        let search = fields.optional::<FilterText>("search");
        Ok(Self {
            kind: kind?,
            priority: priority?,
            status: status?,
            source: source?.map(Id::uuid),
            speaker: speaker?.map(|speaker| speaker.0),
            search: search?.map(|words| words.0),
        })
    }

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
