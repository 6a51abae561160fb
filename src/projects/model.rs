//! Types of projects.

use actors::ids::{self, Id, User};
use actors::language::Language;
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::access::role::ProjectRole;
use crate::accounts::model::Account;
use crate::http::code::Code;
use crate::http::enumeration::wire_enum;
use crate::http::error::ApiError;
use crate::http::fields::{Field, InvalidValue, line, text};
use crate::jobs::mail::Locale;
use crate::quotas::model::ProjectStorage;

wire_enum! {
    /// An archived project accepts only reads and exports.
    pub enum ProjectStatus {
        Active,
        Archived,
    }
}

impl ProjectStatus {
    /// Refuses a change to an archived project.
    ///
    /// # Errors
    /// 409 `ProjectArchived`.
    pub fn must_be_active(self) -> Result<(), ApiError> {
        match self {
            Self::Active => Ok(()),
            Self::Archived => Err(ApiError::of(Code::PROJECT_ARCHIVED)),
        }
    }
}

/// 1–120 characters on one line.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(
    as = ProjectName, min_length = 1, max_length = 120,
    pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$", example = "Clinic booking",
)]
pub struct Name(pub String);

impl Field for Name {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 120).map(Self)
    }
}

/// 0–5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, Default, ToSchema)]
#[schema(max_length = 5000)]
pub struct Description(pub String);

impl Field for Description {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 0, 5000).map(Self)
    }
}

/// A project, without the parts that depend on the caller.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = ProjectView)]
pub struct Project {
    pub id: Id<ids::Project>,
    /// 1–120 characters on one line.
    pub name: String,
    /// Up to 5,000 characters; empty if there is none.
    pub description: String,
    pub language: Language,
    pub status: ProjectStatus,
    /// Id of the account that created the project, or that last became its owner.
    pub owner_id: Id<User>,
    /// The version, which is also the ETag; it increases with each edit.
    pub version: i64,
    pub created_at: Time,
    pub updated_at: Time,
    /// Whether an approval has to be signed: with the password, or a recent sign-in, and what is meant by it.
    pub signed_approvals: bool,
}

impl Project {
    /// The language of an e-mail about the project: the recipient's, else the project's, else that of whoever has it sent.
    #[must_use]
    pub fn email_locale(&self, recipient: Option<Language>, sender: Option<&Account>) -> Locale {
        let projects = Some(self.language).filter(|language| *language != Language::Auto);
        recipient.or(projects).or(sender.map(|sender| sender.language)).unwrap_or(Language::En).into()
    }

    /// A new project, as it is unless its owner wants it otherwise.
    #[must_use]
    pub const fn new(id: Id<ids::Project>, owner_id: Id<User>, name: String, now: Time) -> Self {
        Self {
            id,
            name,
            description: String::new(),
            language: Language::Auto,
            status: ProjectStatus::Active,
            owner_id,
            version: 1,
            created_at: now,
            updated_at: now,
            signed_approvals: false,
        }
    }
}

/// The number of objects in a project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    /// Members in any role.
    pub members: i64,
    /// Documents in any state.
    pub documents: i64,
    /// Meetings in any state.
    pub meetings: i64,
    /// Requirements in any workflow status.
    pub requirements: i64,
    /// User stories in any workflow status.
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
    /// The engines that analyses of this project may use; the first is the default. With llm and fallback, texts of its sources
    /// are sent to a language model.
    #[schema(example = json!(["embedded"]))]
    pub analysis_engines: Vec<&'static str>,
    pub storage: ProjectStorage,
}
