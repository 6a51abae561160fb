//! The bodies of requests about sessions.

use utoipa::ToSchema;

use crate::accounts::model::{Email, TypedPassword};
use crate::http::input::Body;

/// An address with its password.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct Login {
    pub email: Email,
    pub password: TypedPassword,
}

/// The refresh token of a session.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct RefreshToken {
    /// The newest refresh token of the session.
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1000)]
    pub refresh_token: TypedPassword,
}

/// Which sessions to end.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct LogOut {
    /// Whether all sessions of the account end. Default: false, this session only.
    pub all_sessions: Option<bool>,
}
