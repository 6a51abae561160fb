//! The events of one topic for one subscriber: a start, then every later event once and in order.
//!
//! ```text
//!   begin --since, still stored-> recovered: events after it --+
//!     `----else--> snapshot and its offset -------------------+--> live --lagged--> events after the last one --> live
//! ```
//! The subscriber pulls, so that a slow one blocks nobody: the hub's buffer for it overflows, and the events it missed
//! are read from the table when it continues. Its access is checked again whenever it may have changed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::hub::{HubItem, Subscription};
use actors::ids::Id;
use actors::live::{EventRecord, Topic};
use tokio::time::sleep;

use super::audience::{ACCESS_CHANGE_EVENTS, Listening, TopicSnapshot};
use crate::access::principal::Principal;
use crate::db::events::{self, Epoch};
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::live::state::RealTime;

/// The number of events read from the table at once.
const PAGE: u32 = 256;
/// The delay between attempts to read while the database is unavailable.
const RETRY_INTERVAL: Duration = Duration::from_millis(250);

/// The position a subscriber resumes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// `None` accepts the topic's epoch, whichever it is.
    pub epoch: Option<Id<Epoch>>,
    pub offset: u64,
}

/// The start of a subscription.
#[derive(Debug)]
pub struct Beginning {
    pub epoch: Id<Epoch>,
    /// The events after this offset follow.
    pub offset: u64,
    /// `None` if the subscriber resumes from its position.
    pub snapshot: Option<TopicSnapshot>,
}

/// The next item of a subscription.
#[derive(Debug)]
pub enum StreamItem {
    Event(Arc<EventRecord>),
    /// The subscriber lost access, or the resource was deleted. Nothing follows.
    Refused(ApiError),
    /// Events are missing that are no longer stored, so the subscriber has to start again. Nothing follows.
    Behind,
}

/// The position of one subscriber in one topic.
pub struct TopicStream {
    state: RealTime,
    caller: Principal,
    topic: Topic,
    /// A second topic, besides the resource's own, whose events show that access may have changed.
    access_changes: Option<Subscription>,
    /// Whether access has to be checked before the next event is returned.
    doubtful: bool,
    epoch: Id<Epoch>,
    /// The offset of the last event that was returned.
    cursor: u64,
    /// Events read from the table or received from the hub, to be returned before anything received later.
    missed: VecDeque<Arc<EventRecord>>,
    /// The subscription to the hub; `None` while there are more events in the table.
    own: Option<Subscription>,
    _listening: Option<Listening>,
}

/// One page of the events after an offset.
struct EventPage {
    epoch: Id<Epoch>,
    last: u64,
    events: Vec<EventRecord>,
}

impl EventPage {
    /// Whether no event is missing between `after` and the page.
    fn follows(&self, after: u64) -> bool {
        match self.events.first() {
            Some(first) => first.offset == after + 1,
            None => self.last == after,
        }
    }

    fn is_full(&self) -> bool {
        self.events.len() >= PAGE as usize
    }
}

impl TopicStream {
    /// Starts at the subscriber's position if its events are still stored, else with a snapshot.
    ///
    /// # Errors
    /// 403 or 404 when the caller may not subscribe to the topic; 503 when the store is unavailable.
    pub async fn begin(
        state: RealTime,
        caller: Principal,
        topic: Topic,
        since: Option<Since>,
    ) -> Result<(Self, Beginning), ApiError> {
        let audience = state.audiences.of(topic.kind)?;
        let access_topic = audience.admit(caller, topic.id).await?;
        let access_changes = (access_topic != topic).then(|| state.hub.subscribe(access_topic));
        let listening = audience.listens(caller, topic.id);
        let mut feed = Self {
            state,
            caller,
            topic,
            access_changes,
            // A change between the authorization and the subscription was not received.
            doubtful: true,
            epoch: Id::from_uuid(uuid::Uuid::nil()),
            cursor: 0,
            missed: VecDeque::new(),
            own: None,
            _listening: listening,
        };
        if let Some(since) = since
            && let Some(beginning) = feed.recover(since).await?
        {
            return Ok((feed, beginning));
        }
        let beginning = feed.afresh().await?;
        Ok((feed, beginning))
    }

    /// Returns the next event. Cancel safe: no event is lost if the future is dropped.
    pub async fn next(&mut self) -> StreamItem {
        loop {
            if self.doubtful {
                match self.admitted().await {
                    Ok(true) => self.doubtful = false,
                    Ok(false) => {
                        sleep(RETRY_INTERVAL).await;
                        continue;
                    }
                    Err(refused) => return StreamItem::Refused(refused),
                }
            }
            if let Some(record) = self.missed.front() {
                let Some(seen) = self.as_seen(Arc::clone(record)).await else {
                    sleep(RETRY_INTERVAL).await;
                    continue;
                };
                self.missed.pop_front();
                return self.deliver(seen);
            }
            let Some(own) = &mut self.own else {
                match self.catch_up().await {
                    Ok(true) => {}
                    Ok(false) => return self.lost().await,
                    Err(away) => {
                        tracing::warn!(topic = %self.topic, %away, "missed events could not be loaded yet; retrying");
                        sleep(RETRY_INTERVAL).await;
                    }
                }
                continue;
            };
            tokio::select! {
                item = own.next() => match item {
                    HubItem::Event(record) => self.missed.push_back(record),
                    HubItem::Lagged => self.own = None,
                    HubItem::Closed => return StreamItem::Behind,
                },
                item = next_item(&mut self.access_changes) => match item {
                    HubItem::Event(record) => self.doubtful = changes_access(&record),
                    HubItem::Lagged => {
                        self.access_changes =
                            self.access_changes.as_ref().map(|lagged| self.state.hub.subscribe(lagged.topic()));
                        self.doubtful = true;
                    }
                    HubItem::Closed => return StreamItem::Behind,
                },
            }
        }
    }

