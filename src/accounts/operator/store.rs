//! Queries of `colloquy admin` on accounts, and of who is an operator.

use std::collections::HashMap;

use actors::ids::{Id, User};
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use serde::Serialize;

use crate::db::schema::{sessions, users};
use crate::db::{Conn, DbError, RunQueryDsl};

/// An account, with a summary of its sessions.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccountListItem {
    pub id: Id<User>,
    pub email: String,
    pub full_name: String,
    pub job_title: Option<String>,
    pub language: String,
    pub is_operator: bool,
    pub created_at: Time,
    /// The number of active sessions.
    pub sessions: i64,
    /// When one of them was last created or refreshed.
    pub last_used_at: Option<Time>,
}

type Row = (Id<User>, String, String, Option<String>, String, bool, Time);

pub async fn list(conn: &mut Conn, after: Id<User>, limit: i64, now: Time) -> Result<Vec<AccountListItem>, DbError> {
    let rows: Vec<Row> = users::table
        .filter(users::deleted_at.is_null())
        .filter(users::id.gt(after))
        .order(users::id.asc())
        .limit(limit)
        .select((
            users::id,
            users::email,
            users::full_name,
            users::job_title,
            users::language,
            users::is_operator,
            users::created_at,
        ))
        .load(conn)
        .await?;
    let shown: Vec<Id<User>> = rows.iter().map(|row| row.0).collect();
    let active: Vec<(Id<User>, i64, Option<Time>)> = sessions::table
        .filter(sessions::user_id.eq_any(&shown))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(now))
        .group_by(sessions::user_id)
        .select((sessions::user_id, diesel::dsl::count(sessions::id), diesel::dsl::max(sessions::last_used_at)))
        .load(conn)
        .await?;
    let active: HashMap<Id<User>, (i64, Option<Time>)> =
        active.into_iter().map(|(id, count, last)| (id, (count, last))).collect();
    let listed = |(id, email, full_name, job_title, language, is_operator, created_at): Row| {
        let (sessions, last) = active.get(&id).copied().unwrap_or((0, None));
        AccountListItem {
            id,
            email,
            full_name,
            job_title,
            language,
            is_operator,
            created_at,
            sessions,
            last_used_at: last,
        }
    };
    Ok(rows.into_iter().map(listed).collect())
}

/// Sets whether an account is an operator. Returns whether that was a change.
pub async fn set_operator(conn: &mut Conn, id: Id<User>, is_operator: bool, now: Time) -> Result<bool, DbError> {
    let other = users::table.find(id).filter(users::deleted_at.is_null()).filter(users::is_operator.ne(is_operator));
    let set = (users::is_operator.eq(is_operator), users::updated_at.eq(now));
    Ok(diesel::update(other).set(set).execute(conn).await? == 1)
}

/// Returns whether an account is an operator; false if it was deleted.
pub async fn is_operator(conn: &mut Conn, id: Id<User>) -> Result<bool, DbError> {
    let standing = users::table.find(id).filter(users::deleted_at.is_null());
    let found: Option<bool> = standing.select(users::is_operator).first(conn).await.optional()?;
    Ok(found.unwrap_or(false))
}
