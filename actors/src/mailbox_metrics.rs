//! Metrics of the mailboxes: one set of counters for each kind of live entity.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The counters of all kinds. Cheap to clone; all clones share the same counters.
#[derive(Debug, Clone, Default)]
pub struct MailboxMetrics {
    kinds: Arc<Mutex<Vec<Arc<KindMetrics>>>>,
}

impl MailboxMetrics {
    /// Returns the counters of one kind, creating them at the first call.
    #[must_use]
    pub fn kind(&self, kind: &'static str) -> Arc<KindMetrics> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kinds.iter().find(|known| known.kind == kind) {
            return Arc::clone(known);
        }
        let fresh = Arc::new(KindMetrics { kind, ..KindMetrics::default() });
        kinds.push(Arc::clone(&fresh));
        fresh
    }

    /// Returns the current figures, one entry per kind.
    #[must_use]
    pub fn read(&self) -> Vec<KindFigures> {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.iter().map(|kind| kind.read()).collect()
    }
}

/// The counters of one kind. `awake` and `queued` are gauges; the others only increase.
#[derive(Debug, Default)]
pub struct KindMetrics {
    kind: &'static str,
    pub awake: Counter,
    pub queued: Counter,
    pub commands: Counter,
    pub refused: Counter,
    pub panicked: Counter,
    pub unsaved: Counter,
    pub reloaded: Counter,
    pub busy: Counter,
    pub resent: Counter,
}

impl KindMetrics {
    /// Returns the current figures.
    #[must_use]
    pub fn read(&self) -> KindFigures {
        KindFigures {
            kind: self.kind,
            awake: self.awake.get(),
            queued: self.queued.get(),
            commands: self.commands.get(),
            refused: self.refused.get(),
            panicked: self.panicked.get(),
            unsaved: self.unsaved.get(),
            reloaded: self.reloaded.get(),
            busy: self.busy.get(),
            resent: self.resent.get(),
        }
    }
}

/// The figures of one kind at one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KindFigures {
    pub kind: &'static str,
    /// Entities that have an actor or are being loaded.
    pub awake: u64,
    /// Commands that wait in mailboxes.
    pub queued: u64,
    /// Commands that were decided.
    pub commands: u64,
    pub refused: u64,
    /// Panics in `decide`, and changes that are inconsistent: bugs.
    pub panicked: u64,
    /// Saves that failed, conflicted, or ended with an unknown outcome.
    pub unsaved: u64,
    /// Actors that stopped because their state may have been stale, and states that were reloaded in place.
    pub reloaded: u64,
    /// Commands rejected as busy: a full mailbox or registry, another owner, shutdown, or a failed second attempt.
    pub busy: u64,
    /// Commands sent a second time because the first actor stopped before it accepted them.
    pub resent: u64,
}

/// An atomic counter.
#[derive(Debug, Default)]
pub struct Counter(AtomicU64);

impl Counter {
    pub(crate) fn up(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
    pub(crate) fn down(&self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
    #[must_use]
    pub fn get(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl KindFigures {
    /// Returns the figures by name, for the metrics.
    #[must_use]
    pub const fn figures(&self) -> [(&'static str, u64); 9] {
        [
            ("awake", self.awake),
            ("queued", self.queued),
            ("commands", self.commands),
            ("refused", self.refused),
            ("panicked", self.panicked),
            ("unsaved", self.unsaved),
            ("reloaded", self.reloaded),
            ("busy", self.busy),
            ("resent", self.resent),
        ]
    }
}
