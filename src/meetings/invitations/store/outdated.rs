//! Finds the invitees whose calendar entry shows an older version of the meeting.

use actors::ids::{self, Id};
use actors::meeting::Meeting;
use actors::time::Time;
use diesel::sql_types::Bool;
use diesel::{BoolExpressionMethods, ExpressionMethods, IntoSql, NullableExpressionMethods, QueryDsl};

use super::super::model::Invitation;
use super::{Row, all};
use crate::db::schema::meeting_invitations;
use crate::db::{Columns, Conn, DbError, RunQueryDsl};

/// Finds one invitation of a meeting, if there is any.
#[diesel::dsl::auto_type(no_type_alias)]
pub fn any(meeting_id: Id<Meeting>) -> _ {
    let of_meeting = meeting_invitations::table.filter(meeting_invitations::meeting_id.eq(meeting_id));
    of_meeting.select(meeting_invitations::id).limit(1_i64)
}

/// Returns at most `most` invitations whose newest calendar entry has an older version of the meeting and which are to
/// get a newer one: accepted ones, and open ones that have not expired. With `revoked_since`, also those that were
/// revoked at that time or later.
pub async fn find(
    conn: &mut Conn,
    meeting: &Meeting,
    revoked_since: Option<Time>,
    now: Time,
    most: i64,
) -> Result<Vec<Invitation>, DbError> {
    use meeting_invitations as m;
    let all_revoked = revoked_since.is_some();
    let since = revoked_since.unwrap_or(now);
    let outdated = m::table
        .filter(m::meeting_id.eq(meeting.id))
        .filter(m::ics_sequence.lt(i64::try_from(meeting.version).unwrap_or(i64::MAX)))
        .filter(m::declined_at.is_null())
        .filter(
            m::revoked_at
                .is_null()
                .and(m::accepted_at.is_not_null().or(m::expires_at.gt(now)))
                .or(all_revoked.into_sql::<Bool>().and(m::revoked_at.assume_not_null().ge(since))),
        );
    all(outdated.order(m::id.asc()).limit(most).select(Row::columns()).load(conn).await?)
}

/// Stores the version of the meeting that was sent last.
pub async fn set_sequence(conn: &mut Conn, id: Id<ids::Invitation>, version: u64) -> Result<(), DbError> {
    let sequence = i64::try_from(version).unwrap_or(i64::MAX);
    let row = meeting_invitations::table.find(id);
    diesel::update(row).set(meeting_invitations::ics_sequence.eq(sequence)).execute(conn).await?;
    Ok(())
}
