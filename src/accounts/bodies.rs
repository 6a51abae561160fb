//! The bodies of requests about registration.

use actors::ids::Id;
use actors::language::Language;
use utoipa::ToSchema;

use super::model::{CodePurpose, Email, FullName, NewPassword, Registration, TypedCode};
use crate::access::one_time::OneTimeToken;
use crate::http::input::Body;

/// An account to register.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct Register {
    pub email: Email,
    /// Checked against common passwords and the account's own name and address.
    pub password: NewPassword,
    pub full_name: FullName,
    pub language: Option<Language>,
    /// The token of an invitation to a project, in the fragment of its link: for servers that open accounts by invitation.
    pub invitation_token: Option<OneTimeToken>,
}

/// The registration to confirm, with its code.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ConfirmAccount {
    /// The registration that `register` returned.
    pub registration_id: Id<Registration>,
    pub email: Email,
    pub code: TypedCode,
}

/// For which address and purpose to send a new code.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ResendOtp {
    pub email: Email,
    pub purpose: CodePurpose,
}
