//! How a node's loops are watched, and ended early.

#[cfg(test)]
pub mod looks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::request::CancelToken;

/// Lets a long loop be watched and ended from outside.
///
/// A round works at something small, one sentence or item; that these are small is seen to where they are made.
#[derive(Debug, Clone)]
pub struct Pace {
    cancel: CancelToken,
    permille: Arc<AtomicU32>,
}

/// The node was asked to end early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ended early")]
pub struct Halted;

impl Pace {
    pub fn new(cancel: CancelToken) -> Self {
        Self { cancel, permille: Arc::new(AtomicU32::new(0)) }
    }

    /// Notes how much is done, and whether to go on. Costs next to nothing: to be called in every round of every loop over sentences,
    /// findings or items.
    pub fn mark(&self, done: usize, total: usize) -> Result<(), Halted> {
        let permille = done.saturating_mul(1000) / total.max(1);
        self.permille.store(u32::try_from(permille).unwrap_or(1000), Ordering::Relaxed);
        self.look()
    }

    /// Whether to go on, where it can't be said how much is done.
    pub fn look(&self) -> Result<(), Halted> {
        #[cfg(test)]
        looks::looked();
        if self.cancel.is_cancelled() { Err(Halted) } else { Ok(()) }
    }

    /// Of the node under way, 0–1000.
    pub fn permille(&self) -> u32 {
        self.permille.load(Ordering::Relaxed)
    }

    /// The next node starts from nothing.
    pub(super) fn restart(&self) {
        self.permille.store(0, Ordering::Relaxed);
    }
}
