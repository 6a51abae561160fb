//! Queries for sessions.

use std::time::Duration;

use actors::ids::{Id, Session, User};
use actors::time::Time;
use diesel::dsl::not;
use diesel::sql_types::Bool;
use diesel::{BoolExpressionMethods, ExpressionMethods, IntoSql, OptionalExtension, QueryDsl};

use super::issued::{FIRST, IssuedSession};
use super::model;
use crate::access::principal::Caller;
use crate::db::schema::sessions;
use crate::db::sweep::Retention;
use crate::db::{Conn, DbError, RunQueryDsl, kept, page_of};
use crate::http::envelope::List;
use crate::http::page::PageQuery;

/// Inserts a session. The calling transaction must hold the lock on the row of the account.
pub async fn insert(conn: &mut Conn, user_id: Id<User>, session: &IssuedSession) -> Result<(), DbError> {
    let row = (
        sessions::id.eq(session.id),
        sessions::user_id.eq(user_id),
        sessions::salt.eq(session.salt.clone()),
        sessions::counter.eq(FIRST),
        sessions::graced_counter.eq(0),
        sessions::device.eq(session.device.clone()),
        sessions::created_at.eq(session.now),
        sessions::last_used_at.eq(session.now),
        sessions::expires_at.eq(session.expires_at),
        sessions::revoked_at.eq(None::<Time>),
    );
    diesel::insert_into(sessions::table).values(row).execute(conn).await?;
    Ok(())
}

/// What a refresh token is compared with before anything is changed.
#[derive(Debug, Clone)]
pub struct RefreshState {
    pub salt: String,
    pub user_id: Id<User>,
    pub counter: i64,
    pub graced_counter: i64,
    pub last_used_at: Time,
}

/// Returns an active session; `None` when it has ended or does not exist.
pub async fn active(conn: &mut Conn, id: Id<Session>, now: Time) -> Result<Option<RefreshState>, DbError> {
    let found: Option<(String, Id<User>, i64, i64, Time)> = sessions::table
        .find(id)
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .select((
            sessions::salt,
            sessions::user_id,
            sessions::counter,
            sessions::graced_counter,
            sessions::last_used_at,
        ))
        .first(conn)
        .await
        .optional()?;
    Ok(found.map(|(salt, user, counter, graced_counter, last_used_at)| RefreshState {
        salt,
        user_id: user,
        counter,
        graced_counter,
        last_used_at,
    }))
}

/// How long after a rotation the previous token is accepted once more: the response may have been lost.
pub const GRACE: Duration = Duration::from_secs(30);

/// The result of presenting a refresh token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rotated {
    /// The session was refreshed and now has this counter.
    To(i64),
    /// The token was presented once more after its response was lost; its successor is the same as before.
    Again(i64),
    /// One of a burst of identical requests, neither valid nor stolen; or the session has ended.
    Refused,
    /// The token was copied: it is older than the previous one, or was presented after the grace period, or the token
    /// before it needed its grace too. The session was ended.
    Reused,
}

/// Rotates a session in one statement, so that of any number of identical requests exactly one succeeds.
pub async fn rotate(
    conn: &mut Conn,
    id: Id<Session>,
    presented: i64,
    now: Time,
    expires_at: Time,
) -> Result<Rotated, DbError> {
    let rotated = diesel::update(sessions::table.find(id))
        .filter(sessions::counter.eq(presented))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .set((
            sessions::counter.eq(sessions::counter + 1),
            sessions::last_used_at.eq(now),
            sessions::expires_at.eq(expires_at),
        ))
        .returning(sessions::counter);
    if let Some(counter) = kept(rotated).get_result::<i64>(conn).await.optional()? {
        return Ok(Rotated::To(counter));
    }
    // Its successor is the current counter, so it was never used: using it would have raised the counter. Two graces in
    // a row are not lost responses: a second client is using the session. (No token has the counter 0, so nothing
    // precedes the first.)
    let before = if presented > FIRST { presented - 1 } else { presented };
    let graced = diesel::update(sessions::table.find(id))
        .filter(sessions::counter.eq(presented.saturating_add(1)))
        .filter(sessions::last_used_at.gt(now - GRACE))
        .filter(sessions::graced_counter.ne(presented))
        .filter(sessions::graced_counter.ne(before))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .set(sessions::graced_counter.eq(presented))
        .returning(sessions::counter);
    if let Some(counter) = graced.get_result::<i64>(conn).await.optional()? {
        return Ok(Rotated::Again(counter));
    }
    let is_of_a_rush = sessions::counter
        .eq(presented.saturating_add(1))
        .and(sessions::graced_counter.eq(presented))
        .and(sessions::last_used_at.gt(now - GRACE));
    let stolen = diesel::update(sessions::table.find(id))
        .filter(sessions::counter.gt(presented))
        .filter(not(is_of_a_rush))
        .filter(sessions::revoked_at.is_null())
        .set(sessions::revoked_at.eq(Some(now)));
    Ok(if stolen.execute(conn).await? == 1 { Rotated::Reused } else { Rotated::Refused })
}

