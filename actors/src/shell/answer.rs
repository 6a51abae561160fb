//! What who asks gets back, and how much may be asked.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::live::{Live, Unsaved};

/// A state as it was after a save: what readers see without a mailbox.
pub struct Snapshot<L> {
    pub state: L,
    rendered: OnceLock<Arc<[u8]>>,
}

impl<L> Snapshot<L> {
    #[must_use]
    pub const fn new(state: L) -> Self {
        Self { state, rendered: OnceLock::new() }
    }

    /// The state in bytes, rendered once however many ask. One form a snapshot: all callers pass the same `with`.
    pub fn rendered(&self, with: impl FnOnce(&L) -> Vec<u8>) -> Arc<[u8]> {
        Arc::clone(self.rendered.get_or_init(|| with(&self.state).into()))
    }
}

impl<L: fmt::Debug> fmt::Debug for Snapshot<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshot").field(&self.state).finish()
    }
}

/// Why a command had no effect that its sender may count on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Failure<R> {
    /// The thing refused. Nothing changed.
    Refused(R),
    /// There is no such thing.
    Missing,
    /// Turned away before anything was decided: later it may do.
    Busy,
    /// Decided, but not saved, or decided on what was not saved; after [`Unsaved::Unknown`] it may have been.
    Unsaved(Unsaved),
    /// A bug: deciding panicked or contradicted itself. Nothing changed.
    Broken,
}

/// What a command comes to: the state right after it, whatever was decided since.
pub type Answer<L> = Result<Arc<Snapshot<L>>, Failure<<L as Live>::Refusal>>;

/// How much, how many, how long. The defaults are the service's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Commands that wait for one thing. All 500 people of a meeting may come in one moment, and then some of them do
    /// something else: 1,024 commands are 16 saves, which at 20 ms each is what a caller still waits for.
    pub mailbox: usize,
    /// Commands that are saved together, and events of theirs after which no further command is taken along. A save of
    /// 64 events is some 150 statements: it stays far from the limit of a save, and costs each of them little of its own.
    pub group: usize,
    /// How long a save or a load may take: what is owed to callers while the database is away.
    pub save: Duration,
    /// How long a thing is kept awake after its last command, if it needn't be.
    pub idle: Duration,
    /// Things awake at once: at about 4 kB each this is memory, not time.
    pub awake: usize,
    /// Things that are loaded at once at start-up.
    pub waking: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            mailbox: 1024,
            group: 64,
            save: Duration::from_secs(2),
            idle: Duration::from_secs(300),
            awake: 100_000,
            waking: 64,
        }
    }
}
