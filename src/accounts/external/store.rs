//! Queries for linked accounts at providers, and for the one-time codes after a log-in there.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::time::Time;
use diesel::{ExpressionMethods, JoinOnDsl, OptionalExtension, QueryDsl};

use crate::db::schema::{external_logins, login_codes, users};
use crate::db::sweep::Retention;
use crate::db::{Conn, DbError, RunQueryDsl};

/// Returns the account that is linked to an account at a provider, unless it was deleted.
pub async fn linked(conn: &mut Conn, issuer: &str, subject: &str) -> Result<Option<Id<User>>, DbError> {
    Ok(external_logins::table
        .inner_join(users::table.on(users::id.eq(external_logins::user_id)))
        .filter(external_logins::issuer.eq(issuer))
        .filter(external_logins::subject.eq(subject))
        .filter(users::deleted_at.is_null())
        .select(users::id)
        .first(conn)
        .await
        .optional()?)
}

/// Links an account at a provider to an account here; a former link, to a deleted account, is replaced.
pub async fn link(conn: &mut Conn, issuer: &str, subject: &str, user_id: Id<User>, now: Time) -> Result<(), DbError> {
    diesel::delete(external_logins::table.find((issuer, subject))).execute(conn).await?;
    let row = (
        external_logins::issuer.eq(issuer.to_owned()),
        external_logins::subject.eq(subject.to_owned()),
        external_logins::user_id.eq(user_id),
        external_logins::linked_at.eq(now),
    );
    diesel::insert_into(external_logins::table).values(row).execute(conn).await?;
    Ok(())
}

/// A one-time code as it is stored.
pub struct LoginCode {
    pub code_hash: String,
    pub user_id: Id<User>,
    /// Empty for the code of a login link, which needs no verifier.
    pub code_challenge: String,
    pub expires_at: Time,
}

pub async fn insert_code(conn: &mut Conn, code: LoginCode) -> Result<(), DbError> {
    let row = (
        login_codes::code_hash.eq(code.code_hash),
        login_codes::user_id.eq(code.user_id),
        login_codes::code_challenge.eq(code.code_challenge),
        login_codes::expires_at.eq(code.expires_at),
    );
    diesel::insert_into(login_codes::table).values(row).execute(conn).await?;
    Ok(())
}

/// Deletes and returns a code in one statement, so that of any number of identical requests exactly one gets it.
pub async fn take_code(conn: &mut Conn, code_hash: &str) -> Result<Option<LoginCode>, DbError> {
    let columns = (login_codes::code_hash, login_codes::user_id, login_codes::code_challenge, login_codes::expires_at);
    let taken = diesel::delete(login_codes::table.find(code_hash)).returning(columns);
    let taken: Option<(String, Id<User>, String, Time)> = taken.get_result(conn).await.optional()?;
    Ok(taken.map(|(code_hash, user_id, code_challenge, expires_at)| LoginCode {
        code_hash,
        user_id,
        code_challenge,
        expires_at,
    }))
}

/// Deletes the pending log-in codes of an account.
///
/// # Errors
/// Returns the database error.
pub async fn forget_codes(conn: &mut Conn, user_id: Id<User>) -> Result<(), DbError> {
    diesel::delete(login_codes::table.filter(login_codes::user_id.eq(user_id))).execute(conn).await?;
    Ok(())
}

/// Sweep: deletes expired codes.
pub const RETENTION: Retention =
    Retention { table: "login_codes", key: "code_hash", at: "expires_at", period: Duration::ZERO };