/// Records that a session was used, so that it lasts until `expires_at`. Returns whether it is still active. The time of the last
/// use begins the grace of the former refresh token too, which is therefore marked as used.
pub async fn extend(conn: &mut Conn, id: Id<Session>, now: Time, expires_at: Time) -> Result<bool, DbError> {
    let active = sessions::table.find(id).filter(sessions::revoked_at.is_null()).filter(sessions::expires_at.gt(now));
    let extended = diesel::update(active).set((
        sessions::last_used_at.eq(now),
        sessions::expires_at.eq(expires_at),
        sessions::graced_counter.eq(sessions::counter - 1),
    ));
    Ok(extended.execute(conn).await? == 1)
}

/// Which sessions of an account to end.
#[derive(Debug, Clone, Copy)]
pub enum SessionsToEnd {
    All,
    Only(Id<Session>),
    /// All but this one, the session of the request.
    Others(Id<Session>),
}

/// Ends sessions of an account; returns those that ended with this call. A transaction that ends all of them must hold
/// the lock on the row of the account.
pub async fn end(
    conn: &mut Conn,
    user_id: Id<User>,
    ending: SessionsToEnd,
    now: Time,
) -> Result<Vec<Id<Session>>, DbError> {
    let nobody = Id::from_uuid(uuid::Uuid::nil());
    let (only, but) = match ending {
        SessionsToEnd::All => (None, None),
        SessionsToEnd::Only(id) => (Some(id), None),
        SessionsToEnd::Others(id) => (None, Some(id)),
    };
    let is_wanted = only.is_none().into_sql::<Bool>().or(sessions::id.eq(only.unwrap_or(nobody)));
    let is_other = but.is_none().into_sql::<Bool>().or(sessions::id.ne(but.unwrap_or(nobody)));
    let of_account = sessions::table
        .filter(sessions::user_id.eq(user_id))
        .filter(sessions::revoked_at.is_null())
        .filter(is_wanted)
        .filter(is_other);
    let ended = diesel::update(of_account).set(sessions::revoked_at.eq(Some(now))).returning(sessions::id);
    Ok(ended.load(conn).await?)
}

type Row = (Id<Session>, String, Time, Time);

fn seen((id, device, created_at, last_used_at): Row, current: Id<Session>) -> model::Session {
    model::Session { id, device, created_at, last_used_at, current: id == current }
}

/// Lists the active sessions of an account, newest first.
pub async fn list(
    conn: &mut Conn,
    caller: Caller,
    page: PageQuery,
    now: Time,
) -> Result<List<model::Session>, DbError> {
    let active = sessions::table
        .filter(sessions::user_id.eq(caller.user_id))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now));
    let columns = (sessions::id, sessions::device, sessions::created_at, sessions::last_used_at);
    let (rows, total): (Vec<Row>, _) = page_of!(conn, page, active, sessions::id, columns);
    Ok(page.list(rows, total, |(id, ..)| id.uuid()).map(|row| seen(row, caller.session_id)))
}

/// Returns the account of an active session.
pub async fn owner(conn: &mut Conn, id: Id<Session>, now: Time) -> Result<Option<Id<User>>, DbError> {
    Ok(active(conn, id, now).await?.map(|session| session.user_id))
}

/// Sweep: deletes sessions one day after they expired or were revoked: by then their tokens are refused without the
/// row.
pub const RETENTION: [Retention; 2] = [ended("expires_at"), ended("revoked_at")];

const fn ended(at: &'static str) -> Retention {
    Retention { table: "sessions", key: "id", at, period: Duration::from_secs(24 * 60 * 60) }
}

/// Returns the sessions that were revoked since a given time: read at the start of a server, and by `endings`.
pub async fn ended_since(conn: &mut Conn, since: Time) -> Result<Vec<Id<Session>>, DbError> {
    Ok(sessions::table.filter(sessions::revoked_at.gt(Some(since))).select(sessions::id).load(conn).await?)
}
