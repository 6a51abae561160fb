//! The event journal: the rows that published events are copies of. Offsets rise by one within a topic, from 1.
//!
//! Call [`append`] as late as possible in a write: it locks the topic's row until COMMIT.

use std::sync::Arc;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::Id;
use actors::live::{EventRecord, RequestId, Topic};
use actors::time::Time;
use diesel::sql_types::{BigInt, Text as SqlText};
use diesel::upsert::excluded;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, QueryableByName, Selectable};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::Db;
use super::at_once::{in_order, kept_parts};
use super::conn::{AtOnce, Columns, Conn, RunQueryDsl, each};
use super::error::DbError;
use super::kept::kept;
use super::schema::{events, topics};
use super::sweep::{PAGE, in_pages};

/// One incarnation of a topic's numbering: an offset is meaningful only together with it.
#[derive(Debug, Clone, Copy)]
pub enum Epoch {}

/// A topic keeps at least this many events, however old. Never lower it: the index of long topics depends on it.
pub const RETAINED_EVENTS: i64 = 10_000;
/// Every event is stored for at least this long.
pub const RETAINED_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = events)]
struct EventRow {
    topic: String,
    position: i64,
    kind: EventKind,
    data: String,
    at: Time,
    request_id: String,
}

#[derive(Insertable)]
#[diesel(table_name = topics)]
struct TopicRow {
    topic: String,
    epoch: Id<Epoch>,
    last: i64,
}

/// Sets the last offset of topics, and creates those of first events.
macro_rules! advance_to {
    ($heads:expr) => {
        kept(
            diesel::insert_into(topics::table)
                .values($heads)
                .on_conflict(topics::topic)
                .do_update()
                .set(topics::last.eq(excluded(topics::last))),
        )
    };
}

/// Appends an event with the topic's next offset.
///
/// # Errors
/// Returns the database error.
pub async fn append(
    conn: &mut Conn,
    topic: Topic,
    kind: EventKind,
    data: &str,
    at: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let first = TopicRow { topic: topic.to_string(), epoch: Id::generate(), last: 1 };
    let advance = diesel::insert_into(topics::table)
        .values(&first)
        .on_conflict(topics::topic)
        .do_update()
        .set(topics::last.eq(topics::last + 1))
        .returning(topics::last);
    let position: i64 = kept(advance).get_result(conn).await?;
    insert(conn, topic, position, kind, data, at, request).await
}

/// Events whose offsets were chosen by the caller: the revisions of live entities.
pub struct ChosenOffsets {
    rows: Vec<EventRow>,
    /// The last event of each topic.
    heads: Vec<TopicRow>,
}

impl ChosenOffsets {
    /// The events of a topic must follow each other.
    ///
    /// # Errors
    /// `Broken` when an offset is too large.
    pub fn of<'r>(records: impl IntoIterator<Item = &'r EventRecord>) -> Result<Self, DbError> {
        let (mut rows, mut heads) = (Vec::new(), Vec::<TopicRow>::new());
        for record in records {
            let row = EventRow {
                topic: record.topic.to_string(),
                position: position(record.offset)?,
                kind: record.kind,
                data: record.data.to_string(),
                at: record.at,
                request_id: record.request.to_string(),
            };
            match heads.last_mut() {
                Some(head) if head.topic == row.topic => head.last = row.position,
                _ => heads.push(TopicRow { topic: row.topic.clone(), epoch: Id::generate(), last: row.position }),
            }
            rows.push(row);
        }
        Ok(Self { rows, heads })
    }

    /// Appends them. On PostgreSQL that is one round trip, which other statements may share.
    ///
    /// # Errors
    /// `Violated(Unique)` when another writer of the same entity has used an offset; otherwise the database error.
    pub async fn append(&self, conn: AtOnce<'_>) -> Result<(), DbError> {
        match conn {
            AtOnce::Pg(pg) => {
                let inserts = kept_parts(&self.rows).map(async |some| {
                    let insert = kept(diesel::insert_into(events::table).values(some));
                    diesel_async::RunQueryDsl::execute(insert, &mut &*pg).await
                });
                let advances = kept_parts(&self.heads)
                    .map(async |some| diesel_async::RunQueryDsl::execute(advance_to!(some), &mut &*pg).await);
                // A failed INSERT fails the others as well, so its error counts.
                let (inserted, advanced) = tokio::join!(biased; in_order(inserts), in_order(advances));
                inserted.into_iter().chain(advanced).try_for_each(|done| done.map(|_| ()))?;
            }
            AtOnce::Sqlite(lite) => {
                for row in &self.rows {
                    let insert = diesel::insert_into(events::table).values(row);
                    lite.run(|conn| diesel::RunQueryDsl::execute(insert, conn)).await?;
                }
                for head in &self.heads {
                    lite.run(|conn| diesel::RunQueryDsl::execute(advance_to!(head), conn)).await?;
                }
            }
        }
        Ok(())
    }
}

