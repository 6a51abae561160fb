//! Events as rows: what a push is a copy of. Offsets rise by one within a topic, from 1.
//!
//! Call [`append`] as late as possible in a write: it locks the topic's row until COMMIT.

use std::sync::Arc;
use std::time::Duration;

use actors::ids::Id;
use actors::live::{RequestId, Told, Topic};
use actors::time::Time;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable,
};

use super::conn::{Columns, Conn, RunQueryDsl, many};
use super::failed::Failed;
use super::schema::{events, topics};
use super::sql::{At, Key};

/// One incarnation of a topic's numbering: an offset means something only together with it.
#[derive(Debug, Clone, Copy)]
pub enum Epoch {}

/// At least as many events of a topic are kept, however old.
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

/// Writes what was told of a topic anew where `edit` has another text for it: for what must be forgotten.
///
/// # Errors
/// The database's own, or a row that can't be.
pub async fn rewrite(conn: &mut Conn, topic: Topic, edit: impl Fn(&str) -> Option<String>) -> Result<(), Failed> {
    const PAGE: u32 = 256;
    let mut after = 0;
    loop {
        let page = read_after(conn, topic, after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.offset;
        for told in &page {
            let Some(data) = edit(&told.data) else { continue };
            let row = events::table.find((topic.to_string(), position(told.offset)?));
            diesel::update(row).set(events::data.eq(data)).execute(conn).await?;
        }
    }
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

/// Drops a topic's events that are both older than [`KEPT_FOR`] and beyond [`KEPT_EVENTS`]. Answers how many.
///
/// # Errors
/// The database's own.
pub async fn forget_old(conn: &mut Conn, topic: Topic, now: Time) -> Result<usize, Failed> {
    let last: Option<i64> = topics::table.find(topic.to_string()).select(topics::last).first(conn).await.optional()?;
    let Some(last) = last else { return Ok(0) };
    let gone = diesel::delete(
        events::table
            .filter(events::topic.eq(topic.to_string()))
            .filter(events::position.le(last.saturating_sub(KEPT_EVENTS)))
            .filter(events::at.lt(At(now - KEPT_FOR))),
    );
    Ok(gone.execute(conn).await?)
}

/// Drops a topic with all its events: for what is deleted.
///
/// # Errors
/// The database's own.
pub async fn forget(conn: &mut Conn, topic: Topic) -> Result<(), Failed> {
    diesel::delete(events::table.filter(events::topic.eq(topic.to_string()))).execute(conn).await?;
    diesel::delete(topics::table.find(topic.to_string())).execute(conn).await?;
    Ok(())
}

/// The texts of all events after a place, in the order of topics and offsets.
///
/// # Errors
/// The database's own.
pub async fn texts_after(
    conn: &mut Conn,
    (topic, position): &(String, i64),
    limit: i64,
) -> Result<Vec<(String, i64, String)>, Failed> {
    let further = events::topic.gt(topic).or(events::topic.eq(topic).and(events::position.gt(position)));
    let page = events::table.filter(further).order((events::topic.asc(), events::position.asc())).limit(limit);
    Ok(page.select((events::topic, events::position, events::data)).load(conn).await?)
}

/// Puts another text in an event's place: what it told of somebody is to be forgotten.
///
/// # Errors
/// The database's own.
pub async fn replace(conn: &mut Conn, topic: &str, position: i64, data: String) -> Result<(), Failed> {
    diesel::update(events::table.find((topic, position))).set(events::data.eq(data)).execute(conn).await?;
    Ok(())
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
