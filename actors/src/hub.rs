//! Who listens to what, and that each hears a topic's events in the order of their offsets.
//!
//! Events come from many writers, so n + 2 may be told before n + 1. Such an event is held back until the missing one
//! comes, or is read from the table a short while later. A listener has a bounded buffer: who overflows it is told so
//! and resumes from the table, and nobody else is held up. A topic that nobody listens to costs nothing.
//!
//! To listen without a hole: [`Hub::subscribe`] first, then take state and offset from one snapshot, then
//! [`Subscription::after`] with that offset.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use tokio::sync::mpsc::{self, error::TrySendError};
use tokio::time::sleep;

use crate::live::{Tasks, Told, Topic, Unavailable};
use crate::panics::caught_async;

/// Where what was told can be read again.
#[async_trait]
pub trait EventLog: Send + Sync + 'static {
    /// Events of a topic with greater offsets than `after`, ascending, at most `limit`.
    ///
    /// # Errors
    /// The store can't be reached.
    async fn read(&self, topic: Topic, after: u64, limit: usize) -> Result<Vec<Told>, Unavailable>;
}

/// Carries what was saved to whoever listens, on this node and others. With one node that is the hub.
pub trait Bus: Send + Sync + 'static {
    /// Never blocks and never waits.
    fn publish(&self, told: Vec<Told>);

    /// Something may have been saved under these topics that nobody was told.
    fn doubt(&self, topics: &[Topic]);
}

/// How much and how long. The defaults are the service's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HubLimits {
    /// Events that a listener may be behind: about a second of a busy project.
    pub buffer: usize,
    /// Events of one topic that are held back for a missing one.
    pub held: usize,
    /// How long a missing event is waited for before the table is read; then again after twice that, and so on.
    pub gap: Duration,
    /// Readings in vain before the listeners of a topic are told that they lag. With `gap` of 50 ms, 7 take 5 s.
    pub readings: u32,
    /// Events read at once.
    pub page: usize,
}

impl Default for HubLimits {
    fn default() -> Self {
        Self { buffer: 256, held: 1024, gap: Duration::from_millis(50), readings: 7, page: 256 }
    }
}

/// The hub. Cheap to clone; every clone is the same hub.
#[derive(Clone)]
pub struct Hub {
    inner: Arc<Inner>,
}

impl Hub {
    #[must_use]
    pub fn new(log: Arc<dyn EventLog>, tasks: Arc<dyn Tasks>, limits: HubLimits) -> Self {
        let (channels, next) = (Mutex::default(), AtomicU64::new(0));
        Self { inner: Arc::new(Inner { channels, next, log, tasks, limits }) }
    }

    /// Begins to listen. Everything released from now on will be heard, once [`Subscription::after`] says from where.
    #[must_use]
    pub fn subscribe(&self, topic: Topic) -> Subscription {
        let (sender, events) = mpsc::channel(self.inner.limits.buffer.max(1));
        let lagged = Arc::new(AtomicBool::new(false));
        let id = self.inner.next.fetch_add(1, Ordering::Relaxed);
        let listener = Listener { sender, lagged: Arc::clone(&lagged) };
        self.inner.channels().entry(topic).or_default().listeners.insert(id, listener);
        Subscription { hub: Arc::downgrade(&self.inner), topic, id, events, lagged, heard: None }
    }

