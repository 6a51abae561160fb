//! What the right code gives.

use serde::Serialize;
use utoipa::ToSchema;

/// Who holds this may choose a new password, once.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResetToken {
    pub reset_token: String,
    /// Seconds.
    pub expires_in: u64,
}
