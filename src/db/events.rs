//! Events as rows: what a push is a copy of. Offsets rise by one within a topic, from 1.
//!
//! Call [`append`] as late as possible in a write: it locks the topic's row until COMMIT.

use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use actors::live::{RequestId, Told, Topic};
use actors::time::Time;
use diesel::sql_types::{BigInt, Text as SqlText};
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, QueryableByName, Selectable};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::Db;
use super::conn::{Columns, Conn, RunQueryDsl, many};
use super::failed::Failed;
use super::schema::{events, topics};
use super::sql::{At, Key};
use super::sweep::{PAGE, in_pages};

/// One incarnation of a topic's numbering: an offset means something only together with it.
#[derive(Debug, Clone, Copy)]
pub enum Epoch {}

/// At least as many events of a topic are kept, however old. Never fewer: the index of long topics counts on it.
pub const KEPT_EVENTS: i64 = 10_000;
/// At least this long is every event kept.
pub const KEPT_FOR: Duration = Duration::from_secs(7 * 24 * 60 * 60);

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = events)]
struct EventRow {
    topic: String,
    position: i64,
    kind: String,
    data: String,
    at: At,
    request_id: String,
}

#[derive(Insertable)]
#[diesel(table_name = topics)]
struct TopicRow {
    topic: String,
    epoch: Key<Epoch>,
    last: i64,
}

/// Adds an event with the topic's next offset.
///
/// # Errors
/// The database's own.
pub async fn append(
    conn: &mut Conn,
    topic: Topic,
    kind: &str,
    data: &str,
    at: Time,
    request: &RequestId,
) -> Result<Told, Failed> {
    let first = TopicRow { topic: topic.to_string(), epoch: Key(Id::draw()), last: 1 };
    let position: i64 = diesel::insert_into(topics::table)
        .values(&first)
        .on_conflict(topics::topic)
        .do_update()
        .set(topics::last.eq(topics::last + 1))
        .returning(topics::last)
        .get_result(conn)
        .await?;
    insert(conn, topic, position, kind, data, at, request).await
}

/// Adds an event with an offset that the caller numbers: a live thing's revision.
///
/// # Errors
/// `Violated(Unique)`: the offset is taken, by another writer of the same thing. Else the database's own.
pub async fn append_at(
    conn: &mut Conn,
    topic: Topic,
    offset: u64,
    kind: &str,
    data: &str,
    at: Time,
    request: &RequestId,
) -> Result<Told, Failed> {
    let told = insert(conn, topic, position(offset)?, kind, data, at, request).await?;
    end_at(conn, topic, offset).await?;
    Ok(told)
}

/// Adds several events with offsets that the caller numbers; after the last of a topic's, [`end_at`] is owed.
///
/// # Errors
/// As [`append_at`].
pub async fn put_all(conn: &mut Conn, told: &[Told]) -> Result<(), Failed> {
    let row = |told: &Told| {
        Ok(EventRow {
            topic: told.topic.to_string(),
            position: position(told.offset)?,
            kind: told.kind.to_string(),
            data: told.data.to_string(),
            at: At(told.at),
            request_id: told.request.to_string(),
        })
    };
    let rows: Vec<EventRow> = told.iter().map(row).collect::<Result<_, Failed>>()?;
    many!(conn, &rows, |some| diesel::insert_into(events::table).values(some));
    Ok(())
}

/// Says that the topic ends at that offset.
///
/// # Errors
/// The database's own.
pub async fn end_at(conn: &mut Conn, topic: Topic, offset: u64) -> Result<(), Failed> {
    let last = position(offset)?;
    let first = TopicRow { topic: topic.to_string(), epoch: Key(Id::draw()), last };
    diesel::insert_into(topics::table)
        .values(&first)
        .on_conflict(topics::topic)
        .do_update()
        .set(topics::last.eq(last))
        .execute(conn)
        .await?;
    Ok(())
}

