//! What is served from memory, and has to hear that its row has gone.

use actors::ids::Id;
use actors::meeting::Meeting;
use actors::run::Run;
use async_trait::async_trait;

/// What is served from memory, and has to hear that its row has gone.
#[async_trait]
pub trait Awake: Send + Sync + 'static {
    async fn forget_meeting(&self, id: Id<Meeting>);
    async fn forget_run(&self, id: Id<Run>);
}
