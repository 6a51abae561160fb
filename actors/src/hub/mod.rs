//! Subscriptions to topics: each subscriber receives a topic's events in the order of their offsets.
//!
//! Events come from many writers, so n + 2 may be published before n + 1. Such an event is held back until the missing
//! one arrives, or is read from the event table a short while later. A subscriber has a bounded buffer: one that
//! overflows is notified and resumes from the table, without delaying the others. A topic without subscribers costs
//! nothing.
//!
//! To subscribe without missing an event: call [`Hub::subscribe`] first, then take state and offset from one snapshot,
//! then call [`Subscription::after`] with that offset.

mod inbox;

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::sleep;

use self::inbox::{Inbox, InboxEnd};
use crate::live::{EventRecord, Spawner, StoreUnavailable, Topic};
use crate::panics::caught_async;

/// Reads published events again from the event table.
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Returns the events of a topic with offsets greater than `after`, ascending, at most `limit`.
    ///
    /// # Errors
    /// The store can't be reached.
    async fn read(&self, topic: Topic, after: u64, limit: usize) -> Result<Vec<EventRecord>, StoreUnavailable>;
}

/// Carries saved events to the subscribers, on this node and others. With one node this is the hub.
pub trait Bus: Send + Sync + 'static {
    /// Publishes events. Never blocks and never waits.
    fn publish(&self, records: Vec<EventRecord>);

    /// Reports that events of these topics may have been saved without being published.
    fn doubt(&self, topics: &[Topic]);
}

/// Size and time limits of a hub. The defaults are those of the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubLimits {
    /// Events that a subscriber may lag behind: about a second of a busy project.
    pub buffer: usize,
    /// Events of one topic that are held back for a missing one.
    pub held: usize,
    /// How long to wait for a missing event before the table is read. The wait doubles with each read in vain, up to 32
    /// times this value.
    pub gap: Duration,
    /// Reads in vain before the subscribers of a topic get [`HubItem::Lagged`]. With `gap` of 50 ms, 7 take 5 s.
    pub readings: u32,
    /// Events per read.
    pub page: usize,
}

impl Default for HubLimits {
    fn default() -> Self {
        Self { buffer: 256, held: 1024, gap: Duration::from_millis(50), readings: 7, page: 256 }
    }
}

/// The hub. Cheap to clone; all clones share the same hub.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<HubInner>,
}

impl Hub {
    #[must_use]
    pub fn new(log: Arc<dyn EventLog>, tasks: Arc<dyn Spawner>, limits: HubLimits) -> Self {
        let (channels, next) = (Mutex::default(), AtomicU64::new(0));
        Self { inner: Arc::new(HubInner { channels, next, log, tasks, limits }) }
    }

    /// Subscribes to a topic. Every event released from now on is delivered, once [`Subscription::after`] has set the
    /// starting offset.
    #[must_use]
    pub fn subscribe(&self, topic: Topic) -> Subscription {
        let inbox = Arc::new(Inbox::default());
        let id = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let listener = Listener(Arc::clone(&inbox));
        self.inner.channels().entry(topic).or_default().listeners.insert(id, listener);
        Subscription { hub: Arc::downgrade(&self.inner), topic, id, inbox, last_offset: None }
    }

    /// Publishes events to the subscribers of their topics. Never blocks and never waits; events may come in any order
    /// and more than once.
    pub fn publish(&self, records: Vec<EventRecord>) {
        let mut wanting = Vec::new();
        let mut channels = self.inner.channels();
        for record in records {
            let topic = record.topic;
            if let Some(channel) = channels.get_mut(&topic) {
                channel.take(Arc::new(record), &self.inner.limits);
                if channel.begins_to_fill() {
                    wanting.push(topic);
                }
            }
        }
        drop(channels);
        for topic in wanting {
            self.inner.fill(topic);
        }
    }

    /// Reads the table repeatedly in the background for events of these topics that were saved but not published.
    pub fn doubt(&self, topics: &[Topic]) {
        self.reread(topics, self.inner.limits.readings);
    }

    /// Reads the table once for each topic that has subscribers: it may hold events that were not published.
    pub fn reread_all(&self) {
        let topics: Vec<_> = self.inner.channels().keys().copied().collect();
        self.reread(&topics, 1);
    }

