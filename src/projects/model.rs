//! Types of projects.

use actors::ids::{self, Id, User};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::access::role::ProjectRole;
use crate::accounts::model::Language;
use crate::enumeration;
use crate::http::fields::{Field, InvalidValue, line, text};

enumeration! {
    /// An archived project accepts only reads and exports.
    pub enum ProjectStatus { Active = "ACTIVE", Archived = "ARCHIVED" }
}

/// 1–120 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name(pub String);

impl Field for Name {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 120).map(Self)
    }
}

/// 0–5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Description(pub String);

impl Field for Description {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 0, 5000).map(Self)
    }
}

/// A project, without the parts that depend on the caller.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Project {
    #[schema(value_type = uuid::Uuid)]
    pub id: Id<ids::Project>,
    pub name: String,
    pub description: String,
    pub language: Language,
    pub status: ProjectStatus,
    #[schema(value_type = uuid::Uuid)]
    pub owner_id: Id<User>,
    /// The version, which is also the ETag; it increases with each edit.
    pub version: i64,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub created_at: Time,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub updated_at: Time,
}

/// The number of objects in a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    pub members: i64,
    pub documents: i64,
    pub meetings: i64,
    pub requirements: i64,
    pub user_stories: i64,
}

/// A project, with the caller's role in it.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[schema(as = Project)]
#[serde(rename_all = "camelCase")]
pub struct MyProject {
    #[serde(flatten)]
    #[schema(inline)]
    pub project: Project,
    pub my_role: ProjectRole,
    pub counts: Counts,
}
