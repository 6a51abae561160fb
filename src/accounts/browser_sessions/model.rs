//! What the page of a browser session holds.

use serde::Serialize;
use utoipa::ToSchema;

use crate::accounts::model::Profile;

/// The access token and the account of a browser's session. What renews it is a cookie.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct BrowserSession {
    /// A JWT for the header `Authorization: Bearer`.
    pub access_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// For how many seconds from now `accessToken` is accepted.
    pub expires_in: u64,
    pub user: Profile,
}
