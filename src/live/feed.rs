//! What one listener hears of one topic: a beginning, then every event after it, once and in order.
//!
//! ```text
//!   begin --since, still kept--> recovered: events after it --+
//!     `----else--> snapshot and its offset -------------------+--> live --lagged--> events after the last one --> live
//! ```
//! Whoever listens pulls, so that a slow one holds up nobody: the hub's buffer for it overflows, and what it missed is
//! read from the table when it comes back. Whether it may listen at all is asked again when that may have changed.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use actors::hub::{Heard, Subscription};
use actors::ids::Id;
use actors::live::{Told, Topic};
use tokio::time::sleep;

use super::audience::{CHANGES_OF_STANDING, Listening, Snapshot, WITHHELD};
use crate::access::caller::Visitor;
use crate::db::events::{self, Epoch};
use crate::db::{Conn, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::live::state::RealTime;

/// Events read from the table at once.
const PAGE: u32 = 256;
/// Between two attempts to read while the database is away.
const AGAIN: Duration = Duration::from_millis(250);

/// Where a listener stood when it was last heard of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Since {
    /// `None`: whichever the topic has.
    pub epoch: Option<Id<Epoch>>,
    pub offset: u64,
}

/// What a listener is told first.
#[derive(Debug)]
pub struct Beginning {
    pub epoch: Id<Epoch>,
    /// Events after this one follow.
    pub offset: u64,
    /// `None`: the listener goes on from where it stood.
    pub snapshot: Option<Snapshot>,
}

/// What a listener is told next.
#[derive(Debug)]
pub enum Fed {
    Told(Arc<Told>),
    /// It may not listen any more, or what it listened to is gone. Nothing follows.
    Refused(Failure),
    /// Events are missing that are not kept: only a new beginning helps. Nothing follows.
    Behind,
}

/// One listener's place at one topic.
pub struct Feed {
    state: RealTime,
    caller: Visitor,
    topic: Topic,
    /// Tells, beside the topic itself, when it is to be asked again who may listen.
    standing: Option<Subscription>,
    /// It is to be asked again who may listen.
    doubtful: bool,
    epoch: Id<Epoch>,
    /// The offset of the last event that was handed out.
    cursor: u64,
    /// Read from the table or heard, to be handed out before anything else that is heard.
    missed: VecDeque<Arc<Told>>,
    /// `None`: there is more in the table.
    own: Option<Subscription>,
    _listening: Option<Listening>,
}

/// The events after an offset, as far as one page goes.
struct Page {
    epoch: Id<Epoch>,
    last: u64,
    events: Vec<Told>,
}

