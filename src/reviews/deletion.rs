//! Removes a deleted account from reviews: its name goes from the approval trails, whose chains hold all the same.

use actors::ids::{Id, User};
use actors::live::RequestId;
use async_trait::async_trait;

use crate::accounts::profile::deletion::DeletionHook;
use crate::analysis;
use crate::db::DbError;
use crate::db::sweep::{PAGE, in_pages};
use crate::reviews::state::Reviews;

/// The deletion hook of reviews.
pub struct ReviewDeletionHook {
    pub state: Reviews,
}

#[async_trait]
impl DeletionHook for ReviewDeletionHook {
    async fn erase(&self, user_id: Id<User>, _: &RequestId) -> Result<(), String> {
        let stopping = self.state.tasks.stopping();
        let erased =
            in_pages(&self.state.db, &stopping, move |conn| Box::pin(analysis::trail::erase_name(conn, user_id, PAGE)));
        erased.await.map(|_| ()).map_err(|error: DbError| error.to_string())
    }
}
