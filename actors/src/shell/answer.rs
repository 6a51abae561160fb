//! Results of commands, snapshots for readers, and the limits of a shell.

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use crate::live::{Live, Unsaved};

/// The state after a save, which readers use without a mailbox.
pub struct Snapshot<L> {
    pub state: L,
    rendered: OnceLock<Arc<[u8]>>,
}

impl<L> Snapshot<L> {
    #[must_use]
    pub const fn new(state: L) -> Self {
        Self { state, rendered: OnceLock::new() }
    }

    /// Returns the serialized state, rendered once per snapshot however many callers request it. A snapshot stores one
    /// form only: all callers must pass the same `with`.
    pub fn rendered(&self, with: impl FnOnce(&L) -> Vec<u8>) -> Arc<[u8]> {
        Arc::clone(self.rendered.get_or_init(|| with(&self.state).into()))
    }
}

impl<L: fmt::Debug> fmt::Debug for Snapshot<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Snapshot").field(&self.state).finish()
    }
}

/// Why a command had no effect, or none that its sender can rely on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandError<R> {
    /// The entity refused the command. Nothing changed.
    Refused(R),
    /// The entity does not exist.
    Missing,
    /// Rejected before anything was decided: a later retry may succeed.
    Busy,
    /// Decided, but the save failed, or an earlier change of the same batch on which it was decided was not saved.
    /// After [`Unsaved::Unknown`] it may have been written.
    Unsaved(Unsaved),
    /// A bug: `decide` panicked or returned an inconsistent change. Nothing changed.
    Broken,
}

/// The result of a command: the state right after it, even if further commands were decided since.
pub type CommandResult<L> = Result<Arc<Snapshot<L>>, CommandError<<L as Live>::Refusal>>;

/// Size and time limits of a shell. The defaults are those of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShellLimits {
    /// Commands that may wait for one entity. All 500 participants of a meeting may join at the same time, and some of
    /// them then send another command: 1,024 commands are 16 saves, which at 20 ms each is an acceptable wait for a
    /// caller.
    pub mailbox: usize,
    /// Commands that are saved together, and the number of their events after which no further command is added. A save
    /// of 64 events takes some 150 statements: this is far below the time limit of a save, and keeps the cost of each
    /// command low.
    pub group: usize,
    /// Time limit of one save or load; it bounds how long callers wait while the database is unavailable.
    pub save: Duration,
    /// How long an entity stays awake after its last command, unless it must be awake.
    pub idle: Duration,
    /// Entities awake at the same time: at about 4 kB each this costs memory, not time.
    pub awake: usize,
    /// How much is kept of entities that are asleep and were read lately, by their [`Live::weight`].
    pub asleep: usize,
    /// Entities that are loaded at the same time at start-up.
    pub waking: usize,
}

impl Default for ShellLimits {
    fn default() -> Self {
        Self {
            mailbox: 1024,
            group: 64,
            save: Duration::from_secs(2),
            idle: Duration::from_secs(300),
            awake: 100_000,
            asleep: 32_768,
            waking: 64,
        }
    }
}
