//! Meetings as rows, with those of their participants and recordings. Written by the journal of the meeting, once they exist.

pub mod participants;
pub mod recordings;
mod row;

pub use row::{Row, broken};

use actors::ids::Id;
use actors::live::{Topic, TopicKind};
use actors::meeting::{Meeting, MeetingStatus};
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use crate::db::schema::meetings;
use crate::db::{Columns, Conn, DbError, RunQueryDsl};

/// Returns a meeting with its participants.
pub async fn find(conn: &mut Conn, id: Id<Meeting>) -> Result<Option<Meeting>, DbError> {
    // Both queries must see the same state, which SQLite and PostgreSQL alike guarantee only within a transaction.
    conn.transaction(async |conn| {
        let row = meetings::table.find(id).select(Row::columns()).first(conn).await.optional()?;
        let Some(row): Option<Row> = row else { return Ok(None) };
        let people = participants::of_meeting(conn, id).await?;
        let recordings = recordings::of_meetings(conn, &[id]).await?.remove(&id).unwrap_or_default();
        row.meeting(people, recordings).map(Some)
    })
    .await
}

/// As [`find`], but locks the meeting's row for a caller that writes rows that depend on the meeting: nobody else
/// writes the meeting, or such rows, until this transaction has ended.
pub async fn locked(conn: &mut Conn, id: Id<Meeting>) -> Result<Option<Meeting>, DbError> {
    let row = diesel::update(meetings::table.find(id));
    row.set(meetings::revision.eq(meetings::revision)).execute(conn).await?;
    find(conn, id).await
}

/// Returns several meetings with their participants; unknown ids are left out.
pub async fn find_all(conn: &mut Conn, ids: Vec<Id<Meeting>>) -> Result<Vec<Meeting>, DbError> {
    // As in `find`.
    conn.transaction(async |conn| {
        let rows = meetings::table.filter(meetings::id.eq_any(&ids)).select(Row::columns()).load(conn).await?;
        let rows: Vec<Row> = rows;
        let mut people = participants::of_meetings(conn, &ids).await?;
        let mut recordings = recordings::of_meetings(conn, &ids).await?;
        rows.into_iter()
            .map(|row| {
                let people = people.remove(&row.id).unwrap_or_default();
                let recordings = recordings.remove(&row.id).unwrap_or_default();
                row.meeting(people, recordings)
            })
            .collect()
    })
    .await
}

/// Inserts a new meeting; an existing one with the same id stays unchanged. Returns whether it was inserted.
pub async fn insert(conn: &mut Conn, meeting: &Meeting) -> Result<bool, DbError> {
    let row = Row::from(meeting);
    if diesel::insert_into(meetings::table).values(&row).on_conflict_do_nothing().execute(conn).await? == 0 {
        return Ok(false);
    }
    participants::save(conn, meeting.id, meeting.participants.values()).await?;
    Ok(true)
}

/// Returns the topic of a meeting's events.
#[must_use]
pub fn topic(id: Id<Meeting>) -> Topic {
    Topic { kind: TopicKind::Meeting, id: id.uuid() }
}

/// Returns the live meetings that have been empty since that time or longer.
pub async fn empty_since(conn: &mut Conn, since: Time, most: i64) -> Result<Vec<Id<Meeting>>, DbError> {
    let empty = meetings::table.filter(meetings::empty_since.is_not_null()).filter(meetings::empty_since.le(since));
    Ok(empty.select(meetings::id).limit(most).load(conn).await?)
}

/// Returns the live meetings that started at that time or before.
pub async fn live_since(conn: &mut Conn, since: Time, most: i64) -> Result<Vec<Id<Meeting>>, DbError> {
    let live = meetings::table.filter(meetings::status.eq(MeetingStatus::Live)).filter(meetings::started_at.le(since));
    Ok(live.select(meetings::id).limit(most).load(conn).await?)
}

/// Returns all live meetings.
pub async fn live(conn: &mut Conn) -> Result<Vec<Id<Meeting>>, DbError> {
    let live = meetings::table.filter(meetings::status.eq(MeetingStatus::Live)).select(meetings::id);
    Ok(live.load(conn).await?)
}
