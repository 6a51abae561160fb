//! The body of a request that begins the session of a browser.

use utoipa::ToSchema;

use crate::accounts::model::TypedPassword;
use crate::http::input::Body;

/// The session that becomes the browser's.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct BeginBrowserSession {
    /// The newest refresh token of the session. It is used up.
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1000)]
    pub refresh_token: TypedPassword,
    /// Whether the browser keeps the cookie when it is closed. Default: false.
    pub stay_signed_in: Option<bool>,
}
