//! Limits how many connections may be open, per key and in total: sockets and event streams of an account, TCP
//! connections and requests of a client.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// The limit, and the permits that are held now.
pub struct ConnectionLimit<K: Eq + Hash> {
    each: usize,
    all: usize,
    taken: Arc<Mutex<TakenPermits<K>>>,
}

struct TakenPermits<K> {
    by: HashMap<K, usize>,
    all: usize,
}

/// A permit for one connection. Dropping it releases it.
pub struct ConnectionPermit<K: Eq + Hash> {
    whose: K,
    taken: Arc<Mutex<TakenPermits<K>>>,
}

impl<K: Eq + Hash + Clone> ConnectionLimit<K> {
    #[must_use]
    pub fn for_each(each: usize) -> Self {
        Self { each, all: usize::MAX, taken: Arc::new(Mutex::new(TakenPermits { by: HashMap::new(), all: 0 })) }
    }

    /// Also limits the total over all keys.
    #[must_use]
    pub fn for_all(self, all: usize) -> Self {
        Self { all, ..self }
    }

    /// Acquires a permit. `None` if this key holds all of its own, or the total is reached.
    #[must_use]
    pub fn take(&self, whose: K) -> Option<ConnectionPermit<K>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.by.get(&whose).copied().unwrap_or_default();
        if own >= self.each || taken.all >= self.all {
            return None;
        }
        taken.by.insert(whose.clone(), own + 1);
        taken.all += 1;
        Some(ConnectionPermit { whose, taken: Arc::clone(&self.taken) })
    }

    /// Returns the number of permits that are held, over all keys.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl<K: Eq + Hash> Drop for ConnectionPermit<K> {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        taken.all -= 1;
        if let Some(count) = taken.by.get_mut(&self.whose) {
            *count -= 1;
            if *count == 0 {
                taken.by.remove(&self.whose);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ConnectionLimit;

    #[test]
    fn a_place_is_free_again_when_it_is_left() {
        let places = ConnectionLimit::for_each(2);
        let first = places.take("one").unwrap();
        let _second = places.take("one").unwrap();
        assert!(places.take("one").is_none());
        assert!(places.take("other").is_some(), "another has its own");
        drop(first);
        assert!(places.take("one").is_some());
        assert_eq!(places.taken(), 1);
    }

    #[test]
    fn of_all_together_there_are_so_many() {
        let places = ConnectionLimit::for_each(2).for_all(3);
        let mut held: Vec<_> = (0..3).map(|number| places.take(number).unwrap()).collect();
        assert!(places.take(4).is_none());
        held.pop();
        assert!(places.take(4).is_some());
    }
}
