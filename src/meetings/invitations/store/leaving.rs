//! What is left of a person in invitations, and how it goes with their account.

use actors::ids::{self, Id, User};
use actors::meeting::Meeting;
use diesel::dsl::{exists, not};
use diesel::{ExpressionMethods, JoinOnDsl, QueryDsl};

use crate::db::schema::{meeting_invitations, participants, users};
use crate::db::{Conn, Failed, Key, RunQueryDsl};

/// The places of those who came by the links to an address and are no account there.
pub async fn guests(conn: &mut Conn, email: &str) -> Result<Vec<(Id<Meeting>, Id<ids::Participant>)>, Failed> {
    let places: Vec<(Key<Meeting>, Key<ids::Participant>)> = meeting_invitations::table
        .inner_join(participants::table.on(participants::id.eq(meeting_invitations::participant_id)))
        .filter(meeting_invitations::email.eq(email.to_owned()))
        .filter(participants::user_id.is_null())
        .select((participants::meeting_id, participants::id))
        .distinct()
        .load(conn)
        .await?;
    Ok(places.into_iter().map(|(meeting, place)| (meeting.0, place.0)).collect())
}

/// The addresses that an account was asked at, but those of other accounts: links are passed on.
pub async fn addresses(conn: &mut Conn, user_id: Id<User>) -> Result<Vec<String>, Failed> {
    let of_account = meeting_invitations::table
        .filter(meeting_invitations::user_id.eq(Some(Key(user_id))))
        .filter(not(exists(users::table.filter(users::email.eq(meeting_invitations::email)))));
    Ok(of_account.select(meeting_invitations::email).distinct().load(conn).await?)
}

/// Drops every invitation to an address.
pub async fn forget_address(conn: &mut Conn, email: &str) -> Result<(), Failed> {
    let of_address = meeting_invitations::table.filter(meeting_invitations::email.eq(email.to_owned()));
    diesel::delete(of_address).execute(conn).await?;
    Ok(())
}

/// Drops every invitation that names an account, whatever address it went to.
pub async fn forget_account(conn: &mut Conn, user_id: Id<User>) -> Result<(), Failed> {
    let of_account = meeting_invitations::table.filter(meeting_invitations::user_id.eq(Some(Key(user_id))));
    diesel::delete(of_account).execute(conn).await?;
    Ok(())
}