/// Returns the events after an offset, in order, at most `limit` of them.
///
/// # Errors
/// Returns the database error, or `Broken` for an invalid row.
pub async fn read_after(conn: &mut Conn, topic: Topic, after: u64, limit: u32) -> Result<Vec<EventRecord>, DbError> {
    let rows: Vec<EventRow> = events::table
        .filter(events::topic.eq(topic.to_string()))
        // No event is beyond the largest possible offset.
        .filter(events::position.gt(i64::try_from(after).unwrap_or(i64::MAX)))
        .order(events::position.asc())
        .limit(i64::from(limit))
        .select(EventRow::columns())
        .load(conn)
        .await?;
    rows.into_iter().map(|row| record_of(topic, row)).collect()
}

/// Returns the topic's epoch and last offset; `None` when the topic has no row yet.
///
/// # Errors
/// Returns the database error, or `Broken` for an invalid row.
pub async fn head(conn: &mut Conn, topic: Topic) -> Result<Option<(Id<Epoch>, u64)>, DbError> {
    let row: Option<(Id<Epoch>, i64)> =
        topics::table.find(topic.to_string()).select((topics::epoch, topics::last)).first(conn).await.optional()?;
    row.map(|(epoch, last)| Ok((epoch, offset(topic, last)?))).transpose()
}

/// Returns the topic's epoch; creates the topic when it has no events yet.
///
/// # Errors
/// Returns the database error.
pub async fn open(conn: &mut Conn, topic: Topic) -> Result<Id<Epoch>, DbError> {
    let first = TopicRow { topic: topic.to_string(), epoch: Id::generate(), last: 0 };
    diesel::insert_into(topics::table).values(&first).on_conflict_do_nothing().execute(conn).await?;
    let epoch: Id<Epoch> = topics::table.find(topic.to_string()).select(topics::epoch).first(conn).await?;
    Ok(epoch)
}

/// Returns the first offset that is still stored; `None` when no event is.
///
/// # Errors
/// Returns the database error, or `Broken` for an invalid row.
pub async fn oldest(conn: &mut Conn, topic: Topic) -> Result<Option<u64>, DbError> {
    let first: Option<i64> = events::table
        .filter(events::topic.eq(topic.to_string()))
        .order(events::position.asc())
        .select(events::position)
        .first(conn)
        .await
        .optional()?;
    first.map(|first| offset(topic, first)).transpose()
}

/// Deletes the events of every topic that are both older than [`RETAINED_FOR`] and beyond [`RETAINED_EVENTS`], page by
/// page; returns how many. A topic that fails is logged, and the next one follows.
///
/// # Errors
/// Returns the database error when the topics can't be listed.
pub async fn prune(db: &Db, now: Time, stopping: &CancellationToken) -> Result<usize, DbError> {
    let (mut after, mut all) = (String::new(), 0);
    loop {
        let topics = db.read(move |conn| Box::pin(long_topics(conn, after, PAGE))).await?;
        let Some(last) = topics.last() else { return Ok(all) };
        after = last.clone();
        for topic in topics {
            if stopping.is_cancelled() {
                return Ok(all);
            }
            let of = topic.clone();
            let pruned = in_pages(db, stopping, move |conn| {
                let topic = of.clone();
                Box::pin(async move { forget_old(conn, &topic, now, PAGE).await })
            });
            match pruned.await {
                Ok(pruned) => all += pruned,
                Err(error) => tracing::warn!(topic, %error, "old events could not be pruned; retrying later"),
            }
        }
    }
}

/// Uses the partial index of long topics: its condition must be literal, as the planner can't match a bound number to
/// it.
pub(super) const LONG_TOPICS: &str = "SELECT DISTINCT topic FROM events WHERE position % 10000 = 0 AND topic > $1 \
                                      ORDER BY topic LIMIT $2";

#[derive(QueryableByName)]
struct LongTopic {
    #[diesel(sql_type = SqlText)]
    topic: String,
}

/// Returns the topics after `after`, in order, that may have more than [`RETAINED_EVENTS`] events.
async fn long_topics(conn: &mut Conn, after: String, most: i64) -> Result<Vec<String>, DbError> {
    let long = diesel::sql_query(LONG_TOPICS).bind::<SqlText, _>(after).bind::<BigInt, _>(most);
    let long: Vec<LongTopic> = each!(conn, load, long)?;
    Ok(long.into_iter().map(|long| long.topic).collect())
}

