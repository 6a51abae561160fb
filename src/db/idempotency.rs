//! The rows behind Idempotency-Key: which request holds a key, and the response stored under it.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::time::Time;
use diesel::{ExpressionMethods, Insertable, OptionalExtension, QueryDsl, Queryable, Selectable};

use super::conn::{Columns, Conn, RunQueryDsl};
use super::error::DbError;
use super::kept::kept;
use super::schema::idempotency_keys;
use super::sweep::{Part, Retention};

#[derive(Queryable, Selectable, Insertable)]
#[diesel(table_name = idempotency_keys)]
struct KeyRow {
    scope: String,
    body_hash: String,
    resource_id: Id<()>,
    lease_until: Time,
    status: Option<i64>,
    etag: Option<String>,
    body: Option<String>,
    created_at: Time,
    user_id: Option<Id<User>>,
}

/// The result of a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredClaim {
    /// Run the request; the resource that it creates gets this id.
    Mine {
        new_id: Id<()>,
    },
    /// Another request holds the key.
    Busy,
    /// The key was used with another body.
    Other,
    Answered {
        status: u16,
        etag: Option<String>,
        body: String,
    },
}

/// A request to claim a key.
#[derive(Debug, Clone, Copy)]
pub struct KeyRequest<'a> {
    pub scope: &'a str,
    /// The account that owns the key: the key is deleted with it. `None` for a guest.
    pub user_id: Option<Id<User>>,
    pub body_hash: &'a str,
    pub new_id: Id<()>,
}

/// Claims a key, or takes over one whose lease has expired (with the id that was generated for the first claim).
///
/// # Errors
/// Returns the database error.
pub async fn claim(
    conn: &mut Conn,
    KeyRequest { scope, user_id, body_hash, new_id }: KeyRequest<'_>,
    now: Time,
    lease_until: Time,
    forget_before: Time,
) -> Result<StoredClaim, DbError> {
    diesel::delete(idempotency_keys::table.find(scope))
        .filter(idempotency_keys::created_at.lt(forget_before))
        .execute(conn)
        .await?;
    let row = KeyRow {
        scope: scope.to_owned(),
        body_hash: body_hash.to_owned(),
        resource_id: new_id,
        lease_until,
        status: None,
        etag: None,
        body: None,
        created_at: now,
        user_id,
    };
    let taken =
        diesel::insert_into(idempotency_keys::table).values(&row).on_conflict_do_nothing().execute(conn).await?;
    if taken == 1 {
        return Ok(StoredClaim::Mine { new_id });
    }
    let found = idempotency_keys::table.find(scope).select(KeyRow::columns()).first(conn).await.optional()?;
    let Some(found): Option<KeyRow> = found else { return Ok(StoredClaim::Busy) };
    if found.body_hash != body_hash {
        return Ok(StoredClaim::Other);
    }
    if let (Some(status), Some(body)) = (found.status, found.body) {
        let status =
            u16::try_from(status).map_err(|_| DbError::Broken(format!("a stored response has the status {status}")))?;
        return Ok(StoredClaim::Answered { status, etag: found.etag, body });
    }
    let over = diesel::update(idempotency_keys::table.find(scope))
        .filter(idempotency_keys::lease_until.le(now))
        .filter(idempotency_keys::status.is_null())
        .set(idempotency_keys::lease_until.eq(lease_until));
    Ok(if kept(over).execute(conn).await? == 1 {
        StoredClaim::Mine { new_id: found.resource_id }
    } else {
        StoredClaim::Busy
    })
}

/// Stores the response.
///
/// # Errors
/// Returns the database error.
pub async fn answered(
    conn: &mut Conn,
    scope: &str,
    status: u16,
    etag: Option<&str>,
    body: &str,
) -> Result<(), DbError> {
    let answered = diesel::update(idempotency_keys::table.find(scope)).set((
        idempotency_keys::status.eq(Some(i64::from(status))),
        idempotency_keys::etag.eq(etag.map(str::to_owned)),
        idempotency_keys::body.eq(Some(body.to_owned())),
    ));
    kept(answered).execute(conn).await?;
    Ok(())
}

/// Releases a key whose request is to be retried. Its row stays, with its id: the effect may have happened.
///
/// # Errors
/// Returns the database error.
pub async fn release(conn: &mut Conn, scope: &str) -> Result<(), DbError> {
    diesel::update(idempotency_keys::table.find(scope))
        .set(idempotency_keys::lease_until.eq(idempotency_keys::created_at))
        .execute(conn)
        .await?;
    Ok(())
}

/// The keys of an account, with the stored responses.
pub const OF_ACCOUNT: Part = Part { table: "idempotency_keys", key: "scope", of: "user_id" };

/// Returns the stored responses of all keys after `scope`, ordered by key.
///
/// # Errors
/// Returns the database error.
pub async fn answers_after(conn: &mut Conn, scope: &str, limit: i64) -> Result<Vec<(String, Option<String>)>, DbError> {
    let page = idempotency_keys::table.filter(idempotency_keys::scope.gt(scope));
    let page = page.order(idempotency_keys::scope.asc()).limit(limit);
    Ok(page.select((idempotency_keys::scope, idempotency_keys::body)).load(conn).await?)
}

/// Replaces a stored response, to erase personal data from it. Returns false when it has changed since it was read.
///
/// # Errors
/// Returns the database error.
pub async fn rewrite(conn: &mut Conn, scope: &str, before: &str, body: String) -> Result<bool, DbError> {
    let same = diesel::update(idempotency_keys::table.find(scope)).filter(idempotency_keys::body.eq(Some(before)));
    Ok(same.set(idempotency_keys::body.eq(Some(body))).execute(conn).await? == 1)
}

/// Keys whose storage time has passed.
#[must_use]
pub const fn retention(period: Duration) -> Retention {
    Retention { table: "idempotency_keys", key: "scope", at: "created_at", period }
}
