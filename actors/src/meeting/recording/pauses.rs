//! Pauses: the times at which a recording lacked the consent of somebody.

use std::sync::Arc;

use super::{ChunkSpan, Lacking};
use crate::time::Time;

/// The most pauses that are told apart; beyond that the time between two of them counts as paused too.
const MAX_PAUSES: usize = 500;

/// A time at which a recording was paused; `to` is `None` while it is, and if it was when the recording was stopped: what
/// a client still records then is refused like all of the pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pause {
    pub from: Time,
    pub to: Option<Time>,
}

/// The pauses of a recording.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pauses {
    /// In their order; only the last one may be open.
    pub all: Arc<Vec<Pause>>,
    /// Whose consent is missing now. Not empty exactly while the recording is paused.
    pub lacking: Lacking,
}

impl Pauses {
    #[must_use]
    pub fn is_paused(&self) -> bool {
        !self.lacking.is_empty()
    }

    pub(super) fn update(&mut self, lacking: Lacking, now: Time) {
        match (self.is_paused(), lacking.is_empty()) {
            (false, false) => self.begin(now),
            (true, true) => self.end(now),
            (true, false) | (false, true) => {}
        }
        self.lacking = lacking;
    }

    fn begin(&mut self, now: Time) {
        let all = Arc::make_mut(&mut self.all);
        let is_full = all.len() >= MAX_PAUSES;
        match all.last_mut() {
            Some(last) if is_full => last.to = None,
            last => {
                // If the clock was set back, pauses must still follow each other.
                let from = last.and_then(|last| last.to).map_or(now, |to| to.max(now));
                all.push(Pause { from, to: None });
            }
        }
    }

    fn end(&mut self, now: Time) {
        if let Some(last) = Arc::make_mut(&mut self.all).last_mut() {
            last.to = Some(now.max(last.from));
        }
    }

    pub(super) fn overlap(&self, span: ChunkSpan, started_at: Time) -> bool {
        let millis = |at: Time| u64::try_from(at.since(started_at).as_millis()).unwrap_or(u64::MAX);
        self.all.iter().any(|pause| {
            let is_before = span.to_ms <= millis(pause.from);
            let is_after = pause.to.is_some_and(|to| span.from_ms >= millis(to));
            !is_before && !is_after
        })
    }
}
