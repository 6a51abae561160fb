//! The query behind the list of accounts of `colloquy admin`.

use std::collections::HashMap;

use actors::ids::{Id, User};
use actors::time::Time;
use diesel::{ExpressionMethods, QueryDsl};
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
    pub created_at: Time,
    /// The number of active sessions.
    pub sessions: i64,
    /// When one of them was last created or refreshed.
    pub last_used_at: Option<Time>,
}

type Row = (Key<User>, String, String, Option<String>, String, At);

pub async fn list(conn: &mut Conn, after: Id<User>, limit: i64, now: Time) -> Result<Vec<AccountListItem>, DbError> {
    let rows: Vec<Row> = users::table
        .filter(users::deleted_at.is_null())
        .filter(users::id.gt(Key(after)))
        .order(users::id.asc())
        .limit(limit)
        .select((users::id, users::email, users::full_name, users::job_title, users::language, users::created_at))
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
    let listed = |(id, email, full_name, job_title, language, created_at): Row| {
        let (sessions, last) = active.get(&id.0).copied().unwrap_or((0, None));
        AccountListItem {
            id: id.0,
            email,
            full_name,
            job_title,
            language,
            created_at: created_at.0,
            sessions,
            last_used_at: last.map(|at| at.0),
        }
    };
    Ok(rows.into_iter().map(listed).collect())
}
