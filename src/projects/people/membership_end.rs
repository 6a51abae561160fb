//! What else ends with a membership. Features that give members a place of their own say how it goes, so that nobody who
//! lost a project keeps a part of it.

use std::sync::Arc;

use actors::ids::{Id, Project, User};
use actors::live::{RequestId, Told};
use actors::time::Time;
use async_trait::async_trait;

use crate::db::{Conn, Failed};

/// A membership that ends.
#[derive(Debug, Clone)]
pub struct EndedMembership {
    pub project_id: Id<Project>,
    pub user_id: Id<User>,
    pub at: Time,
    pub request: RequestId,
}

/// What a feature does when a membership ends.
#[async_trait]
pub trait MembershipHook: Send + Sync + 'static {
    /// Takes away what the membership gave, in the transaction that ends it; what is told of that. It comes before anything
    /// that holds the project's topic.
    ///
    /// # Errors
    /// The database's own: then the membership stays.
    async fn end(&self, conn: &mut Conn, ended: &EndedMembership) -> Result<Vec<Told>, Failed>;

    /// Follows that transaction, whatever became of it, before anything is told. Safe to repeat.
    async fn settle(&self, ended: &EndedMembership);
}

/// The features that give members something of their own.
#[derive(Clone, Default)]
pub struct MembershipHooks(Vec<Arc<dyn MembershipHook>>);

impl MembershipHooks {
    #[must_use]
    pub fn with(mut self, hook: impl MembershipHook) -> Self {
        self.0.push(Arc::new(hook));
        self
    }

    /// # Errors
    /// See [`MembershipHook::end`].
    pub async fn end(&self, conn: &mut Conn, ended: &EndedMembership) -> Result<Vec<Told>, Failed> {
        let mut told = Vec::new();
        for hook in &self.0 {
            told.extend(hook.end(conn, ended).await?);
        }
        Ok(told)
    }

    pub async fn settle(&self, ended: &EndedMembership) {
        for hook in &self.0 {
            hook.settle(ended).await;
        }
    }
}
