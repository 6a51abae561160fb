//! Response types of sessions, as their owner sees them.

use actors::ids::{self, Id};
use actors::time::Time;
use serde::Serialize;
use utoipa::ToSchema;

/// An active session.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    /// Id of the session. It ends with `revokeSession`.
    pub id: Id<ids::Session>,
    /// The `User-Agent` of the client at sign-in.
    pub device: String,
    /// When the person signed in.
    pub created_at: Time,
    /// When it was last refreshed.
    pub last_used_at: Time,
    /// Whether it is the session of this request.
    pub current: bool,
}
