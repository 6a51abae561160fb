//! The bounded blocking pool that pipeline nodes work on: never more at a time than cores − 1, so that the server still answers.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use tokio::sync::{Semaphore, oneshot};

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

    /// Cores − 1, at least one.
    pub fn for_this_machine() -> Self {
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        Self::new(cores.saturating_sub(1))
    }

    /// Waits for a seat, then runs `work` there. The answer arrives on the channel: `Err(words)` if `work` panicked, and a closed
    /// channel if the runtime is going down. The seat is held until `work` returns, even when nobody waits for it any more.
    pub(super) async fn seat<T, F>(&self, work: F) -> oneshot::Receiver<Result<T, String>>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (tell, told) = oneshot::channel();
        // A semaphore that is never closed always gives its permit.
        if let Ok(seat) = Arc::clone(&self.seats).acquire_owned().await {
            tokio::task::spawn_blocking(move || {
                let outcome = catch_unwind(AssertUnwindSafe(work)).map_err(|panic| words_of(panic.as_ref()));
                drop(seat);
                // Nobody listens after a cancel; that is no fault.
                let _unheard = tell.send(outcome);
            });
        }
        told
    }
}

fn words_of(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(|words| (*words).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without words".to_owned())
}
