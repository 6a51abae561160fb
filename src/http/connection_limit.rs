//! Limits how many connections may be open, per key and in total: sockets and event streams of an account, TCP
//! connections and requests of a client.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// The limit, and the permits that are held now.
pub struct ConnectionLimit<K: Eq + Hash> {
    each: usize,
    all: usize,
    held: Arc<Mutex<HeldPermits<K>>>,
}

struct HeldPermits<K> {
    by: HashMap<K, usize>,
    all: usize,
}

/// A permit for one connection. Dropping it releases it.
pub struct ConnectionPermit<K: Eq + Hash> {
    key: K,
    held: Arc<Mutex<HeldPermits<K>>>,
}

impl<K: Eq + Hash + Clone> ConnectionLimit<K> {
    #[must_use]
    pub fn for_each(each: usize) -> Self {
        Self { each, all: usize::MAX, held: Arc::new(Mutex::new(HeldPermits { by: HashMap::new(), all: 0 })) }
    }

    /// Also limits the total over all keys.
    #[must_use]
    pub fn for_all(self, all: usize) -> Self {
        Self { all, ..self }
    }

    /// Acquires a permit. `None` if this key holds all of its own, or the total is reached.
    #[must_use]
    pub fn acquire(&self, key: K) -> Option<ConnectionPermit<K>> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let own = held.by.get(&key).copied().unwrap_or_default();
        if own >= self.each || held.all >= self.all {
            return None;
        }
        held.by.insert(key.clone(), own + 1);
        held.all += 1;
        Some(ConnectionPermit { key, held: Arc::clone(&self.held) })
    }

    /// Returns the number of permits that are held, over all keys.
    #[must_use]
    pub fn held(&self) -> usize {
        self.held.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl<K: Eq + Hash> Drop for ConnectionPermit<K> {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all -= 1;
        if let Some(count) = held.by.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                held.by.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ConnectionLimit;

    #[test]
    fn a_place_is_free_again_when_it_is_left() {
        let limit = ConnectionLimit::for_each(2);
        let first = limit.acquire("one").unwrap();
        let _second = limit.acquire("one").unwrap();
        assert!(limit.acquire("one").is_none());
        assert!(limit.acquire("other").is_some(), "another has its own");
        drop(first);
        assert!(limit.acquire("one").is_some());
        assert_eq!(limit.held(), 1);
    }

    #[test]
    fn of_all_together_there_are_so_many() {
        let limit = ConnectionLimit::for_each(2).for_all(3);
        let mut held: Vec<_> = (0..3).map(|number| limit.acquire(number).unwrap()).collect();
        assert!(limit.acquire(4).is_none());
        held.pop();
        assert!(limit.acquire(4).is_some());
    }
}
