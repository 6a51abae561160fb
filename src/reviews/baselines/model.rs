//! Request and response types of baselines.

use actors::ids::{Id, User};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::http::fields::{Field, InvalidValue, line, text};
use crate::projects::item_kind::ItemKind;

/// A project's requirements, user stories and acceptance criteria as they stood at one moment. It never changes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Baseline {
    pub id: Id<Baseline>,
    /// From 1, in the order in which the project's baselines were taken.
    #[schema(minimum = 1)]
    pub number: i64,
    /// 1–120 characters on one line.
    #[schema(example = "Signed off in week 12")]
    pub name: String,
    /// What the baseline is for; null if nothing was noted.
    #[schema(required)]
    pub note: Option<String>,
    pub counts: BaselineCounts,
    pub created_by: BaselineAuthor,
    pub created_at: Time,
}

/// What a baseline contains.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BaselineCounts {
    #[schema(minimum = 0)]
    pub requirements: i64,
    #[schema(minimum = 0)]
    pub user_stories: i64,
    #[schema(minimum = 0)]
    pub acceptance_criteria: i64,
}

/// Who took a baseline.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BaselineAuthor {
    /// Id of the account.
    pub id: Id<User>,
    /// Null once the account was deleted.
    #[schema(required)]
    pub name: Option<String>,
}

/// 1–120 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
pub struct BaselineName(pub String);

impl Field for BaselineName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 120).map(Self)
    }
}

/// At most 5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(max_length = 5000)]
pub struct BaselineNote(pub String);

impl Field for BaselineNote {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 0, 5000).map(Self)
    }
}

/// The kind of an item that was compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ComparedType {
    Requirement,
    UserStory,
}

impl ComparedType {
    #[must_use]
    pub const fn item_kind(self) -> ItemKind {
        match self {
            Self::Requirement => ItemKind::Requirement,
            Self::UserStory => ItemKind::UserStory,
        }
    }
}

/// What differs between a baseline and a later or earlier one, or the present. Requirements come first, by their codes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BaselineComparison {
    /// Items that only the other one has.
    pub added: Vec<ComparedItem>,
    /// Items that only this baseline has.
    pub removed: Vec<ComparedItem>,
    /// The items that are in both, with the fields that differ.
    pub changed: Vec<ChangedFields>,
}

/// An item that only one of the two has.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedItem {
    pub id: Uuid,
    #[schema(example = "REQ-001")]
    pub code: String,
    pub target_type: ComparedType,
    pub title: String,
}

/// An item whose content or status differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFields {
    pub id: Uuid,
    #[schema(example = "US-001")]
    pub code: String,
    pub target_type: ComparedType,
    /// The fields that differ.
    pub fields: Vec<ComparedField>,
}

/// A field that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparedField {
    /// A field of the item; `requirements` for those that a story covers, by their codes; `AC-001.text` for a field of an
    /// acceptance criterion, by the code that it had before (of a new one: that it has); `acceptanceCriteria` for their
    /// order.
    #[schema(example = "statement")]
    pub name: String,
    /// Null: there was none.
    #[schema(required)]
    pub before: Option<String>,
    /// Null: there is none.
    #[schema(required)]
    pub after: Option<String>,
}
