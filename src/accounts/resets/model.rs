//! The response to a correct reset code.

use serde::Serialize;
use utoipa::ToSchema;

/// A token that allows its holder to set a new password, once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetToken {
    /// The secret for `resetPassword`. It is good once.
    pub reset_token: String,
    /// For how many seconds from now it is accepted.
    pub expires_in: u64,
}
