//! Whose voices a recording has, kept while its transcript is made in turns: they are told apart in one pass over the whole
//! recording, which is not made again for each turn.
//!
//! Kept in memory alone: after a restart the pass is made once more, and where more transcripts are made in turns than are known
//! here, in each turn. So that there is progress then too, a pass that took another one's place is followed by its turn at once.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use actors::ids::{self, Id};
use speech::VoiceTurn;

/// How many transcripts are known at once; each takes half a megabyte at most for six hours.
const MAX_TRANSCRIPTS: usize = 64;

/// A version of a transcript: its recording, and its number. It is known also where there is no row of it any more.
pub type VersionKey = (Id<ids::Recording>, u32);

/// The voices of a version; `None` where they can't be told apart.
struct VersionVoices {
    version: VersionKey,
    voices: Option<Vec<VoiceTurn>>,
}

/// The voices by version, those that were told apart first in front.
#[derive(Default)]
pub struct KnownVoices(Mutex<VecDeque<VersionVoices>>);

impl KnownVoices {
    pub fn get(&self, version: VersionKey) -> Option<Option<Vec<VoiceTurn>>> {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.iter().find(|one| one.version == version).map(|one| one.voices.clone())
    }

    /// Keeps the voices of a version. Returns whether there was room for them: if not, the oldest ones were forgotten, and these
    /// may be forgotten too before the next turn of their version.
    #[must_use = "without room, a version that waits for its next turn may never get further"]
    pub fn insert(&self, version: VersionKey, voices: Option<Vec<VoiceTurn>>) -> bool {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.retain(|one| one.version != version);
        let has_room = known.len() < MAX_TRANSCRIPTS;
        if !has_room {
            known.pop_front();
        }
        known.push_back(VersionVoices { version, voices });
        has_room
    }

    pub fn forget(&self, version: VersionKey) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).retain(|one| one.version != version);
    }
}

#[cfg(test)]
mod tests {
    use actors::ids::Id;

    use super::{KnownVoices, MAX_TRANSCRIPTS, VersionKey};

    fn versions(count: usize) -> Vec<VersionKey> {
        (0..count).map(|_| (Id::generate(), 1)).collect()
    }

    #[test]
    fn the_oldest_ones_are_forgotten_for_a_new_one_which_is_told_so() {
        let (known, all) = (KnownVoices::default(), versions(MAX_TRANSCRIPTS + 2));
        let had_room: Vec<bool> = all.iter().map(|version| known.insert(*version, None)).collect();
        assert_eq!(had_room, [vec![true; MAX_TRANSCRIPTS], vec![false; 2]].concat());
        let is_known: Vec<bool> = all.iter().map(|version| known.get(*version).is_some()).collect();
        assert_eq!(is_known, [vec![false; 2], vec![true; MAX_TRANSCRIPTS]].concat());
        assert!(!known.insert(all[0], Some(Vec::new())));
        assert_eq!(known.get(all[0]), Some(Some(Vec::new())));
        // What is there already takes nobody's place, and what is forgotten gives its own back.
        known.forget(all[5]);
        assert!(known.insert(all[0], None) && known.insert(all[1], None));
        assert_eq!((known.get(all[0]), known.get(all[5])), (Some(None), None));
    }

    /// As the turns of `TranscriptMaking` go: the pass is a turn of its own only where there was room for its voices.
    #[test]
    fn of_more_versions_than_are_known_at_once_each_one_gets_to_its_end() {
        const TURNS: usize = 3;
        let known = KnownVoices::default();
        let mut left: Vec<(VersionKey, usize)> =
            versions(3 * MAX_TRANSCRIPTS).into_iter().map(|key| (key, TURNS)).collect();
        for _ in 0..2 * TURNS {
            for (version, turns) in &mut left {
                let is_told_apart = known.get(*version).is_some();
                if is_told_apart || !known.insert(*version, None) {
                    *turns -= 1;
                }
                if *turns == 0 {
                    known.forget(*version);
                }
            }
            left.retain(|(_, turns)| *turns > 0);
        }
        assert_eq!(left.len(), 0);
    }
}
