//! Sessions that have ended while their access tokens are still valid. Every authenticated request checks this set.
//!
//! It is in memory and rebuilt from the database at start. An entry can be dropped once the last access token of its
//! session has expired.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};
use std::time::Duration;

use actors::ids::{Id, Session};
use actors::time::Time;
use tokio::sync::broadcast;

/// The ended sessions, and a channel that notifies the holders of their sockets.
pub struct Revoked {
    until: RwLock<HashMap<Id<Session>, Time>>,
    ended: broadcast::Sender<Id<Session>>,
    life: Duration,
}

impl Revoked {
    /// `life` is the lifetime of an access token including the leeway.
    #[must_use]
    pub fn new(life: Duration) -> Self {
        Self { until: RwLock::default(), ended: broadcast::channel(1024).0, life }
    }

    pub fn add(&self, session_id: Id<Session>, now: Time) {
        let mut until = self.until.write().unwrap_or_else(PoisonError::into_inner);
        if until.len() % 1024 == 1023 {
            until.retain(|_, until| *until > now);
        }
        until.insert(session_id, now + self.life);
        drop(until);
        // Fails if there is no subscriber, which is fine.
        let _ = self.ended.send(session_id);
    }

    #[must_use]
    pub fn contains(&self, session_id: Id<Session>) -> bool {
        self.until.read().unwrap_or_else(PoisonError::into_inner).contains_key(&session_id)
    }

    /// Subscribes to sessions that end from now on.
    #[must_use]
    pub fn listen(&self) -> broadcast::Receiver<Id<Session>> {
        self.ended.subscribe()
    }
}