/// The events after an offset in their order, at most `limit` of them.
///
/// # Errors
/// The database's own, or a row that can't be.
pub async fn read_after(conn: &mut Conn, topic: Topic, after: u64, limit: u32) -> Result<Vec<Told>, Failed> {
    let rows: Vec<EventRow> = events::table
        .filter(events::topic.eq(topic.to_string()))
        // No event is beyond the largest offset there can be.
        .filter(events::position.gt(i64::try_from(after).unwrap_or(i64::MAX)))
        .order(events::position.asc())
        .limit(i64::from(limit))
        .select(EventRow::columns())
        .load(conn)
        .await?;
    rows.into_iter().map(|row| told(topic, row)).collect()
}

/// The topic's epoch and last offset; `None`: nothing was ever told there.
///
/// # Errors
/// The database's own, or a row that can't be.
pub async fn head(conn: &mut Conn, topic: Topic) -> Result<Option<(Id<Epoch>, u64)>, Failed> {
    let row: Option<(Key<Epoch>, i64)> =
        topics::table.find(topic.to_string()).select((topics::epoch, topics::last)).first(conn).await.optional()?;
    row.map(|(epoch, last)| Ok((epoch.0, offset(topic, last)?))).transpose()
}

/// The topic's epoch; a topic where nothing was told yet gets one.
///
/// # Errors
/// The database's own.
pub async fn open(conn: &mut Conn, topic: Topic) -> Result<Id<Epoch>, Failed> {
    let first = TopicRow { topic: topic.to_string(), epoch: Key(Id::draw()), last: 0 };
    diesel::insert_into(topics::table).values(&first).on_conflict_do_nothing().execute(conn).await?;
    let epoch: Key<Epoch> = topics::table.find(topic.to_string()).select(topics::epoch).first(conn).await?;
    Ok(epoch.0)
}

/// The first offset that is still kept; `None`: none is.
///
/// # Errors
/// The database's own, or a row that can't be.
pub async fn oldest(conn: &mut Conn, topic: Topic) -> Result<Option<u64>, Failed> {
    let first: Option<i64> = events::table
        .filter(events::topic.eq(topic.to_string()))
        .order(events::position.asc())
        .select(events::position)
        .first(conn)
        .await
        .optional()?;
    first.map(|first| offset(topic, first)).transpose()
}

/// Drops of every topic what is both older than [`KEPT_FOR`] and beyond [`KEPT_EVENTS`], page by page; gives how many. A topic
/// that fails is logged, and the next one has its turn.
///
/// # Errors
/// The database's own: the topics can't be told.
pub async fn prune(db: &Db, now: Time, stopping: &CancellationToken) -> Result<usize, Failed> {
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
                Err(error) => tracing::warn!(topic, %error, "events could not be pruned; it comes again"),
            }
        }
    }
}

/// By the index of long topics: in its own words, as a bound number would not be known to be the same.
pub(super) const LONG_TOPICS: &str = "SELECT DISTINCT topic FROM events WHERE position % 10000 = 0 AND topic > $1 \
                                      ORDER BY topic LIMIT $2";

#[derive(QueryableByName)]
struct LongTopic {
    #[diesel(sql_type = SqlText)]
    topic: String,
}

/// The topics after one in their order that may have more than [`KEPT_EVENTS`].
async fn long_topics(conn: &mut Conn, after: String, most: i64) -> Result<Vec<String>, Failed> {
    let long = diesel::sql_query(LONG_TOPICS).bind::<SqlText, _>(after).bind::<BigInt, _>(most);
    let long: Vec<LongTopic> = match conn {
        Conn::Pg(pg) => diesel_async::RunQueryDsl::load(long, &mut **pg).await?,
        Conn::Sqlite(lite) => diesel_async::RunQueryDsl::load(long, lite).await?,
    };
    Ok(long.into_iter().map(|long| long.topic).collect())
}

