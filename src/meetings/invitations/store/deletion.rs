//! Deletes invitations of a deleted account, and finds other addresses and guests that belong to it.

use std::collections::HashSet;

use actors::ids::{self, Id, User};
use actors::meeting::Meeting;
use diesel::dsl::{exists, not};
use diesel::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl};

use crate::db::schema::{meeting_invitations, participants, users};
use crate::db::sweep::Part;
use crate::db::{Conn, DbError, ROWS, RunQueryDsl};

/// A participant of a meeting.
pub type MeetingParticipantIds = (Id<Meeting>, Id<ids::Participant>);

/// Deletes at most `most` invitations to an address. Returns their number, and the participants who joined by their
/// links without an account.
pub async fn forget_address(
    conn: &mut Conn,
    email: &str,
    most: i64,
) -> Result<(usize, Vec<MeetingParticipantIds>), DbError> {
    let of_address = meeting_invitations::table.filter(meeting_invitations::email.eq(email.to_owned()));
    let some: Vec<Id<ids::Invitation>> =
        of_address.order(meeting_invitations::id.asc()).limit(most).select(meeting_invitations::id).load(conn).await?;
    let (mut gone, mut guests) = (0, HashSet::new());
    for some in some.chunks(ROWS) {
        let these = || meeting_invitations::table.filter(meeting_invitations::id.eq_any(some.to_vec()));
        let joined: Vec<(Id<Meeting>, Id<ids::Participant>)> = these()
            .inner_join(participants::table.on(participants::id.eq(meeting_invitations::participant_id)))
            .filter(participants::user_id.is_null())
            .select((participants::meeting_id, participants::id))
            .load(conn)
            .await?;
        guests.extend(joined);
        gone += diesel::delete(these()).execute(conn).await?;
    }
    Ok((gone, guests.into_iter().collect()))
}

/// Whether there are more than `few` invitations to an address.
pub async fn has_more_than(conn: &mut Conn, email: &str, few: i64) -> Result<bool, DbError> {
    let of_address = meeting_invitations::table.filter(meeting_invitations::email.eq(email.to_owned()));
    let beyond: Option<Id<ids::Invitation>> = of_address
        .order(meeting_invitations::id.asc())
        .offset(few)
        .select(meeting_invitations::id)
        .first(conn)
        .await
        .optional()?;
    Ok(beyond.is_some())
}

/// The invitations that name an account, whatever address they were sent to.
pub const OF_ACCOUNT: Part = Part { table: "meeting_invitations", key: "id", of: "user_id" };

/// Returns the addresses under which an account was invited, except for those of accounts: a link may have been passed
/// on by the account that it was sent to.
pub async fn addresses(conn: &mut Conn, user_id: Id<User>) -> Result<Vec<String>, DbError> {
    let of_account = meeting_invitations::table
        .filter(meeting_invitations::user_id.eq(Some(user_id)))
        .filter(not(exists(users::table.filter(users::email.eq(meeting_invitations::email)))));
    Ok(of_account.select(meeting_invitations::email).distinct().load(conn).await?)
}
