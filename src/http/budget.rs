//! Limits the bytes held in memory for request bodies being received and responses being sent: one limit for all
//! clients together, and a quarter of it for each client. Small bodies and responses are not counted; the number of
//! connections bounds them.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::error::ApiError;
use crate::db::DbError;

/// The part of each body or response that is not counted, in bytes. Because ordinary calls stay below it, no client can
/// use up the budget for them.
pub const SMALL_BYTES: usize = 16 * 1024;

/// How often what is read from the database is in memory until its response is sent: as it was stored, parsed, and serialized.
const COPIES: usize = 3;

/// The byte budget of all clients. Clones share one state.
#[derive(Clone)]
pub struct Budget {
    all: usize,
    held: Arc<Mutex<BudgetState>>,
}

#[derive(Default)]
struct BudgetState {
    all: usize,
    by: HashMap<String, usize>,
}

/// The bytes charged to one client for one body or response. Dropping it returns them to the budget.
pub struct Share {
    budget: Budget,
    client: String,
    bytes: usize,
}

impl Budget {
    #[must_use]
    pub fn of(bytes: usize) -> Self {
        Self { all: bytes, held: Arc::default() }
    }

    /// Returns a share that holds no bytes yet.
    #[must_use]
    pub fn share(&self, client: String) -> Share {
        Share { budget: self.clone(), client, bytes: 0 }
    }

    /// Returns the number of bytes that are charged now, for all clients.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl Share {
    /// Raises the share to `size` bytes, of which the first [`SMALL_BYTES`] are not counted. A share never shrinks.
    ///
    /// # Errors
    /// 503 if the budget of the client or of all clients is used up.
    pub fn grow_to(&mut self, size: usize) -> Result<(), ApiError> {
        let more = size.saturating_sub(SMALL_BYTES).saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let mut held = self.budget.held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.by.get(&self.client).copied().unwrap_or_default();
        if held.all + more > self.budget.all || own + more > self.budget.all / 4 {
            return Err(ApiError::unavailable("too many bytes are in flight"));
        }
        held.all += more;
        held.by.insert(self.client.clone(), own + more);
        self.bytes += more;
        Ok(())
    }

    /// Reserves room for `stored` bytes of the database, before they are read: [`COPIES`] of them.
    ///
    /// # Errors
    /// [`DbError::Busy`] if the budget of the client or of all clients is used up.
    pub fn reserve(&mut self, stored: usize) -> Result<(), DbError> {
        self.grow_to(stored.saturating_mul(COPIES)).map_err(|_full| DbError::Busy)
    }

    /// Attaches the share to the bytes: it is returned when the last reference to them is dropped.
    #[must_use]
    pub fn with(self, bytes: Vec<u8>) -> Bytes {
        if self.bytes == 0 { bytes.into() } else { Bytes::from_owner(CountedBytes { bytes, _share: self }) }
    }
}

struct CountedBytes {
    bytes: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for CountedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        if self.bytes == 0 {
            return;
        }
        let mut held = self.budget.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all -= self.bytes;
        if let Some(own) = held.by.get_mut(&self.client) {
            *own -= self.bytes;
            if *own == 0 {
                held.by.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Budget, SMALL_BYTES};

    #[test]
    fn all_together_hold_so_much_and_each_a_quarter_of_it() {
        let budget = Budget::of(4_000_000);
        let share = |client: &str| budget.share(client.to_owned());
        let mut one = share("one");
        assert!(one.grow_to(SMALL_BYTES + 600_000).is_ok() && one.grow_to(SMALL_BYTES + 600_000).is_ok());
        let mut again = share("one");
        assert!(again.grow_to(SMALL_BYTES + 400_001).is_err(), "more than a quarter");
        assert!(again.grow_to(SMALL_BYTES + 400_000).is_ok());
        let others: Vec<_> = ["two", "three", "four"]
            .map(|client| {
                let mut share = share(client);
                assert!(share.grow_to(SMALL_BYTES + 1_000_000).is_ok());
                share
            })
            .into();
        assert!(share("five").grow_to(SMALL_BYTES + 1).is_err(), "nothing is left");
        assert!(share("five").grow_to(SMALL_BYTES).is_ok(), "what is small is taken all the same");
        drop(again);
        let whole = one.with(vec![7; 1000]);
        let part = whole.slice(10..20);
        drop((whole, others));
        assert_eq!(budget.held(), 600_000);
        drop(part);
        assert_eq!(budget.held(), 0);
    }
}
