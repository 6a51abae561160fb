//! The states of entities that are asleep, as they were read last: a reader that asks again is answered from memory, and
//! an actor that wakes starts from there.
//!
//! Only this process writes entities, so a state is valid until the actor of its key wakes, or until somebody says that
//! another transaction has written it. What is being read at that moment is not kept.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The states of sleeping entities of one kind: of `S`, by their keys.
pub(super) struct Asleep<K, S> {
    /// How much is kept, by the weight of the states: half of it in each generation.
    most: usize,
    generations: Mutex<Generations<K, S>>,
}

/// A state that nobody asked for during a whole generation is dropped.
struct Generations<K, S> {
    young: HashMap<K, AsleepEntry<S>>,
    old: HashMap<K, AsleepEntry<S>>,
    /// The weight of the young ones.
    weight: usize,
    last_reading: u64,
}

enum AsleepEntry<S> {
    /// It is being read, for the first reader who asked.
    Reading(u64),
    Known(Arc<S>, usize),
}

/// The outcome of a look-up.
pub(super) enum Looked<S> {
    Known(Arc<S>),
    /// The caller is to read it, and to give what it reads with this number.
    Read(u64),
    /// The caller is to read it; somebody else does, too.
    ReadBeside,
}

impl<K: Copy + Eq + Hash, S> Asleep<K, S> {
    pub fn new(most: usize) -> Self {
        let generations = Generations { young: HashMap::new(), old: HashMap::new(), weight: 0, last_reading: 0 };
        Self { most, generations: Mutex::new(generations) }
    }

    fn generations(&self) -> MutexGuard<'_, Generations<K, S>> {
        self.generations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the state of a key, or asks the caller to read it.
    pub fn look_up(&self, key: K) -> Looked<S> {
        let mut generations = self.generations();
        match generations.young.get(&key) {
            Some(AsleepEntry::Known(state, _)) => return Looked::Known(Arc::clone(state)),
            Some(AsleepEntry::Reading(_)) => return Looked::ReadBeside,
            None => {}
        }
        if let Some(AsleepEntry::Known(state, weight)) = generations.old.remove(&key) {
            generations.insert(key, Arc::clone(&state), weight, self.most);
            return Looked::Known(state);
        }
        generations.last_reading += 1;
        let number = generations.last_reading;
        generations.young.insert(key, AsleepEntry::Reading(number));
        Looked::Read(number)
    }

    /// Ends the reading with that number, and keeps what was read unless it was forgotten meanwhile.
    pub fn give(&self, key: K, reading: u64, read: Option<(Arc<S>, usize)>) {
        let mut generations = self.generations();
        let is_ours =
            |entry: Option<&AsleepEntry<S>>| matches!(entry, Some(AsleepEntry::Reading(number)) if *number == reading);
        if is_ours(generations.old.get(&key)) {
            generations.old.remove(&key);
        } else if is_ours(generations.young.get(&key)) {
            generations.young.remove(&key);
        } else {
            return;
        }
        if let Some((state, weight)) = read {
            generations.insert(key, state, weight, self.most);
        }
    }

    pub fn forget_all(&self) {
        let mut generations = self.generations();
        generations.young.clear();
        generations.old.clear();
        generations.weight = 0;
    }

    /// Forgets a key, and returns its state if it was known.
    pub fn forget(&self, key: K) -> Option<Arc<S>> {
        let mut generations = self.generations();
        let young = generations.young.remove(&key);
        if let Some(AsleepEntry::Known(_, weight)) = &young {
            generations.weight -= weight;
        }
        match young.or_else(|| generations.old.remove(&key)) {
            Some(AsleepEntry::Known(state, _)) => Some(state),
            Some(AsleepEntry::Reading(_)) | None => None,
        }
    }
}

impl<K: Copy + Eq + Hash, S> Generations<K, S> {
    fn insert(&mut self, key: K, state: Arc<S>, weight: usize, most: usize) {
        if self.weight + weight > most / 2 {
            self.old = std::mem::take(&mut self.young);
            self.weight = 0;
        }
        if weight <= most / 2 {
            self.weight += weight;
            self.young.insert(key, AsleepEntry::Known(state, weight));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Asleep, Looked};

    fn reading(looked: Looked<&'static str>) -> u64 {
        match looked {
            Looked::Read(number) => number,
            Looked::Known(state) => panic!("{state} is known"),
            Looked::ReadBeside => panic!("it is being read"),
        }
    }

    fn known(asleep: &Asleep<u32, &'static str>, key: u32) -> Option<&'static str> {
        match asleep.look_up(key) {
            Looked::Known(state) => Some(*state),
            Looked::Read(number) => {
                asleep.give(key, number, None);
                None
            }
            Looked::ReadBeside => None,
        }
    }

    fn read(asleep: &Asleep<u32, &'static str>, key: u32, state: &'static str, weight: usize) {
        let number = reading(asleep.look_up(key));
        asleep.give(key, number, Some((Arc::new(state), weight)));
    }

    #[test]
    fn what_was_read_is_known_until_it_is_forgotten() {
        let asleep = Asleep::new(100);
        read(&asleep, 1, "one", 1);
        assert_eq!((known(&asleep, 1), known(&asleep, 2)), (Some("one"), None));
        assert_eq!(asleep.forget(1).as_deref(), Some(&"one"));
        assert_eq!((known(&asleep, 1), asleep.forget(1)), (None, None));
    }

    #[test]
    fn what_was_forgotten_while_it_was_read_is_not_kept() {
        let asleep = Asleep::new(100);
        let before = reading(asleep.look_up(1));
        assert!(matches!(asleep.look_up(1), Looked::ReadBeside));
        assert_eq!(asleep.forget(1), None);
        let after = reading(asleep.look_up(1));
        asleep.give(1, before, Some((Arc::new("stale"), 1)));
        assert!(matches!(asleep.look_up(1), Looked::ReadBeside), "the later reading goes on");
        asleep.give(1, after, Some((Arc::new("fresh"), 1)));
        assert_eq!(known(&asleep, 1), Some("fresh"));
    }

    #[test]
    fn so_much_is_kept_and_what_is_asked_for_stays() {
        let asleep = Asleep::new(20);
        read(&asleep, 0, "asked for", 2);
        for key in 1..50 {
            read(&asleep, key, "once", 2);
            assert_eq!(known(&asleep, 0), Some("asked for"), "{key}");
        }
        let kept = (0..50).filter(|key| known(&asleep, *key).is_some()).count();
        assert!(kept <= 10, "{kept}");
        read(&asleep, 99, "too large", 11);
        assert_eq!(known(&asleep, 99), None);
    }
}