/// Deletes a topic's oldest events that are both older than [`RETAINED_FOR`] and beyond [`RETAINED_EVENTS`], at most
/// `most` of them. Returns how many.
///
/// # Errors
/// Returns the database error.
pub async fn forget_old(conn: &mut Conn, topic: &str, now: Time, most: i64) -> Result<usize, DbError> {
    let last: Option<i64> = topics::table.find(topic).select(topics::last).first(conn).await.optional()?;
    let Some(last) = last else { return Ok(0) };
    // Up to the first young event: all that follow are young too.
    let oldest: Vec<(i64, Time)> = events::table
        .filter(events::topic.eq(topic))
        .filter(events::position.le(last.saturating_sub(RETAINED_EVENTS)))
        .order(events::position.asc())
        .limit(most)
        .select((events::position, events::at))
        .load(conn)
        .await?;
    let old = oldest.into_iter().take_while(|(_, at)| *at < now - RETAINED_FOR).last();
    let Some((until, _)) = old else { return Ok(0) };
    let gone = events::table.filter(events::topic.eq(topic)).filter(events::position.le(until));
    Ok(diesel::delete(gone).execute(conn).await?)
}

/// Deletes a topic's oldest events, at most `most` of them, and the topic with the last one: for a deleted resource.
/// Returns how many events.
///
/// # Errors
/// Returns the database error.
pub async fn forget(conn: &mut Conn, topic: Topic, most: i64) -> Result<usize, DbError> {
    let of_topic = || events::table.filter(events::topic.eq(topic.to_string()));
    let oldest: Vec<i64> =
        of_topic().order(events::position.asc()).limit(most).select(events::position).load(conn).await?;
    let gone = match oldest.last() {
        Some(until) => diesel::delete(of_topic().filter(events::position.le(*until))).execute(conn).await?,
        None => 0,
    };
    if oldest.len() < usize::try_from(most).unwrap_or(usize::MAX) {
        diesel::delete(topics::table.find(topic.to_string())).execute(conn).await?;
    }
    Ok(gone)
}

/// A position among all events, ordered by topic and offset.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventPosition {
    pub topic: String,
    pub position: i64,
}

/// The data of an event, and its position.
#[derive(Debug, QueryableByName)]
pub struct Text {
    #[diesel(sql_type = SqlText)]
    pub topic: String,
    #[diesel(sql_type = BigInt)]
    pub position: i64,
    #[diesel(sql_type = SqlText)]
    pub data: String,
}

/// A comparison of row values, which is one range of the index: with an `OR`, as Diesel would write it, each page would
/// scan all earlier rows again.
pub(super) const TEXTS_AFTER: &str = "SELECT topic, position, data FROM events WHERE (topic, position) > ($1, $2) \
                                      ORDER BY topic, position LIMIT $3";

/// Returns the data of all events after a position, ordered by topic and offset.
///
/// # Errors
/// Returns the database error.
pub async fn texts_after(conn: &mut Conn, position: &EventPosition, limit: i64) -> Result<Vec<Text>, DbError> {
    let page = diesel::sql_query(TEXTS_AFTER)
        .bind::<SqlText, _>(&position.topic)
        .bind::<BigInt, _>(position.position)
        .bind::<BigInt, _>(limit);
    Ok(each!(conn, load, page)?)
}

/// Replaces the data of an event, to erase personal data from it. Returns false when the event has changed since it was
/// read.
///
/// # Errors
/// Returns the database error.
pub async fn replace(conn: &mut Conn, event: &Text, data: String) -> Result<bool, DbError> {
    let same = diesel::update(events::table.find((&event.topic, event.position))).filter(events::data.eq(&event.data));
    Ok(same.set(events::data.eq(data)).execute(conn).await? == 1)
}

async fn insert(
    conn: &mut Conn,
    topic: Topic,
    position: i64,
    kind: EventKind,
    data: &str,
    at: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let row = EventRow {
        topic: topic.to_string(),
        position,
        kind,
        data: data.to_owned(),
        at,
        request_id: request.to_string(),
    };
    diesel::insert_into(events::table).values(&row).execute(conn).await?;
    record_of(topic, row)
}

fn record_of(topic: Topic, row: EventRow) -> Result<EventRecord, DbError> {
    Ok(EventRecord {
        topic,
        offset: offset(topic, row.position)?,
        kind: row.kind,
        data: Arc::from(row.data),
        at: row.at,
        request: Arc::from(row.request_id),
    })
}

fn offset(topic: Topic, position: i64) -> Result<u64, DbError> {
    u64::try_from(position).map_err(|_negative| DbError::Broken(format!("the topic {topic} has the offset {position}")))
}

fn position(offset: u64) -> Result<i64, DbError> {
    i64::try_from(offset).map_err(|_huge| DbError::Broken(format!("{offset} is not a valid offset")))
}
