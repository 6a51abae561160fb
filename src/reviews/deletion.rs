//! Removes a deleted account from reviews: its name goes from the approval trails, whose chains hold all the same, and
//! from feedback, whose comments stay; the invitations to its address are deleted.

use actors::ids::{Id, User};
use actors::live::RequestId;
use async_trait::async_trait;

use super::feedback::store as feedback;
use super::invitations::store as invitations;
use super::state::Reviews;
use crate::accounts::model::DELETED_NAME;
use crate::accounts::profile::deletion::{AfterCommit, DeletedAccount, DeletionHook, ReleaseError};
use crate::analysis;
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, DbError};
use crate::http::error::ApiError;

/// The deletion hook of reviews.
pub struct ReviewDeletionHook {
    pub state: Reviews,
}

#[async_trait]
impl DeletionHook for ReviewDeletionHook {
    /// Where there is more than one page of invitations or feedback under the address, goes through them page by page,
    /// so that at most one page is left for the transaction of [`release`](DeletionHook::release).
    async fn prepare(&self, leaving: &DeletedAccount) -> Result<(), ApiError> {
        let stopping = self.state.tasks.stopping();
        let email = leaving.account.email.clone();
        let gone = in_pages(&self.state.db, &stopping, move |conn| {
            let email = email.clone();
            Box::pin(async move {
                match invitations::has_more_than(conn, &email, PAGE).await? {
                    true => invitations::forget_address(conn, &email, PAGE).await,
                    false => Ok(0),
                }
            })
        });
        gone.await.map_err(|failed: DbError| ApiError::from(failed))?;
        let email = leaving.account.email.clone();
        let gone = in_pages(&self.state.db, &stopping, move |conn| {
            let email = email.clone();
            Box::pin(async move {
                match feedback::has_more_than(conn, &email, PAGE).await? {
                    true => feedback::forget_address(conn, &email, DELETED_NAME, PAGE).await,
                    false => Ok(0),
                }
            })
        });
        gone.await.map_err(|failed: DbError| ApiError::from(failed)).map(drop)
    }

    async fn release(&self, conn: &mut Conn, leaving: &DeletedAccount) -> Result<Option<AfterCommit>, ReleaseError> {
        let email = &leaving.account.email;
        invitations::forget_address(conn, email, i64::MAX).await?;
        feedback::forget_address(conn, email, DELETED_NAME, i64::MAX).await?;
        Ok(None)
    }

    /// The approval trails, and what the account wrote as a member while it was being deleted.
    async fn erase(&self, user_id: Id<User>, _: &RequestId) -> Result<(), String> {
        let stopping = self.state.tasks.stopping();
        let erased =
            in_pages(&self.state.db, &stopping, move |conn| Box::pin(analysis::trail::erase_name(conn, user_id, PAGE)));
        erased.await?;
        let gone = in_pages(&self.state.db, &stopping, move |conn| {
            Box::pin(feedback::forget_member(conn, user_id, DELETED_NAME, PAGE))
        });
        gone.await?;
        Ok(())
    }
}
