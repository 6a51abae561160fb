//! Whose voices a recording has, kept while its transcript is made in turns: they are told apart in one pass over the whole
//! recording, which is not made again for each turn.
//!
//! Kept in memory alone: after a restart the pass is made once more.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use actors::ids::{self, Id};
use pipeline::speech::VoiceTurn;

/// How many transcripts are known at once; each takes half a megabyte at most for six hours.
const MOST: usize = 64;

/// The voices by transcript; `None` where they can't be told apart.
#[derive(Default)]
pub struct KnownVoices(Mutex<HashMap<Id<ids::Transcript>, Option<Vec<VoiceTurn>>>>);

impl KnownVoices {
    pub fn get(&self, id: Id<ids::Transcript>) -> Option<Option<Vec<VoiceTurn>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&id).cloned()
    }

    pub fn insert(&self, id: Id<ids::Transcript>, voices: Option<Vec<VoiceTurn>>) {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= MOST
            && let Some(other) = known.keys().next().copied()
        {
            known.remove(&other);
        }
        known.insert(id, voices);
    }

    pub fn forget(&self, id: Id<ids::Transcript>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
    }
}
