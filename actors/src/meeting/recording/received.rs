//! The chunks of a recording that are stored.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::super::consent::Digest;
use crate::ids::{self, Id};
use crate::time::Time;

/// A chunk whose bytes are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chunk {
    pub index: u32,
    /// Names the file that has the bytes. Never used twice, so that who stored a chunk in vain can delete it.
    pub file: Id<ids::ChunkFile>,
    pub bytes: u64,
    pub sha256: Digest,
    /// When it was recorded; `None` if the client did not say so.
    pub span: Option<ChunkSpan>,
}

/// When a chunk was recorded, in milliseconds since the start of the recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkSpan {
    pub from_ms: u64,
    pub to_ms: u64,
}

/// Which chunks are stored. Only their indexes are in memory: those behind the first gap one by one, which are few
/// unless a client leaves gaps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReceivedChunks {
    /// All chunks before this one are stored.
    pub next: u32,
    /// The stored chunks behind it.
    pub beyond: Arc<BTreeSet<u32>>,
    pub bytes: u64,
    /// When the latest chunk was stored.
    pub latest_at: Option<Time>,
}

impl ReceivedChunks {
    #[must_use]
    pub fn has(&self, index: u32) -> bool {
        index < self.next || self.beyond.contains(&index)
    }

    /// Returns the number of stored chunks.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.next.saturating_add(u32::try_from(self.beyond.len()).unwrap_or(u32::MAX))
    }

    /// Returns the highest stored index.
    #[must_use]
    pub fn highest(&self) -> Option<u32> {
        self.beyond.last().copied().or_else(|| self.next.checked_sub(1))
    }

    /// Whether every chunk up to `last` is stored.
    #[must_use]
    pub const fn is_complete(&self, last: u32) -> bool {
        self.next > last
    }

    /// Returns the chunks that are missing before the highest stored one, and up to `last`.
    pub(super) fn missing(&self, last: Option<u32>) -> impl Iterator<Item = u32> {
        let end = self.highest().max(last).map_or(0, |highest| highest.saturating_add(1));
        (self.next..end).filter(|index| !self.beyond.contains(index))
    }

    /// Adds a chunk that is not there yet.
    pub(super) fn add(&mut self, chunk: &Chunk, now: Time) {
        if chunk.index == self.next {
            self.next += 1;
            if self.beyond.contains(&self.next) {
                let beyond = Arc::make_mut(&mut self.beyond);
                while beyond.remove(&self.next) {
                    self.next += 1;
                }
            }
        } else {
            Arc::make_mut(&mut self.beyond).insert(chunk.index);
        }
        self.bytes = self.bytes.saturating_add(chunk.bytes);
        self.latest_at = self.latest_at.max(Some(now));
    }
}
