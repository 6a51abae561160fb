//! The bounded blocking pool that pipeline nodes work on.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};

/// The work panicked; the panic's hook has said where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Panicked;

/// A handle that is cheap to clone; all clones share one limit.
#[derive(Debug, Clone)]
pub struct Workers {
    seats: Arc<Semaphore>,
}

impl Workers {
    /// A pool of `width` seats, at least one.
    pub fn new(width: usize) -> Self {
        Self { seats: Arc::new(Semaphore::new(width.max(1))) }
    }

    /// Waits for a seat, then runs `work` there. The answer arrives on the channel: `Err` if `work` panicked, and a closed
    /// channel if the runtime is going down. The seat is held until `work` returns, even when nobody waits for it any more.
    pub(super) async fn seat<T, F>(&self, work: F) -> oneshot::Receiver<Result<T, Panicked>>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        // A semaphore that is never closed always gives its permit.
        if let Ok(seat) = Arc::clone(&self.seats).acquire_owned().await {
            tokio::task::spawn_blocking(move || {
                let outcome = catch_unwind(AssertUnwindSafe(work)).map_err(|_words| Panicked);
                drop(seat);
                // Nobody listens after a cancel; that is no fault.
                let _unheard = tell.send(outcome);
            });
        }
        told
    }
}
