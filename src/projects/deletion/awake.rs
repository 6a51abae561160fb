//! The actors in memory that must be dropped when their row is deleted.

use actors::ids::Id;
use actors::meeting::Meeting;
use actors::run::Run;
use async_trait::async_trait;

/// Drops loaded actors whose row was deleted.
#[async_trait]
pub trait Awake: Send + Sync + 'static {
    async fn forget_meeting(&self, id: Id<Meeting>);
    async fn forget_run(&self, id: Id<Run>);
}
