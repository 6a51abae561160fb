//! What is left of a person in invitations, and how it goes with their account.

use std::collections::HashSet;

use actors::ids::{self, Id, User};
use actors::meeting::Meeting;
use diesel::dsl::{exists, not};
use diesel::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl};

use crate::db::schema::{meeting_invitations, participants, users};
use crate::db::sweep::Part;
use crate::db::{Conn, Failed, Key, ROWS, RunQueryDsl};

/// Somebody's place in a meeting.
pub type Place = (Id<Meeting>, Id<ids::Participant>);

/// Drops invitations to an address, at most so many; gives how many, and the places of those who came by their links and are no
/// account there.
pub async fn forget_address(conn: &mut Conn, email: &str, most: i64) -> Result<(usize, Vec<Place>), Failed> {
    let of_address = meeting_invitations::table.filter(meeting_invitations::email.eq(email.to_owned()));
    let some: Vec<Key<ids::Invitation>> =
        of_address.order(meeting_invitations::id.asc()).limit(most).select(meeting_invitations::id).load(conn).await?;
    let (mut gone, mut guests) = (0, HashSet::new());
    for some in some.chunks(ROWS) {
        let these = || meeting_invitations::table.filter(meeting_invitations::id.eq_any(some.to_vec()));
        let places: Vec<(Key<Meeting>, Key<ids::Participant>)> = these()
            .inner_join(participants::table.on(participants::id.eq(meeting_invitations::participant_id)))
            .filter(participants::user_id.is_null())
            .select((participants::meeting_id, participants::id))
            .load(conn)
            .await?;
        guests.extend(places.into_iter().map(|(meeting, place)| (meeting.0, place.0)));
        gone += diesel::delete(these()).execute(conn).await?;
    }
    Ok((gone, guests.into_iter().collect()))
}

/// Whether more than so many invitations went to an address.
pub async fn has_more_than(conn: &mut Conn, email: &str, few: i64) -> Result<bool, Failed> {
    let of_address = meeting_invitations::table.filter(meeting_invitations::email.eq(email.to_owned()));
    let beyond: Option<Key<ids::Invitation>> = of_address
        .order(meeting_invitations::id.asc())
        .offset(few)
        .select(meeting_invitations::id)
        .first(conn)
        .await
        .optional()?;
    Ok(beyond.is_some())
}

/// The invitations that name an account, whatever address they went to.
pub const OF_ACCOUNT: Part = Part { table: "meeting_invitations", key: "id", of: "user_id" };

/// The addresses that an account was asked at, but those of other accounts: links are passed on.
pub async fn addresses(conn: &mut Conn, user_id: Id<User>) -> Result<Vec<String>, Failed> {
    let of_account = meeting_invitations::table
        .filter(meeting_invitations::user_id.eq(Some(Key(user_id))))
        .filter(not(exists(users::table.filter(users::email.eq(meeting_invitations::email)))));
    Ok(of_account.select(meeting_invitations::email).distinct().load(conn).await?)
}
