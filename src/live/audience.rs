//! Who may subscribe to which topic, and the snapshot a subscriber receives first. Features implement [`Audience`] and
//! `wiring` registers them, so this module depends on no feature.

use std::sync::Arc;

use actors::event_kind::EventKind;
use actors::live::{EventRecord, Topic, TopicKind};
use async_trait::async_trait;
use uuid::Uuid;

use crate::access::principal::Principal;
use crate::http::code::Code;
use crate::http::error::ApiError;

/// The kinds of events after which access of subscribers is checked again.
pub const ACCESS_CHANGE_EVENTS: [EventKind; 3] =
    [EventKind::MemberChanged, EventKind::ProjectDeleted, EventKind::ParticipantRemoved];

/// The subscribers of one kind of topic.
#[async_trait]
pub trait Audience: Send + Sync + 'static {
    fn kind(&self) -> TopicKind;

    /// Authorizes the caller to subscribe; called again whenever access may have changed. Returns the topic on which
    /// [`ACCESS_CHANGE_EVENTS`] are published in addition to the resource's own: the topic of its project.
    ///
    /// # Errors
    /// 404 for an unknown resource; 403 when the caller has no access.
    async fn admit(&self, caller: Principal, id: Uuid) -> Result<Topic, ApiError>;

    /// The state as the resource's GET returns it, without the parts that differ by caller, and the offset of the last
    /// event it includes. Both are read consistently.
    ///
    /// # Errors
    /// 404 for an unknown resource; 503 when the store is unavailable.
    async fn snapshot(&self, id: Uuid) -> Result<TopicSnapshot, ApiError>;

    /// Whether events of this kind are visible only to some subscribers.
    fn is_for_some(&self, _event: EventKind) -> bool {
        false
    }

    /// Whether the caller may see this event. Called for each event of a kind for which [`Audience::is_for_some`] is
    /// true.
    ///
    /// # Errors
    /// 503 when this cannot be determined at present.
    async fn may_see(&self, _caller: Principal, _record: &EventRecord) -> Result<bool, ApiError> {
        Ok(true)
    }

    /// Records that the caller is subscribed, until the returned value is dropped.
    fn listens(&self, _caller: Principal, _id: Uuid) -> Option<Listening> {
        None
    }
}

/// A guard that is held while a subscriber listens, and dropped when the subscription ends.
pub struct Listening {
    _note: Box<dyn Send>,
}

impl Listening {
    #[must_use]
    pub fn until_dropped(note: impl Send + 'static) -> Self {
        Self { _note: Box::new(note) }
    }
}

/// The state of a resource and the offset of the last event it includes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopicSnapshot {
    /// The state as JSON on a single line.
    pub data: Arc<str>,
    pub offset: u64,
    /// The kind of the event that matches this state, such as `run.completed`. An event stream starts with it.
    pub event: EventKind,
}

impl TopicSnapshot {
    /// # Errors
    /// 500 if the state cannot be serialized, which is not expected to happen.
    pub fn of(state: &impl serde::Serialize, offset: u64, event: EventKind) -> Result<Self, ApiError> {
        let data = serde_json::to_string(state).map_err(ApiError::internal)?;
        Ok(Self { data: data.into(), offset, event })
    }
}

/// The audiences of all kinds of topics.
#[derive(Default)]
pub struct Audiences(Vec<Arc<dyn Audience>>);

impl Audiences {
    #[must_use]
    pub fn with(mut self, audience: impl Audience) -> Self {
        self.0.push(Arc::new(audience));
        self
    }

    /// # Errors
    /// 404 for a kind that has no audience.
    pub fn of(&self, kind: TopicKind) -> Result<Arc<dyn Audience>, ApiError> {
        let found = self.0.iter().find(|audience| audience.kind() == kind);
        found.map(Arc::clone).ok_or_else(|| ApiError::of(Code::NOT_FOUND))
    }
}
