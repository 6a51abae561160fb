//! Turns: what asks for one session does so one after the other.

use actors::ids::{Id, Session};
use tokio::sync::{Mutex, MutexGuard};

/// Sessions share turns, so that no list of them has to be kept.
const TURNS: usize = 256;

/// Saves a rush of equal requests from waiting for the database, which it would only ask to refuse them. Nothing rests on it:
/// who may have what is decided by the rows.
pub struct Turns([Mutex<()>; TURNS]);

impl Default for Turns {
    fn default() -> Self {
        Self(std::array::from_fn(|_| Mutex::new(())))
    }
}

impl Turns {
    /// Waits for a session's turn. It ends when what is given is dropped.
    pub async fn take(&self, id: Id<Session>) -> Option<MutexGuard<'_, ()>> {
        // The last byte of an id is chance.
        let place = id.uuid().as_bytes().last().map_or(0, |byte| usize::from(*byte));
        match self.0.get(place) {
            Some(turn) => Some(turn.lock().await),
            None => None,
        }
    }
}
