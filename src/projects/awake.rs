//! What else goes when a meeting or a run of a deleted project does: the actor in memory, and stored files.

use actors::ids::Id;
use actors::live::RequestId;
use actors::meeting::Meeting;
use actors::run::Run;
use actors::time::Time;
use async_trait::async_trait;

use crate::db::{Conn, DbError};

/// Drops loaded actors whose row was deleted.
#[async_trait]
pub trait Awake: Send + Sync + 'static {
    async fn forget_meeting(&self, id: Id<Meeting>);
    async fn forget_run(&self, id: Id<Run>);
}

/// Enqueues the deletion of a meeting's files, in the transaction that deletes its row.
#[async_trait]
pub trait MeetingFiles: Send + Sync + 'static {
    async fn enqueue_deletion(
        &self,
        conn: &mut Conn,
        meeting: Id<Meeting>,
        now: Time,
        request: &RequestId,
    ) -> Result<(), DbError>;
}