    /// Tells events to those who listen to their topics. Never blocks and never waits; events may come in any order
    /// and more than once.
    pub fn tell(&self, told: Vec<Told>) {
        let mut wanting = Vec::new();
        let mut channels = self.inner.channels();
        for told in told {
            let topic = told.topic;
            if let Some(channel) = channels.get_mut(&topic) {
                channel.take(Arc::new(told), &self.inner.limits);
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

    /// Looks into the table by and by for what nobody told.
    pub fn doubt(&self, topics: &[Topic]) {
        self.look(topics, self.inner.limits.readings);
    }

    /// Looks into the table, once for each topic that somebody listens to: something is there that nobody told.
    pub fn look_at_all(&self) {
        let topics: Vec<_> = self.inner.channels().keys().copied().collect();
        self.look(&topics, 1);
    }

    fn look(&self, topics: &[Topic], readings: u32) {
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

    /// How many listen, to all topics together.
    #[must_use]
    pub fn listeners(&self) -> usize {
        self.inner.channels().values().map(|channel| channel.listeners.len()).sum()
    }
}

impl Bus for Hub {
    fn publish(&self, told: Vec<Told>) {
        self.tell(told);
    }
    fn doubt(&self, topics: &[Topic]) {
        Self::doubt(self, topics);
    }
}

/// What a listener hears next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    Told(Arc<Told>),
    /// Events were missed. Nothing more will come: resume from the table, with a new subscription.
    Lagged,
    /// The hub is gone.
    Closed,
}

/// One listener's place at a topic; leaving it ends the listening.
pub struct Subscription {
    hub: Weak<Inner>,
    topic: Topic,
    id: u64,
    events: mpsc::Receiver<Arc<Told>>,
    lagged: Arc<AtomicBool>,
    /// The offset of what was heard last.
    heard: Option<u64>,
}

impl Subscription {
    #[must_use]
    pub const fn topic(&self) -> Topic {
        self.topic
    }

    /// Says what is known already: only greater offsets will be heard, and all of them. To be called with the offset of
    /// a snapshot that was taken after subscribing.
    pub fn after(&mut self, offset: u64) {
        self.heard = Some(self.heard.map_or(offset, |heard| heard.max(offset)));
        if let Some(hub) = self.hub.upgrade()
            && let Some(channel) = hub.channels().get_mut(&self.topic)
        {
            channel.begin_at(offset);
        }
    }

    /// The next event. Nothing is lost if the returned future is dropped.
    pub async fn next(&mut self) -> Heard {
        std::future::poll_fn(|cx| self.poll_next(cx)).await
    }

    /// For streams; see [`Self::next`].
    pub fn poll_next(&mut self, cx: &mut Context<'_>) -> Poll<Heard> {
        loop {
            let told = match self.events.poll_recv(cx) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(told)) => told,
                Poll::Ready(None) if self.lagged.load(Ordering::SeqCst) => return Poll::Ready(Heard::Lagged),
                Poll::Ready(None) => return Poll::Ready(Heard::Closed),
            };
            match self.heard {
                Some(heard) if told.offset <= heard => {}
                // Can't be, as far as we know. If it is, it must not be silent.
                Some(heard) if told.offset > heard + 1 => {
                    tracing::error!(topic = %self.topic, heard, offset = told.offset, "a hole in a subscription");
                    self.lagged.store(true, Ordering::SeqCst);
                    self.events.close();
                    while self.events.try_recv().is_ok() {}
                    return Poll::Ready(Heard::Lagged);
                }
                _ => {
                    self.heard = Some(told.offset);
                    return Poll::Ready(Heard::Told(told));
                }
            }
        }
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Subscription({}, heard {:?})", self.topic, self.heard)
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

struct Inner {
    channels: Mutex<HashMap<Topic, Channel>>,
    next: AtomicU64,
    log: Arc<dyn EventLog>,
    tasks: Arc<dyn Tasks>,
    limits: HubLimits,
}

struct Listener {
    sender: mpsc::Sender<Arc<Told>>,
    lagged: Arc<AtomicBool>,
}

/// A topic that somebody listens to.
#[derive(Default)]
struct Channel {
    listeners: HashMap<u64, Listener>,
    /// The last offset that listeners were sent. `None` until the first of them says where it begins, or an event has
    /// waited in vain for one before it.
    released: Option<u64>,
    held: BTreeMap<u64, Arc<Told>>,
    /// Readings of the table still to be made though nothing is held.
    doubts: u32,
    filling: bool,
}

impl Channel {
    fn take(&mut self, told: Arc<Told>, limits: &HubLimits) {
        if self.released.is_some_and(|released| told.offset <= released) {
            return;
        }
        self.held.insert(told.offset, told);
        self.release();
        if self.held.len() > limits.held {
            self.give_up();
        }
    }

    /// Sends what is next, as long as it is there.
    fn release(&mut self) {
        let Some(mut released) = self.released else { return };
        while let Some(told) = self.held.remove(&(released + 1)) {
            released += 1;
            self.listeners.retain(|_, listener| match listener.sender.try_send(Arc::clone(&told)) {
                Ok(()) => true,
                Err(TrySendError::Full(_)) => {
                    listener.lagged.store(true, Ordering::SeqCst);
                    false
                }
                Err(TrySendError::Closed(_)) => false,
            });
        }
        self.released = Some(released);
    }

    fn begin_at(&mut self, offset: u64) {
        if self.released.is_none() {
            self.held = self.held.split_off(&(offset + 1));
            self.released = Some(offset);
            self.release();
        }
    }

    /// The missing event doesn't come: nobody may go on without it.
    fn give_up(&mut self) {
        for (_, listener) in self.listeners.drain() {
            listener.lagged.store(true, Ordering::SeqCst);
        }
        self.held.clear();
        self.released = None;
        self.doubts = 0;
    }

    /// Whether a reading is wanted and none is under way; then one is.
    fn begins_to_fill(&mut self) -> bool {
        let begins = !self.filling && self.wants_filling();
        self.filling |= begins;
        begins
    }

    fn wants_filling(&self) -> bool {
        !self.held.is_empty() || self.doubts > 0
    }

    /// Nobody said where to begin: then with what there is.
    fn settle(&mut self) {
        if self.released.is_none()
            && let Some(first) = self.held.keys().next()
        {
            self.released = Some(first.saturating_sub(1));
            self.release();
        }
    }
}

impl Inner {
    fn channels(&self) -> MutexGuard<'_, HashMap<Topic, Channel>> {
        self.channels.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fill(self: &Arc<Self>, topic: Topic) {
        self.tasks.spawn(Box::pin(fill(Arc::downgrade(self), topic)));
    }
}

/// Reads from the table what a topic misses, until nothing is missing or there is no hope.
async fn fill(hub: Weak<Inner>, topic: Topic) {
    let mut in_vain = 0;
    loop {
        let Some(limits) = hub.upgrade().map(|hub| hub.limits) else { return };
        sleep(limits.gap * 2_u32.saturating_pow(in_vain.min(5))).await;
        let Some(hub) = hub.upgrade() else { return };
        let after = {
            let mut channels = hub.channels();
            let Some(channel) = channels.get_mut(&topic) else { return };
            channel.settle();
            if !channel.wants_filling() {
                channel.filling = false;
                return;
            }
            // Before it begins: whoever has doubts from then on wants another one.
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
                tracing::warn!(%topic, ?unavailable, "a gap in a topic can't be filled");
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
                tracing::warn!(%topic, ?after, "a gap in a topic stays: its listeners resume from the table");
                channel.give_up();
            }
        }
    }
}