    fn reread(&self, topics: &[Topic], readings: u32) {
        let mut wanting = Vec::new();
        let mut channels = self.inner.channels();
        for topic in topics {
            if let Some(channel) = channels.get_mut(topic) {
                channel.doubts = channel.doubts.max(readings);
                if channel.begins_to_fill() {
                    wanting.push(*topic);
                }
            }
        }
        drop(channels);
        for topic in wanting {
            self.inner.fill(topic);
        }
    }

    /// Returns the number of subscribers of all topics together.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.inner.channels().values().map(|channel| channel.listeners.len()).sum()
    }
}

impl Bus for Hub {
    fn publish(&self, records: Vec<EventRecord>) {
        self.publish(records);
    }
    fn doubt(&self, topics: &[Topic]) {
        Self::doubt(self, topics);
    }
}

/// What a subscriber receives next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HubItem {
    Event(Arc<EventRecord>),
    /// Events were missed. Nothing more follows: resume from the table, with a new subscription.
    Lagged,
    /// The hub no longer exists.
    Closed,
}

/// A subscription to a topic; dropping it unsubscribes.
pub struct Subscription {
    hub: Weak<HubInner>,
    topic: Topic,
    id: u64,
    inbox: Arc<Inbox>,
    /// The offset of the last event received.
    last_offset: Option<u64>,
}

impl Subscription {
    #[must_use]
    pub const fn topic(&self) -> Topic {
        self.topic
    }

    /// Sets the starting offset: only events with greater offsets are delivered, and all of them. Call it with the
    /// offset of a snapshot that was taken after subscribing.
    pub fn after(&mut self, offset: u64) {
        self.last_offset = Some(self.last_offset.map_or(offset, |last_offset| last_offset.max(offset)));
        if let Some(hub) = self.hub.upgrade()
            && let Some(channel) = hub.channels().get_mut(&self.topic)
        {
            channel.begin_at(offset, &hub.limits);
        }
    }