    /// The event as this subscriber may see it; `None` if its visibility cannot be determined at present.
    async fn as_seen(&self, record: Arc<EventRecord>) -> Option<Arc<EventRecord>> {
        let audience = self.state.audiences.of(self.topic.kind).ok()?;
        if !audience.is_for_some(record.kind) || audience.may_see(self.caller, &record).await.ok()? {
            return Some(record);
        }
        let EventRecord { topic, offset, at, .. } = *record;
        Some(Arc::new(EventRecord {
            topic,
            offset,
            at,
            kind: EventKind::Withheld,
            data: "{}".into(),
            request: EventKind::Withheld.as_str().into(),
        }))
    }

    fn deliver(&mut self, record: Arc<EventRecord>) -> StreamItem {
        self.cursor = record.offset;
        self.doubtful |= changes_access(&record);
        StreamItem::Event(record)
    }

    /// Resumes from the subscriber's position; `None` if the topic has no such position, or its events are no longer
    /// stored.
    async fn recover(&mut self, since: Since) -> Result<Option<Beginning>, ApiError> {
        let own = self.state.hub.subscribe(self.topic);
        let Some(page) = self.read(since.offset).await.map_err(ApiError::from)? else { return Ok(None) };
        let is_same = since.epoch.is_none_or(|epoch| epoch == page.epoch);
        if !is_same || since.offset > page.last || !page.follows(since.offset) {
            return Ok(None);
        }
        self.epoch = page.epoch;
        self.cursor = since.offset;
        self.take(page, own);
        Ok(Some(Beginning { epoch: self.epoch, offset: since.offset, snapshot: None }))
    }

    async fn afresh(&mut self) -> Result<Beginning, ApiError> {
        let mut own = self.state.hub.subscribe(self.topic);
        let audience = self.state.audiences.of(self.topic.kind)?;
        let snapshot = audience.snapshot(self.topic.id).await?;
        self.epoch = self.find_epoch().await.map_err(ApiError::from)?;
        self.cursor = snapshot.offset;
        own.after(snapshot.offset);
        self.own = Some(own);
        Ok(Beginning { epoch: self.epoch, offset: snapshot.offset, snapshot: Some(snapshot) })
    }

    /// A topic without events is given its epoch here, so that its first subscribers can resume as well.
    async fn find_epoch(&self) -> Result<Id<Epoch>, DbError> {
        let topic = self.topic;
        let head = self.state.db.read(move |conn| Box::pin(events::head(conn, topic))).await?;
        match head {
            Some((epoch, _)) => Ok(epoch),
            None => self.state.db.write(move |conn| Box::pin(events::open(conn, topic))).await,
        }
    }

    /// Reads the events after the cursor from the table. Returns whether none are missing.
    async fn catch_up(&mut self) -> Result<bool, DbError> {
        let own = self.state.hub.subscribe(self.topic);
        match self.read(self.cursor).await? {
            Some(page) if page.epoch == self.epoch && page.follows(self.cursor) => {
                self.take(page, own);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Takes over a page. After a full page there is more in the table, and a subscription to the hub would only fill
    /// its buffer meanwhile, so it is dropped.
    fn take(&mut self, page: EventPage, mut own: Subscription) {
        if !page.is_full() {
            own.after(page.events.last().map_or(self.cursor, |record| record.offset));
            self.own = Some(own);
        }
        self.missed = page.events.into_iter().map(Arc::new).collect();
    }

    async fn read(&self, after: u64) -> Result<Option<EventPage>, DbError> {
        let topic = self.topic;
        let read = async move |conn: &mut Conn| {
            let Some((epoch, last)) = events::head(conn, topic).await? else { return Ok::<_, DbError>(None) };
            let events = events::read_after(conn, topic, after, PAGE).await?;
            Ok(Some(EventPage { epoch, last, events }))
        };
        self.state.db.read(move |conn| Box::pin(conn.transaction(read))).await
    }

    /// Checks the subscriber's access again; `false` if it cannot be determined at present.
    async fn admitted(&self) -> Result<bool, ApiError> {
        let audience = self.state.audiences.of(self.topic.kind)?;
        match audience.admit(self.caller, self.topic.id).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.code == Code::SERVICE_UNAVAILABLE => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The result when the table lacks the next event: the resource was deleted, or the event is no longer stored.
    async fn lost(&self) -> StreamItem {
        match self.admitted().await {
            Err(refused) => StreamItem::Refused(refused),
            Ok(_) => StreamItem::Behind,
        }
    }
}

fn changes_access(record: &EventRecord) -> bool {
    ACCESS_CHANGE_EVENTS.contains(&record.kind)
}

async fn next_item(subscription: &mut Option<Subscription>) -> HubItem {
    match subscription {
        Some(subscription) => subscription.next().await,
        None => std::future::pending().await,
    }
}
