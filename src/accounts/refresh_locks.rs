//! Locks that serialize the refreshes of one session.

use actors::ids::{Id, Session};
use tokio::sync::{Mutex, MutexGuard};

/// The number of locks. Sessions share them, so that no list of sessions has to be maintained.
const LOCKS: usize = 256;

/// Keeps a burst of identical requests from queuing for the database, which would only refuse them. This is an
/// optimization: correctness is ensured by the rows.
pub struct RefreshLocks([Mutex<()>; LOCKS]);

impl Default for RefreshLocks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl RefreshLocks {
    /// Acquires the lock of a session. It is released when the guard is dropped.
    pub async fn take(&self, id: Id<Session>) -> Option<MutexGuard<'_, ()>> {
        // The last byte of an id is random.
        let index = id.uuid().as_bytes().last().map_or(0, |byte| usize::from(*byte));
        match self.0.get(index) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        }
    }
}
