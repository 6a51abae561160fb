//! Queries of `colloquy admin` on accounts, and of who is an operator.

use std::collections::HashMap;

use actors::ids::{Id, User};
use actors::time::Time;
use diesel::{ExpressionMethods, OptionalExtension, QueryDsl};
use serde::Serialize;

use crate::db::schema::{sessions, users};
use crate::db::{At, Conn, DbError, Key, RunQueryDsl};

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

type Row = (Key<User>, String, String, Option<String>, String, bool, At);

pub async fn list(conn: &mut Conn, after: Id<User>, limit: i64, now: Time) -> Result<Vec<AccountListItem>, DbError> {
    let rows: Vec<Row> = users::table
        .filter(users::deleted_at.is_null())
        .filter(users::id.gt(Key(after)))
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
    let shown: Vec<Key<User>> = rows.iter().map(|row| row.0).collect();
    let active: Vec<(Key<User>, i64, Option<At>)> = sessions::table
        .filter(sessions::user_id.eq_any(&shown))
        .filter(sessions::revoked_at.is_null())
        .filter(sessions::expires_at.gt(At(now)))
        .group_by(sessions::user_id)
        .select((sessions::user_id, diesel::dsl::count(sessions::id), diesel::dsl::max(sessions::last_used_at)))
        .load(conn)
        .await?;
    let active: HashMap<Id<User>, (i64, Option<At>)> =
        active.into_iter().map(|(id, count, last)| (id.0, (count, last))).collect();
    let listed = |(id, email, full_name, job_title, language, is_operator, created_at): Row| {
        let (sessions, last) = active.get(&id.0).copied().unwrap_or((0, None));
        AccountListItem {
            id: id.0,
            email,
            full_name,
            job_title,
            language,
            is_operator,
            created_at: created_at.0,
            sessions,
            last_used_at: last.map(|at| at.0),
        }
    };
    Ok(rows.into_iter().map(listed).collect())
}

/// Sets whether an account is an operator. Returns whether that was a change.
pub async fn set_operator(conn: &mut Conn, id: Id<User>, is_operator: bool, now: Time) -> Result<bool, DbError> {
    let other =
        users::table.find(Key(id)).filter(users::deleted_at.is_null()).filter(users::is_operator.ne(is_operator));
    let set = (users::is_operator.eq(is_operator), users::updated_at.eq(At(now)));
    Ok(diesel::update(other).set(set).execute(conn).await? == 1)
}

/// Returns whether an account is an operator; false if it was deleted.
pub async fn is_operator(conn: &mut Conn, id: Id<User>) -> Result<bool, DbError> {
    let standing = users::table.find(Key(id)).filter(users::deleted_at.is_null());
    let found: Option<bool> = standing.select(users::is_operator).first(conn).await.optional()?;
    Ok(found.unwrap_or(false))
}
