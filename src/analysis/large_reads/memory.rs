//! The memory for work on whole projects: one limit for requests and jobs together. Work that finds too little left waits in
//! line.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::http::error::ApiError;

/// How long a request waits for memory.
const PATIENCE: Duration = Duration::from_secs(5);
/// What needs no more is not counted: the number of connections bounds it.
const SMALL_BYTES: usize = 64 * 1024;
/// How large results may be that are parsed as a whole, in bytes as they are stored.
pub const MOST_PARSED_BYTES: usize = 64 * 1024 * 1024;
/// How often such results are in memory: as they are stored, parsed, as they are described for a file or a reviewer, and as that
/// file.
const COPIES: usize = 4;

/// The memory. Clones share it.
#[derive(Clone)]
pub struct WorkMemory {
    /// A permit for each KiB.
    free: Arc<Semaphore>,
    all: u32,
}

/// Memory that is reserved until this is dropped. `None` for little.
pub struct ReservedMemory(#[expect(dead_code, reason = "held, never read")] Option<OwnedSemaphorePermit>);

impl WorkMemory {
    #[must_use]
    pub fn new(mebibytes: usize) -> Self {
        let all = u32::try_from(mebibytes.saturating_mul(1024)).unwrap_or(u32::MAX);
        let permits = usize::try_from(all).unwrap_or(usize::MAX).min(Semaphore::MAX_PERMITS);
        Self { free: Arc::new(Semaphore::new(permits)), all }
    }

    /// Reserves memory for results of so many bytes that are parsed as a whole, and for what is made of them; for no more than
    /// [`MOST_PARSED_BYTES`], beyond which they are refused.
    pub async fn for_parsed(&self, stored: usize) -> ReservedMemory {
        self.reserve(stored.min(MOST_PARSED_BYTES).saturating_mul(COPIES)).await
    }

    /// Reserves memory, and waits for it. What is more than there is gets all there is.
    pub async fn reserve(&self, bytes: usize) -> ReservedMemory {
        if bytes <= SMALL_BYTES {
            return ReservedMemory(None);
        }
        let kib = u32::try_from(bytes / 1024).unwrap_or(u32::MAX).min(self.all);
        // It is never closed.
        ReservedMemory(Arc::clone(&self.free).acquire_many_owned(kib).await.ok())
    }

    /// Reserves memory for a request.
    ///
    /// # Errors
    /// 503 if there is too little for [`PATIENCE`].
    pub async fn soon(reservation: impl Future<Output = ReservedMemory>) -> Result<ReservedMemory, ApiError> {
        let reserved = timeout(PATIENCE, reservation).await;
        reserved.map_err(|_late| ApiError::unavailable("too much other work on whole projects is under way"))
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use futures_util::FutureExt;

    use super::*;

    #[tokio::test]
    async fn work_waits_for_memory_and_a_request_not_for_long() {
        let memory = WorkMemory::new(1);
        let most = memory.reserve(1_000_000).await;
        assert!(memory.reserve(SMALL_BYTES).now_or_never().is_some(), "little is not counted");
        let refused = WorkMemory::soon(memory.reserve(100_000)).await;
        assert_eq!(refused.err().map(|error| error.code.status), Some(503));
        let mut waiting = pin!(memory.for_parsed(usize::MAX));
        assert!(waiting.as_mut().now_or_never().is_none(), "most of it is taken");
        drop(most);
        let all = waiting.await;
        assert!(memory.reserve(100_000).now_or_never().is_none(), "what is more than all has all of it");
        drop(all);
        assert!(memory.reserve(100_000).now_or_never().is_some());
    }
}
