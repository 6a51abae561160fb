//! What an operator sees of the mailboxes: one set of counters for each kind of live thing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// All kinds. Cheap to clone; every clone sees the same counters.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    kinds: Arc<Mutex<Vec<Arc<KindWatch>>>>,
}

impl Watch {
    /// The counters of one kind, made at the first call.
    #[must_use]
    pub fn kind(&self, kind: &'static str) -> Arc<KindWatch> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = kinds.iter().find(|known| known.kind == kind) {
            return Arc::clone(known);
        }
        let fresh = Arc::new(KindWatch { kind, ..KindWatch::default() });
        kinds.push(Arc::clone(&fresh));
        fresh
    }

    /// The figures of now, one line a kind.
    #[must_use]
    pub fn read(&self) -> Vec<Reading> {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.iter().map(|kind| kind.read()).collect()
    }
}

/// The counters of one kind. `awake` and `queued` are gauges, all else only rises.
#[derive(Debug, Default)]
pub struct KindWatch {
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

impl KindWatch {
    /// The figures of now.
    #[must_use]
    pub fn read(&self) -> Reading {
        Reading {
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

/// One kind's figures at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reading {
    pub kind: &'static str,
    /// Things with a mailbox, or getting one.
    pub awake: u64,
    /// Commands that wait in mailboxes.
    pub queued: u64,
    /// Commands that were decided.
    pub commands: u64,
    pub refused: u64,
    /// Panics in `decide`, and changes that contradict themselves: bugs.
    pub panicked: u64,
    /// Saves that failed, conflicted, or ended nobody knows how.
    pub unsaved: u64,
    /// Things woken after an actor of theirs had to stop, or read anew after a panic.
    pub reloaded: u64,
    /// Commands turned away because a mailbox or the house was full.
    pub busy: u64,
    /// Commands sent a second time because the first actor stopped before it took them.
    pub resent: u64,
}

/// A number that many threads count on.
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

impl Reading {
    /// The figures by name, for metrics.
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
