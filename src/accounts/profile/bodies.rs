//! The bodies of requests about the own account.

use actors::language::Language;
use utoipa::ToSchema;

use crate::accounts::model::{FullName, JobTitle, NewPassword, TypedPassword};
use crate::http::input::Body;
use crate::http::patch::Patch;

/// The whole profile, as it is to be.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct EditProfile {
    pub full_name: FullName,
    /// Absent: unchanged. Null or blank: cleared.
    #[schema(value_type = Option<JobTitle>)]
    pub job_title: Patch<JobTitle>,
    /// Absent: unchanged.
    #[schema(nullable = false)]
    pub language: Option<Language>,
}

/// The present and the new password.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ChangePassword {
    /// Required if the account has a password; otherwise absent, and the session must have begun within the last ten
    /// minutes.
    pub current_password: Option<TypedPassword>,
    pub new_password: NewPassword,
}

/// The password that confirms the deletion.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct DeleteAccount {
    /// Required if the account has a password; otherwise absent, and the session must have begun within the last ten
    /// minutes.
    pub password: Option<TypedPassword>,
}
