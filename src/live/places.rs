//! How many sockets, or streams, an account or a guest may have open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use uuid::Uuid;

/// The places of all accounts.
pub struct Places {
    each: usize,
    taken: Arc<Mutex<HashMap<Uuid, usize>>>,
}

/// One place, free again when it is dropped.
pub struct Place {
    whose: Uuid,
    taken: Arc<Mutex<HashMap<Uuid, usize>>>,
}

impl Places {
    #[must_use]
    pub fn for_each(each: usize) -> Self {
        Self { each, taken: Arc::default() }
    }

    /// `None`: the account has them all.
    #[must_use]
    pub fn take(&self, whose: Uuid) -> Option<Place> {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let count = taken.entry(whose).or_default();
        if *count >= self.each {
            return None;
        }
        *count += 1;
        Some(Place { whose, taken: Arc::clone(&self.taken) })
    }

    /// How many are open, of all accounts.
    #[must_use]
    pub fn taken(&self) -> usize {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = taken.get_mut(&self.whose) {
            *count -= 1;
            if *count == 0 {
                taken.remove(&self.whose);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::Places;

    #[test]
    fn a_place_is_free_again_when_it_is_left() {
        let places = Places::for_each(2);
        let (one, other) = (Uuid::from_u128(1), Uuid::from_u128(2));
        let first = places.take(one).unwrap();
        let _second = places.take(one).unwrap();
        assert!(places.take(one).is_none());
        assert!(places.take(other).is_some(), "another account has its own");
        drop(first);
        assert!(places.take(one).is_some());
        assert_eq!(places.taken(), 1);
    }
}
