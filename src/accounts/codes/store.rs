//! Queries for one-time codes: one row per address and purpose.

use std::time::Duration;

use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};

use super::super::model::CodePurpose;
use crate::db::schema::codes;
use crate::db::sweep::Retention;
use crate::db::{Conn, DbError, RunQueryDsl};

/// Stores the hash of a code; an older code of the same address and purpose is deleted.
pub async fn replace(
    conn: &mut Conn,
    email: &str,
    purpose: CodePurpose,
    hash: &str,
    tries: i64,
    expires_at: Time,
) -> Result<(), DbError> {
    diesel::delete(codes::table.find((email, purpose))).execute(conn).await?;
    let row = (
        codes::email.eq(email.to_owned()),
        codes::purpose.eq(purpose),
        codes::code_hash.eq(hash.to_owned()),
        codes::tries_left.eq(tries),
        codes::expires_at.eq(expires_at),
    );
    diesel::insert_into(codes::table).values(row).execute(conn).await?;
    Ok(())
}

/// Uses one attempt of a code; returns its hash if an attempt was left and the code has not expired. The caller
/// compares the hash, and deletes the code if it was right.
pub async fn take_try(
    conn: &mut Conn,
    email: &str,
    purpose: CodePurpose,
    now: Time,
) -> Result<Option<String>, DbError> {
    let tried = diesel::update(codes::table.find((email, purpose)))
        .filter(codes::tries_left.gt(0))
        .filter(codes::expires_at.gt(now))
        .set(codes::tries_left.eq(codes::tries_left - 1))
        .returning(codes::code_hash);
    Ok(tried.get_result(conn).await.optional()?)
}

pub async fn delete(conn: &mut Conn, email: &str, purpose: CodePurpose) -> Result<(), DbError> {
    diesel::delete(codes::table.find((email, purpose))).execute(conn).await?;
    Ok(())
}

/// Sweep: deletes expired codes.
pub const RETENTION: Retention =
    Retention { table: "codes", key: "email, purpose", at: "expires_at", period: Duration::ZERO };
