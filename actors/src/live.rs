//! What a live thing is, and what it asks of the world around it.
//!
//! A live thing outlasts requests and has one writer: a meeting, an analysis run. It is a pure state
//! that decides commands; everything it needs done is done by the shell, through the ports below.

use std::fmt;
use std::hash::Hash;
use std::pin::Pin;
use std::sync::Arc;

use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

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

    /// How many events this thing has seen: the guard of a save, and the last offset of its topic.
    fn revision(&self) -> u64;

    /// Whether it must be awake with nobody asking: a live meeting, an unfinished run.
    fn stays_awake(&self) -> bool;

    /// Where its events are told. Looked into again in the table when a save ended nobody knows how.
    fn topics(&self) -> Vec<Topic>;

    /// Decides what a command does. Touches nothing: no clock, no database, no network, no panic.
    ///
    /// # Errors
    /// The reason why the command is refused; then nothing changes.
    fn decide(&self, command: Self::Command, now: Time) -> Result<Change<Self>, Self::Refusal>;
}

/// What a command does: the state after it and what to tell. No events: nothing changed, nothing is saved.
/// `next.revision()` is the former revision plus the number of events.
#[derive(Debug, Clone)]
pub struct Change<L: Live> {
    pub next: L,
    pub events: Vec<L::Event>,
}

/// A change that a command makes, with why and when it came.
#[derive(Debug, Clone)]
pub struct Decided<L: Live> {
    pub change: Change<L>,
    pub request: RequestId,
    pub at: Time,
}

/// Changes that are saved together. Each was decided on the state after the one before it, the first one on `before`.
#[derive(Debug, Clone)]
pub struct Group<L: Live> {
    pub before: L,
    pub changes: Vec<Decided<L>>,
}

impl<L: Live> Group<L> {
    /// The state after all of them.
    #[must_use]
    pub fn after(&self) -> &L {
        self.changes.last().map_or(&self.before, |last| &last.change.next)
    }

    /// Each change, with the state that it was decided on.
    pub fn steps(&self) -> impl Iterator<Item = (&L, &Decided<L>)> {
        let befores = std::iter::once(&self.before).chain(self.changes.iter().map(|decided| &decided.change.next));
        befores.zip(&self.changes)
    }
}

/// Why a command came: echoed in the event, its log lines and the jobs it makes.
pub type RequestId = Arc<str>;

/// Keeps live things. Implemented over the database.
#[async_trait]
pub trait Journal<L: Live>: Send + Sync + 'static {
    /// `None`: there is no such thing.
    ///
    /// # Errors
    /// The store can't be reached, or holds something that can't be.
    async fn load(&self, key: L::Key) -> Result<Option<L>, Unavailable>;

    /// Several at once; those that are not there are left out. One after the other, unless the store knows better.
    ///
    /// # Errors
    /// As [`Journal::load`], for all of them.
    async fn load_all(&self, keys: Vec<L::Key>) -> Result<Vec<L>, Unavailable> {
        let mut found = Vec::with_capacity(keys.len());
        for key in keys {
            found.extend(self.load(key).await?);
        }
        Ok(found)
    }

    /// Writes the last state and the events of all changes in one transaction, where the stored revision is still
    /// `before`'s: all of it, or nothing. Gives the events in their order.
    ///
    /// # Errors
    /// Nothing was written, or it isn't known: see [`Unsaved`].
    async fn save(&self, group: Arc<Group<L>>) -> Result<Vec<Told>, Unsaved>;

    /// Returns when every save under this key that was begun here has come to its end, one way or the other: those that were
    /// answered [`Unsaved::Unknown`], and those whose future was dropped. What is loaded after that is no older than they are.
    ///
    /// # Errors
    /// Nobody can tell yet.
    async fn settle(&self, key: L::Key) -> Result<(), Unavailable>;

    /// The keys of all that [`Live::stays_awake`].
    ///
    /// # Errors
    /// The store can't be reached.
    async fn awake(&self) -> Result<Vec<L::Key>, Unavailable>;
}

/// Work that goes on by itself and is waited for at the end. A port, since the house keeps account of its tasks.
pub trait Tasks: Send + Sync + 'static {
    fn spawn(&self, work: Pin<Box<dyn Future<Output = ()> + Send>>);
}

/// The store didn't answer, or answered nonsense. The text is for the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable(pub String);

/// Why a save failed. In every case the actor stops, and the next command meets what the store holds, when that is settled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unsaved {
    /// Another writer was first. Nothing was written.
    Conflict,
    /// Nothing was written.
    Failed(String),
    /// It may have been written or not.
    Unknown(String),
}

/// What people listen to: `meeting:<id>`, `run:<id>`, `project:<id>`.
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
    type Err = NoTopic;
    fn from_str(text: &str) -> Result<Self, NoTopic> {
        let (kind, id) = text.split_once(':').ok_or(NoTopic)?;
        let kind = match kind {
            "meeting" => TopicKind::Meeting,
            "run" => TopicKind::Run,
            "project" => TopicKind::Project,
            _ => return Err(NoTopic),
        };
        let id: crate::ids::Id<()> = id.parse().map_err(|_| NoTopic)?;
        Ok(Self { kind, id: id.uuid() })
    }
}

/// The text names no topic.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoTopic;

/// One event as it was saved: what sockets and streams are sent, serialised once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told {
    pub topic: Topic,
    /// Rises by one for each event of the topic, from 1.
    pub offset: u64,
    /// Such as `run.progressed`.
    pub kind: Arc<str>,
    /// The whole changed resource, as JSON.
    pub data: Arc<str>,
    pub at: Time,
    pub request: RequestId,
}