    /// Returns the next event. Nothing is lost if the returned future is dropped.
    pub async fn next(&mut self) -> HubItem {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// For streams; see [`Self::next`].
    pub fn poll_next(&mut self, cx: &Context<'_>) -> Poll<HubItem> {
        loop {
            let record = match self.inbox.poll_take(cx) {
                Poll::Ready(HubItem::Event(record)) => record,
                other => return other,
            };
            match self.last_offset {
                Some(last_offset) if record.offset <= last_offset => {}
                // Not known to happen. If it does, the gap must not go unnoticed.
                Some(last_offset) if record.offset > last_offset + 1 => {
                    tracing::error!(
                        topic = %self.topic,
                        expected_after = last_offset,
                        offset = record.offset,
                        "events are missing in a subscription"
                    );
                    self.inbox.lag();
                    return Poll::Ready(HubItem::Lagged);
                }
                _ => {
                    self.last_offset = Some(record.offset);
                    return Poll::Ready(HubItem::Event(record));
                }
            }
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscription({}, last offset {:?})", self.topic, self.last_offset)
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let Some(hub) = self.hub.upgrade() else { return };
        let mut channels = hub.channels();
        if let Some(channel) = channels.get_mut(&self.topic) {
            channel.listeners.remove(&self.id);
            if channel.listeners.is_empty() {
                channels.remove(&self.topic);
            }
        }
    }
}

struct HubInner {
    channels: Mutex<HashMap<Topic, Channel>>,
    next: AtomicU64,
    log: Arc<dyn EventLog>,
    tasks: Arc<dyn Spawner>,
    limits: HubLimits,
}

/// The hub's end of a subscription.
struct Listener(Arc<Inbox>);

impl Drop for Listener {
    fn drop(&mut self) {
        self.0.end(InboxEnd::Closed);
    }
}

/// A topic with at least one subscriber.
#[derive(Default)]
struct Channel {
    listeners: HashMap<u64, Listener>,
    /// The last offset sent to the subscribers. `None` until the first of them sets its starting offset, or an event
    /// has waited in vain for an earlier one.
    released: Option<u64>,
    held: BTreeMap<u64, Arc<EventRecord>>,
    /// Reads of the table that remain to be made even if no event is held back.
    doubts: u32,
    filling: bool,
}

impl Channel {
    fn take(&mut self, record: Arc<EventRecord>, limits: &HubLimits) {
        if self.released.is_some_and(|released| record.offset <= released) {
            return;
        }
        self.held.insert(record.offset, record);
        self.release(limits);
        if self.held.len() > limits.held {
            self.give_up();
        }
    }

    /// Sends the held events, as long as the next offset is among them.
    fn release(&mut self, limits: &HubLimits) {
        let Some(mut released) = self.released else { return };
        while let Some(record) = self.held.remove(&(released + 1)) {
            released += 1;
            self.listeners.retain(|_, Listener(inbox)| inbox.put(&record, limits.buffer.max(1)));
        }
        self.released = Some(released);
    }

    fn begin_at(&mut self, offset: u64, limits: &HubLimits) {
        if self.released.is_none() {
            self.held = self.held.split_off(&(offset + 1));
            self.released = Some(offset);
            self.release(limits);
        }
    }

    /// The missing event does not arrive: disconnects all subscribers, since none may continue without it.
    fn give_up(&mut self) {
        for (_, listener) in self.listeners.drain() {
            listener.0.end(InboxEnd::Lagged);
        }
        self.held.clear();
        self.released = None;
        self.doubts = 0;
    }

    /// Returns whether a read is needed and none is running; if so, marks one as running.
    fn begins_to_fill(&mut self) -> bool {
        let begins = !self.filling && self.wants_filling();
        self.filling |= begins;
        begins
    }

    fn wants_filling(&self) -> bool {
        !self.held.is_empty() || self.doubts > 0
    }

    /// Starts at the first held event if no subscriber has set a starting offset.
    fn set_first_offset(&mut self, limits: &HubLimits) {
        if self.released.is_none()
            && let Some(first) = self.held.keys().next()
        {
            self.released = Some(first.saturating_sub(1));
            self.release(limits);
        }
    }
}

impl HubInner {
    fn channels(&self) -> MutexGuard<'_, HashMap<Topic, Channel>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(self: &Arc<Self>, topic: Topic) {
        self.tasks.spawn(Box::pin(fill(Arc::downgrade(self), topic)));
    }
}

/// Reads the missing events of a topic from the table, until none is missing or it gives up.
async fn fill(hub: Weak<HubInner>, topic: Topic) {
    let mut in_vain = 0;
    loop {
        let Some(limits) = hub.upgrade().map(|hub| hub.limits) else { return };
        sleep(limits.gap * 2_u32.saturating_pow(in_vain.min(5))).await;
        let Some(hub) = hub.upgrade() else { return };
        let after = {
            let mut channels = hub.channels();
            let Some(channel) = channels.get_mut(&topic) else { return };
            channel.set_first_offset(&limits);
            if !channel.wants_filling() {
                channel.filling = false;
                return;
            }
            // Decremented before the read begins: a doubt that is raised during the read requires another one.
            if channel.released.is_some() {
                channel.doubts = channel.doubts.saturating_sub(1);
            }
            channel.released
        };
        let read = match after {
            Some(after) => caught_async(hub.log.read(topic, after, limits.page)).await,
            None => Ok(Ok(Vec::new())),
        };
        let rows = match read {
            Ok(Ok(rows)) => rows,
            Ok(Err(unavailable)) => {
                tracing::warn!(%topic, ?unavailable, "missing events of a topic could not be loaded");
                Vec::new()
            }
            Err(_) => Vec::new(),
        };
        let mut channels = hub.channels();
        let Some(channel) = channels.get_mut(&topic) else { return };
        for row in rows {
            channel.take(Arc::new(row), &limits);
        }
        if channel.released != after {
            in_vain = 0;
        } else {
            in_vain += 1;
            if in_vain >= limits.readings && !channel.held.is_empty() {
                tracing::warn!(
                    %topic,
                    ?after,
                    "missing events of a topic were not found; its listeners resume from the database"
                );
                channel.give_up();
            }
        }
    }
}
