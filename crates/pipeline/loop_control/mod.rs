//! Progress reporting and cancellation of the loops in a node.

#[cfg(test)]
pub mod check_intervals;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::request::CancelToken;

/// A handle with which a long loop reports its progress and can be cancelled from outside.
///
/// One iteration has to be small work on one sentence or item; the code that produces those keeps them small.
#[derive(Debug, Clone)]
pub struct LoopControl {
    cancel: CancelToken,
    permille: Arc<AtomicU32>,
}

/// The node was cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("ended early")]
pub struct Halted;

impl LoopControl {
    pub fn new(cancel: CancelToken) -> Self {
        Self { cancel, permille: Arc::new(AtomicU32::new(0)) }
    }

    /// Records the progress and checks for cancellation. It costs next to nothing: call it in every iteration of every
    /// loop over sentences, findings or items.
    ///
    /// # Errors
    /// Returns [`Halted`] once the run is cancelled.
    pub fn report(&self, done: usize, total: usize) -> Result<(), Halted> {
        let permille = done.saturating_mul(1000) / total.max(1);
        self.permille.store(u32::try_from(permille).unwrap_or(1000), Ordering::Relaxed);
        self.check()
    }

    /// Checks for cancellation where no progress can be given.
    ///
    /// # Errors
    /// Returns [`Halted`] once the run is cancelled.
    pub fn check(&self) -> Result<(), Halted> {
        #[cfg(test)]
        check_intervals::record_check();
        if self.cancel.is_cancelled() { Err(Halted) } else { Ok(()) }
    }

    /// Returns the progress of the current node, 0–1000.
    pub fn permille(&self) -> u32 {
        self.permille.load(Ordering::Relaxed)
    }

    /// Resets the progress to 0 for the next node.
    pub(super) fn restart(&self) {
        self.permille.store(0, Ordering::Relaxed);
    }
}
