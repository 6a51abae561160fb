//! Response types of sessions, as their owner sees them.

use actors::ids::{self, Id};
use actors::time::Time;
use serde::Serialize;
use utoipa::ToSchema;

/// An active session.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Session {
    #[schema(value_type = uuid::Uuid)]
    pub id: Id<ids::Session>,
    /// The description that the client gave of itself at log-in.
    pub device: String,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub created_at: Time,
    /// When it was last refreshed.
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub last_used_at: Time,
    /// Whether it is the session of this request.
    pub current: bool,
}
