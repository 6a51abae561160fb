//! The trait of a live entity, and the ports through which the shell stores its state and runs tasks.
//!
//! A live entity outlasts requests and has one writer: a meeting, an analysis run. It is a pure state that decides
//! commands; all side effects are done by the shell, through the ports below.

use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::event_kind::EventKind;
use crate::time::Time;

/// A pure state that decides what commands do.
pub trait Live: Clone + fmt::Debug + Send + Sync + Unpin + 'static {
    /// One word for logs, metrics and topics, such as `meeting`.
    const KIND: &'static str;
    type Key: Copy + Eq + Hash + fmt::Display + fmt::Debug + Send + Sync + Unpin + 'static;
    type Command: fmt::Debug + Send + 'static;
    type Event: Clone + fmt::Debug + Send + Sync + Unpin + 'static;
    type Refusal: Clone + fmt::Debug + Send + Unpin + 'static;

    fn key(&self) -> Self::Key;

    /// The number of events of this entity: the revision that a save expects in the store, and the last offset of the
    /// entity's own topic.
    fn revision(&self) -> u64;

    /// Whether the entity must be awake even without requests: a live meeting, an unfinished run.
    fn stays_awake(&self) -> bool;

    /// About how many kilobytes it takes in memory.
    fn weight(&self) -> usize {
        1
    }

    /// The topics to which its events are published. They are re-read from the event table when a save conflicted or
    /// its outcome is unknown.
    fn topics(&self) -> Vec<Topic>;

    /// Decides what a command does. Pure: uses no clock, no database and no network, and does not panic.
    ///
    /// # Errors
    /// Returns the reason why the command is refused; then nothing changes.
    fn decide(&self, command: Self::Command, now: Time) -> Result<Change<Self>, Self::Refusal>;
}

/// What a command does: the state after it and the events to publish. Without events nothing changed and nothing is
/// saved. `next.revision()` is the former revision plus the number of events.
#[derive(Debug, Clone)]
pub struct Change<L: Live> {
    pub next: L,
    pub events: Vec<L::Event>,
}

/// A change made by a command, with the request that caused it and the time at which it was decided.
#[derive(Debug, Clone)]
pub struct Decided<L: Live> {
    pub change: Change<L>,
    pub request: RequestId,
    pub at: Time,
}

/// Changes that are saved together. Each was decided on the state after the one before it, the first one on `before`.
#[derive(Debug, Clone)]
pub struct Batch<L: Live> {
    pub before: L,
    pub changes: Vec<Decided<L>>,
}

impl<L: Live> Batch<L> {
    /// Returns the state after all changes.
    #[must_use]
    pub fn after(&self) -> &L {
        self.changes.last().map_or(&self.before, |last| &last.change.next)
    }

    /// Returns each change with the state on which it was decided.
    pub fn steps(&self) -> impl Iterator<Item = (&L, &Decided<L>)> {
        let befores = std::iter::once(&self.before).chain(self.changes.iter().map(|decided| &decided.change.next));
        befores.zip(&self.changes)
    }
}

/// The id of the request that caused a command: repeated in its events, its log lines and the jobs that it enqueues.
pub type RequestId = Arc<str>;

/// Stores live entities. Implemented on top of the database.
#[async_trait]
pub trait Journal<L: Live>: Send + Sync + 'static {
    /// Loads one entity. Returns `None` if it does not exist.
    ///
    /// # Errors
    /// The store can't be reached, or holds invalid data.
    async fn load(&self, key: L::Key) -> Result<Option<L>, StoreUnavailable>;

    /// Loads several entities; those that do not exist are left out. The default implementation loads them one after
    /// the other.
    ///
    /// # Errors
    /// As [`Journal::load`], for all of them.
    async fn load_all(&self, keys: Vec<L::Key>) -> Result<Vec<L>, StoreUnavailable> {
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            found.extend(self.load(key).await?);
        }
        Ok(found)
    }

    /// Writes the last state and the events of all changes in one transaction, provided that the stored revision is
    /// still that of `before`: either everything is written, or nothing. Returns the events in their order.
    ///
    /// # Errors
    /// Nothing was written, or the outcome is unknown: see [`Unsaved`].
    async fn save(&self, group: Arc<Batch<L>>) -> Result<Vec<EventRecord>, Unsaved>;

    /// Returns when every save under this key that was begun by this process has been committed or rolled back: those
    /// that returned [`Unsaved::Unknown`], and those whose future was dropped. A state loaded after that is no older
    /// than they are.
    ///
    /// # Errors
    /// The outcome can't be determined yet.
    async fn wait_for_outcomes(&self, key: L::Key) -> Result<(), StoreUnavailable>;

    /// Returns the keys of all entities that must be awake ([`Live::stays_awake`]).
    ///
    /// # Errors
    /// The store can't be reached.
    async fn awake(&self) -> Result<Vec<L::Key>, StoreUnavailable>;
}

/// Runs background tasks, which are awaited at shutdown. A port, because the application keeps track of its tasks.
pub trait Spawner: Send + Sync + 'static {
    fn spawn(&self, work: Pin<Box<dyn Future<Output = ()> + Send>>);
}

/// The store did not answer, or returned invalid data. The text is for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreUnavailable(pub String);

/// Why a save failed. In every case the actor stops, and the next command is decided on what the store holds, once the
/// outcome of the save is settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsaved {
    /// Another writer was first. Nothing was written.
    Conflict,
    /// Nothing was written.
    Failed(String),
    /// It may have been written or not.
    Unknown(String),
}

/// A topic that clients subscribe to: `meeting:<id>`, `run:<id>`, `project:<id>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Topic {
    pub kind: TopicKind,
    pub id: Uuid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum TopicKind {
    Meeting,
    Run,
    Project,
}

impl TopicKind {
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Meeting => "meeting",
            Self::Run => "run",
            Self::Project => "project",
        }
    }
}

impl fmt::Display for Topic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind.as_str(), self.id)
    }
}

impl std::str::FromStr for Topic {
    type Err = InvalidTopic;
    fn from_str(text: &str) -> Result<Self, InvalidTopic> {
        let (kind, id) = text.split_once(':').ok_or(InvalidTopic)?;
        let kind = match kind {
            "meeting" => TopicKind::Meeting,
            "run" => TopicKind::Run,
            "project" => TopicKind::Project,
            _ => return Err(InvalidTopic),
        };
        let id: crate::ids::Id<()> = id.parse().map_err(|_| InvalidTopic)?;
        Ok(Self { kind, id: id.uuid() })
    }
}

/// The text is not a topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidTopic;

/// An event as it was saved: what sockets and event streams send, serialized once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRecord {
    pub topic: Topic,
    /// Increases by one with each event of the topic, starting at 1.
    pub offset: u64,
    pub kind: EventKind,
    /// The whole changed resource, as JSON.
    pub data: Arc<str>,
    pub at: Time,
    pub request: RequestId,
}
