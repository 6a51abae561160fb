//! Locks that let one request of a process at a time refresh the tokens of a connection.

use actors::ids::{self, Id};
use tokio::sync::{Mutex, MutexGuard};

/// The number of locks. Connections share them, so that no list has to be maintained.
const LOCKS: usize = 64;

/// Lets those who need fresh tokens at the same time wait for one call. Other processes are kept away by the row.
pub struct TokenLocks([Mutex<()>; LOCKS]);

impl Default for TokenLocks {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl TokenLocks {
    /// Acquires the lock of a project's connection. It is released when the guard is dropped.
    pub async fn take(&self, project_id: Id<ids::Project>) -> Option<MutexGuard<'_, ()>> {
        // The last byte of an id is random.
        let index = project_id.uuid().as_bytes().last().map_or(0, |byte| usize::from(*byte) % LOCKS);
        match self.0.get(index) {
            Some(lock) => Some(lock.lock().await),
            None => None,
        }
    }
}
