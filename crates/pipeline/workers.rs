//! The bounded blocking pool that executes pipeline nodes.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};

/// The work panicked; the panic hook has already reported where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WorkPanicked;

/// A handle to the pool. It is cheap to clone, and all clones share one limit.
#[derive(Debug, Clone)]
pub struct Workers {
    permits: Arc<Semaphore>,
}

impl Workers {
    /// Creates a pool that executes up to `width` (at least one) pieces of work at once.
    pub fn new(width: usize) -> Self {
        Self { permits: Arc::new(Semaphore::new(width.max(1))) }
    }

    /// Waits for a permit, then starts `work` on a blocking thread. The result arrives on the returned channel: `Err`
    /// if `work` panicked; the channel is closed without a result if the runtime shuts down. The permit is held until
    /// `work` returns, even when the receiver has been dropped.
    pub(super) async fn spawn<T, F>(&self, work: F) -> oneshot::Receiver<Result<T, WorkPanicked>>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        // `acquire_owned` fails only on a closed semaphore, and this one is never closed.
        if let Ok(permit) = Arc::clone(&self.permits).acquire_owned().await {
            tokio::task::spawn_blocking(move || {
                let outcome = catch_unwind(AssertUnwindSafe(work)).map_err(|_payload| WorkPanicked);
                drop(permit);
                // The receiver is gone after a cancellation; that is no error.
                let _undelivered = sender.send(outcome);
            });
        }
        receiver
    }
}
