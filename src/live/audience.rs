//! Who may listen to what, and what they are told first. Features say it and `wiring` registers them: live knows none.

use std::sync::Arc;

use actors::live::{Told, Topic, TopicKind};
use async_trait::async_trait;
use uuid::Uuid;

use crate::access::caller::Visitor;
use crate::http::code::Code;
use crate::http::failure::Failure;

/// The kinds of events after which it is asked again who may listen.
pub const CHANGES_OF_STANDING: [&str; 3] = ["member.changed", "project.deleted", "participant.removed"];

/// What stands in the place of an event that is not told to a listener: its offset and time, and nothing of what it says.
/// So offsets rise by one for everybody.
pub const WITHHELD: &str = "withheld";

/// Those who listen to one kind of topic.
#[async_trait]
pub trait Audience: Send + Sync + 'static {
    fn kind(&self) -> TopicKind;

    /// Whether the caller may listen; asked again whenever that may have changed. Answers the topic under which
    /// [`CHANGES_OF_STANDING`] are told beside the thing's own: the thing's project.
    ///
    /// # Errors
    /// 404: there is no such thing. 403: it is not the caller's.
    async fn admit(&self, caller: Visitor, id: Uuid) -> Result<Topic, Failure>;

    /// The state as its GET gives it, without what differs by caller, and the offset of the last event in it: both
    /// from one reading.
    ///
    /// # Errors
    /// 404: there is no such thing; 503.
    async fn snapshot(&self, id: Uuid) -> Result<Snapshot, Failure>;

    /// Whether events of this name are told to some listeners alone.
    fn is_for_some(&self, _event: &str) -> bool {
        false
    }

    /// Whether such an event is told to the caller, asked at each.
    ///
    /// # Errors
    /// 503: that can't be known at the moment.
    async fn tells(&self, _caller: Visitor, _told: &Told) -> Result<bool, Failure> {
        Ok(true)
    }

    /// Notes that the caller listens now, as long as the answer is held.
    fn listens(&self, _caller: Visitor, _id: Uuid) -> Option<Listening> {
        None
    }
}

/// Somebody listens: dropped when they no longer do.
pub struct Listening {
    _note: Box<dyn Send>,
}

impl Listening {
    #[must_use]
    pub fn until_dropped(note: impl Send + 'static) -> Self {
        Self { _note: Box::new(note) }
    }
}

/// A state and the offset at which it is that.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    /// JSON on one line.
    pub data: Arc<str>,
    pub offset: u64,
    /// The event that would tell this state, such as `run.completed`: what a stream begins with.
    pub event: &'static str,
}

impl Snapshot {
    /// # Errors
    /// 500: the state can't be serialised, which does not happen.
    pub fn of(state: &impl serde::Serialize, offset: u64, event: &'static str) -> Result<Self, Failure> {
        let data = serde_json::to_string(state).map_err(Failure::internal)?;
        Ok(Self { data: data.into(), offset, event })
    }
}

/// The audiences of all kinds.
#[derive(Default)]
pub struct Audiences(Vec<Arc<dyn Audience>>);

impl Audiences {
    #[must_use]
    pub fn with(mut self, audience: impl Audience) -> Self {
        self.0.push(Arc::new(audience));
        self
    }

    /// # Errors
    /// 404: nobody can listen to that kind.
    pub fn of(&self, kind: TopicKind) -> Result<Arc<dyn Audience>, Failure> {
        let found = self.0.iter().find(|audience| audience.kind() == kind);
        found.map(Arc::clone).ok_or_else(|| Failure::of(Code::NOT_FOUND))
    }
}
