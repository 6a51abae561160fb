//! Hooks that run when a membership ends. Features that grant members something of their own implement them, so that a
//! user who lost access to a project keeps no part of it.

use std::sync::Arc;

use actors::ids::{Id, Project, User};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use async_trait::async_trait;

use crate::db::{Conn, DbError};

/// A membership that ends.
#[derive(Debug, Clone)]
pub struct EndedMembership {
    pub project_id: Id<Project>,
    pub user_id: Id<User>,
    pub at: Time,
    pub request: RequestId,
}

/// The hook of a feature.
#[async_trait]
pub trait MembershipHook: Send + Sync + 'static {
    /// Removes what the membership granted, in the transaction that ends it, and returns the events to publish. Runs
    /// before anything that locks the project's topic.
    ///
    /// # Errors
    /// A database error; the membership is then kept.
    async fn end(&self, conn: &mut Conn, ended: &EndedMembership) -> Result<Vec<EventRecord>, DbError>;

    /// Runs after that transaction, whatever its outcome, and before its events are published. Idempotent.
    async fn after_end(&self, ended: &EndedMembership);
}

/// The hooks of all features.
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
    pub async fn end(&self, conn: &mut Conn, ended: &EndedMembership) -> Result<Vec<EventRecord>, DbError> {
        let mut records = Vec::new();
        for hook in &self.0 {
            records.extend(hook.end(conn, ended).await?);
        }
        Ok(records)
    }

    pub async fn after_end(&self, ended: &EndedMembership) {
        for hook in &self.0 {
            hook.after_end(ended).await;
        }
    }
}
