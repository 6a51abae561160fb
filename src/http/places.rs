//! How many of something one may have open, and how many all together: sockets and streams of an account, connections of a
//! client.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

/// The places of all.
pub struct Places<K: Eq + Hash> {
    each: usize,
    all: usize,
    taken: Arc<Mutex<Taken<K>>>,
}

struct Taken<K> {
    by: HashMap<K, usize>,
    all: usize,
}

/// One place, free again when it is dropped.
pub struct Place<K: Eq + Hash> {
    whose: K,
    taken: Arc<Mutex<Taken<K>>>,
}

impl<K: Eq + Hash + Clone> Places<K> {
    #[must_use]
    pub fn for_each(each: usize) -> Self {
        Self { each, all: usize::MAX, taken: Arc::new(Mutex::new(Taken { by: HashMap::new(), all: 0 })) }
    }

    /// So many for all together.
    #[must_use]
    pub fn for_all(self, all: usize) -> Self {
        Self { all, ..self }
    }

    /// `None`: whoever asks has them all, or there are no more.
    #[must_use]
    pub fn take(&self, whose: K) -> Option<Place<K>> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let own = taken.by.get(&whose).copied().unwrap_or_default();
        if own >= self.each || taken.all >= self.all {
            return None;
        }
        taken.by.insert(whose.clone(), own + 1);
        taken.all += 1;
        Some(Place { whose, taken: Arc::clone(&self.taken) })
    }

    /// How many are open, of all.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).all
    }
}

impl<K: Eq + Hash> Drop for Place<K> {
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
    use super::Places;

    #[test]
    fn a_place_is_free_again_when_it_is_left() {
        let places = Places::for_each(2);
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
        let places = Places::for_each(2).for_all(3);
        let mut held: Vec<_> = (0..3).map(|number| places.take(number).unwrap()).collect();
        assert!(places.take(4).is_none());
        held.pop();
        assert!(places.take(4).is_some());
    }
}