/// Drops a topic's oldest events as far as they are both older than [`KEPT_FOR`] and beyond [`KEPT_EVENTS`], at most so many.
/// Answers how many.
///
/// # Errors
/// The database's own.
pub async fn forget_old(conn: &mut Conn, topic: &str, now: Time, most: i64) -> Result<usize, Failed> {
    let last: Option<i64> = topics::table.find(topic).select(topics::last).first(conn).await.optional()?;
    let Some(last) = last else { return Ok(0) };
    // Up to the first that is young, which all that follow are too: no more rows are looked at than go.
    let oldest: Vec<(i64, At)> = events::table
        .filter(events::topic.eq(topic))
        .filter(events::position.le(last.saturating_sub(KEPT_EVENTS)))
        .order(events::position.asc())
        .limit(most)
        .select((events::position, events::at))
        .load(conn)
        .await?;
    let old = oldest.into_iter().take_while(|(_, at)| at.0 < now - KEPT_FOR).last();
    let Some((until, _)) = old else { return Ok(0) };
    let gone = events::table.filter(events::topic.eq(topic)).filter(events::position.le(until));
    Ok(diesel::delete(gone).execute(conn).await?)
}

/// Drops a topic's oldest events, at most so many, and with the last of them the topic: for what is deleted. Answers how many.
///
/// # Errors
/// The database's own.
pub async fn forget(conn: &mut Conn, topic: Topic, most: i64) -> Result<usize, Failed> {
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

/// A place among all events, in the order of topics and offsets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    pub topic: String,
    pub position: i64,
}

/// What an event told, and where it stands.
#[derive(Debug, QueryableByName)]
pub struct Text {
    #[diesel(sql_type = SqlText)]
    pub topic: String,
    #[diesel(sql_type = BigInt)]
    pub position: i64,
    #[diesel(sql_type = SqlText)]
    pub data: String,
}

/// As a value of two columns, which is found in the index at once: with an `OR`, which Diesel would write, all rows before it
/// would be looked at again for each page.
pub(super) const TEXTS_AFTER: &str = "SELECT topic, position, data FROM events WHERE (topic, position) > ($1, $2) \
                                      ORDER BY topic, position LIMIT $3";

/// The texts of all events after a place, in the order of topics and offsets.
///
/// # Errors
/// The database's own.
pub async fn texts_after(conn: &mut Conn, place: &Place, limit: i64) -> Result<Vec<Text>, Failed> {
    let page = diesel::sql_query(TEXTS_AFTER)
        .bind::<SqlText, _>(&place.topic)
        .bind::<BigInt, _>(place.position)
        .bind::<BigInt, _>(limit);
    Ok(match conn {
        Conn::Pg(pg) => diesel_async::RunQueryDsl::load(page, &mut **pg).await?,
        Conn::Sqlite(lite) => diesel_async::RunQueryDsl::load(page, lite).await?,
    })
}

/// Puts another text in an event's place: what it told of somebody is to be forgotten. False: it is no longer what it was.
///
/// # Errors
/// The database's own.
pub async fn replace(conn: &mut Conn, event: &Text, data: String) -> Result<bool, Failed> {
    let same = diesel::update(events::table.find((&event.topic, event.position))).filter(events::data.eq(&event.data));
    Ok(same.set(events::data.eq(data)).execute(conn).await? == 1)
}

async fn insert(
    conn: &mut Conn,
    topic: Topic,
    position: i64,
    kind: &str,
    data: &str,
    at: Time,
    request: &RequestId,
) -> Result<Told, Failed> {
    let row = EventRow {
        topic: topic.to_string(),
        position,
        kind: kind.to_owned(),
        data: data.to_owned(),
        at: At(at),
        request_id: request.to_string(),
    };
    diesel::insert_into(events::table).values(&row).execute(conn).await?;
    told(topic, row)
}

fn told(topic: Topic, row: EventRow) -> Result<Told, Failed> {
    Ok(Told {
        topic,
        offset: offset(topic, row.position)?,
        kind: Arc::from(row.kind),
        data: Arc::from(row.data),
        at: row.at.0,
        request: Arc::from(row.request_id),
    })
}

fn offset(topic: Topic, position: i64) -> Result<u64, Failed> {
    u64::try_from(position).map_err(|_negative| Failed::Broken(format!("the topic {topic} has the offset {position}")))
}

fn position(offset: u64) -> Result<i64, Failed> {
    i64::try_from(offset).map_err(|_huge| Failed::Broken(format!("{offset} is no offset")))
}
