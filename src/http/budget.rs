//! Bytes that the server holds for bodies on their way in and answers on their way out: so many for all clients together, and
//! a quarter of them for each. What is small is not counted: connections are.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::failure::Failure;

/// What one body or answer may have before it is counted: nobody can keep others from sending what most calls send.
pub const SMALL_BYTES: usize = 16 * 1024;

/// The bytes of all. Clones are the same one.
#[derive(Clone)]
pub struct Budget {
    all: usize,
    held: Arc<Mutex<Held>>,
}

#[derive(Default)]
struct Held {
    all: usize,
    by: HashMap<String, usize>,
}

/// What is held for one body or answer; given back when it is dropped.
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

    /// A share without a byte yet.
    #[must_use]
    pub fn share(&self, client: String) -> Share {
        Share { budget: self.clone(), client, bytes: 0 }
    }

    /// How many bytes are held.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl Share {
    /// Now of `size` bytes, small ones not counted.
    ///
    /// # Errors
    /// 503: there are no more to be had now.
    pub fn grow_to(&mut self, size: usize) -> Result<(), Failure> {
        let more = size.saturating_sub(SMALL_BYTES).saturating_sub(self.bytes);
        if more == 0 {
            return Ok(());
        }
        let mut held = self.budget.held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.by.get(&self.client).copied().unwrap_or_default();
        if held.all + more > self.budget.all || own + more > self.budget.all / 4 {
            return Err(Failure::unavailable("too many bytes are on their way"));
        }
        held.all += more;
        held.by.insert(self.client.clone(), own + more);
        self.bytes += more;
        Ok(())
    }

    /// The bytes with their share, which ends with the last of them.
    #[must_use]
    pub fn with(self, bytes: Vec<u8>) -> Bytes {
        if self.bytes == 0 { bytes.into() } else { Bytes::from_owner(Counted { bytes, _share: self }) }
    }
}

struct Counted {
    bytes: Vec<u8>,
    _share: Share,
}

impl AsRef<[u8]> for Counted {
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
