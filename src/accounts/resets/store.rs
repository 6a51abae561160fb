//! Queries for reset tokens: one row per account.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use crate::db::schema::reset_tokens;
use crate::db::sweep::Retention;
use crate::db::{Conn, DbError, RunQueryDsl};

/// Stores the hash of a token; an older one of the account is deleted.
pub async fn replace(conn: &mut Conn, user_id: Id<User>, token_hash: &str, expires_at: Time) -> Result<(), DbError> {
    diesel::delete(reset_tokens::table.find(user_id)).execute(conn).await?;
    let row = (
        reset_tokens::user_id.eq(user_id),
        reset_tokens::token_hash.eq(token_hash.to_owned()),
        reset_tokens::expires_at.eq(expires_at),
    );
    diesel::insert_into(reset_tokens::table).values(row).execute(conn).await?;
    Ok(())
}

/// Returns the account of a token, unless the token has expired.
pub async fn owner(conn: &mut Conn, token_hash: &str, now: Time) -> Result<Option<Id<User>>, DbError> {
    let valid =
        reset_tokens::table.filter(reset_tokens::token_hash.eq(token_hash)).filter(reset_tokens::expires_at.gt(now));
    Ok(valid.select(reset_tokens::user_id).first(conn).await.optional()?)
}

/// Deletes a token on use. Returns false if it was used already or has expired.
pub async fn take(conn: &mut Conn, user_id: Id<User>, token_hash: &str, now: Time) -> Result<bool, DbError> {
    let valid = reset_tokens::table
        .find(user_id)
        .filter(reset_tokens::token_hash.eq(token_hash))
        .filter(reset_tokens::expires_at.gt(now));
    Ok(diesel::delete(valid).execute(conn).await? == 1)
}

/// Sweep: deletes expired tokens.
pub const RETENTION: Retention =
    Retention { table: "reset_tokens", key: "user_id", at: "expires_at", period: Duration::ZERO };