impl Page {
    /// Whether nothing is missing between `after` and the page.
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

impl Feed {
    /// Begins where the listener stood, if that is known, else with a snapshot.
    ///
    /// # Errors
    /// 403, 404: it may not listen to that. 503.
    pub async fn begin(
        state: RealTime,
        caller: Visitor,
        topic: Topic,
        since: Option<Since>,
    ) -> Result<(Self, Beginning), Failure> {
        let audience = state.audiences.of(topic.kind)?;
        let told_under = audience.admit(caller, topic.id).await?;
        let standing = (told_under != topic).then(|| state.hub.subscribe(told_under));
        let listening = audience.listens(caller, topic.id);
        let mut feed = Self {
            state,
            caller,
            topic,
            standing,
            // What changed between the question and the subscription was not heard.
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

    /// The next event. Nothing is lost if the returned future is dropped.
    pub async fn next(&mut self) -> Fed {
        loop {
            if self.doubtful {
                match self.admitted().await {
                    Ok(true) => self.doubtful = false,
                    Ok(false) => {
                        sleep(AGAIN).await;
                        continue;
                    }
                    Err(refused) => return Fed::Refused(refused),
                }
            }
            if let Some(told) = self.missed.front() {
                let Some(seen) = self.as_seen(Arc::clone(told)).await else {
                    sleep(AGAIN).await;
                    continue;
                };
                self.missed.pop_front();
                return self.hand(seen);
            }
            let Some(own) = &mut self.own else {
                match self.catch_up().await {
                    Ok(true) => {}
                    Ok(false) => return self.lost().await,
                    Err(away) => {
                        tracing::warn!(topic = %self.topic, %away, "what a listener missed can't be read yet");
                        sleep(AGAIN).await;
                    }
                }
                continue;
            };
            tokio::select! {
                heard = own.next() => match heard {
                    Heard::Told(told) => self.missed.push_back(told),
                    Heard::Lagged => self.own = None,
                    Heard::Closed => return Fed::Behind,
                },
                heard = hear(&mut self.standing) => match heard {
                    Heard::Told(told) => self.doubtful = changes_standing(&told),
                    Heard::Lagged => {
                        self.standing = self.standing.as_ref().map(|lagged| self.state.hub.subscribe(lagged.topic()));
                        self.doubtful = true;
                    }
                    Heard::Closed => return Fed::Behind,
                },
            }
        }
    }

    /// An event as it is for this listener; `None`: it can't be known at the moment whether it is told to them.
    async fn as_seen(&self, told: Arc<Told>) -> Option<Arc<Told>> {
        let audience = self.state.audiences.of(self.topic.kind).ok()?;
        if !audience.is_for_some(&told.kind) || audience.tells(self.caller, &told).await.ok()? {
            return Some(told);
        }
        let Told { topic, offset, at, .. } = *told;
        Some(Arc::new(Told { topic, offset, at, kind: WITHHELD.into(), data: "{}".into(), request: WITHHELD.into() }))
    }

    fn hand(&mut self, told: Arc<Told>) -> Fed {
        self.cursor = told.offset;
        self.doubtful |= changes_standing(&told);
        Fed::Told(told)
    }

    /// Goes on from where the listener stood; `None`: that is no place of this topic, or too long ago.
    async fn recover(&mut self, since: Since) -> Result<Option<Beginning>, Failure> {
        let own = self.state.hub.subscribe(self.topic);
        let Some(page) = self.read(since.offset).await.map_err(Failure::from)? else { return Ok(None) };
        let is_same = since.epoch.is_none_or(|epoch| epoch == page.epoch);
        if !is_same || since.offset > page.last || !page.follows(since.offset) {
            return Ok(None);
        }
        self.epoch = page.epoch;
        self.cursor = since.offset;
        self.take(page, own);
        Ok(Some(Beginning { epoch: self.epoch, offset: since.offset, snapshot: None }))
    }

    async fn afresh(&mut self) -> Result<Beginning, Failure> {
        let mut own = self.state.hub.subscribe(self.topic);
        let audience = self.state.audiences.of(self.topic.kind)?;
        let snapshot = audience.snapshot(self.topic.id).await?;
        self.epoch = self.find_epoch().await.map_err(Failure::from)?;
        self.cursor = snapshot.offset;
        own.after(snapshot.offset);
        self.own = Some(own);
        Ok(Beginning { epoch: self.epoch, offset: snapshot.offset, snapshot: Some(snapshot) })
    }

    /// A topic without any event yet gets its epoch here, so that its first listeners can come back too.
    async fn find_epoch(&self) -> Result<Id<Epoch>, Failed> {
        let topic = self.topic;
        let head = self.state.db.read(move |conn| Box::pin(events::head(conn, topic))).await?;
        match head {
            Some((epoch, _)) => Ok(epoch),
            None => self.state.db.write(move |conn| Box::pin(events::open(conn, topic))).await,
        }
    }

    /// Whether the table has all that comes after the cursor; then it is taken.
    async fn catch_up(&mut self) -> Result<bool, Failed> {
        let own = self.state.hub.subscribe(self.topic);
        match self.read(self.cursor).await? {
            Some(page) if page.epoch == self.epoch && page.follows(self.cursor) => {
                self.take(page, own);
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// Of a full page there is more in the table; listening would only fill the buffer meanwhile.
    fn take(&mut self, page: Page, mut own: Subscription) {
        if !page.is_full() {
            own.after(page.events.last().map_or(self.cursor, |told| told.offset));
            self.own = Some(own);
        }
        self.missed = page.events.into_iter().map(Arc::new).collect();
    }

    async fn read(&self, after: u64) -> Result<Option<Page>, Failed> {
        let topic = self.topic;
        let read = async move |conn: &mut Conn| {
            let Some((epoch, last)) = events::head(conn, topic).await? else { return Ok::<_, Failed>(None) };
            let events = events::read_after(conn, topic, after, PAGE).await?;
            Ok(Some(Page { epoch, last, events }))
        };
        self.state.db.read(move |conn| Box::pin(conn.transaction(read))).await
    }

    /// Whether the listener still may; `false`: it can't be known at the moment.
    async fn admitted(&self) -> Result<bool, Failure> {
        let audience = self.state.audiences.of(self.topic.kind)?;
        match audience.admit(self.caller, self.topic.id).await {
            Ok(_) => Ok(true),
            Err(failure) if failure.code == Code::SERVICE_UNAVAILABLE => Ok(false),
            Err(failure) => Err(failure),
        }
    }

    /// The topic has not what comes next: since the thing is gone, or since nobody kept it so long.
    async fn lost(&self) -> Fed {
        match self.admitted().await {
            Err(refused) => Fed::Refused(refused),
            Ok(_) => Fed::Behind,
        }
    }
}

fn changes_standing(told: &Told) -> bool {
    CHANGES_OF_STANDING.contains(&&*told.kind)
}

async fn hear(standing: &mut Option<Subscription>) -> Heard {
    match standing {
        Some(standing) => standing.next().await,
        None => std::future::pending().await,
    }
}
