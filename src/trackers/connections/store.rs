//! Connections as rows.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::time::Time;
use diesel::{
    BoolExpressionMethods, ExpressionMethods, Insertable, NullableExpressionMethods, OptionalExtension, QueryDsl,
    Queryable, Selectable,
};
use serde::Serialize;

use super::model::{Connecting, TrackerConnection, TrackerConnectionStatus};
use crate::clients::trackers::{TrackerProvider, TrackerSite};
use crate::db::schema::{pending_tracker_connections as pending, tracker_connections as table};
use crate::db::sweep::Retention;
use crate::db::{Columns, Conn, DbError, RunQueryDsl};

/// Sweep: deletes sign-ins that nobody completed.
pub const RETENTION: Retention =
    Retention { table: "pending_tracker_connections", key: "state_hash", at: "expires_at", period: Duration::ZERO };

#[derive(Debug, Clone, Queryable, Selectable, Insertable)]
#[diesel(table_name = table)]
struct Row {
    project_id: Id<ids::Project>,
    provider: TrackerProvider,
    status: TrackerConnectionStatus,
    generation: i64,
    site: Option<String>,
    sites: String,
    account_name: Option<String>,
    scopes: String,
    tokens: Option<String>,
    expires_at: Option<Time>,
    refreshing_until: Option<Time>,
    connected_by_id: Id<User>,
    connected_at: Time,
    last_error: Option<String>,
    polled_at: Time,
}

/// A connection with what only the server needs to know of it.
#[derive(Debug, Clone)]
pub struct StoredConnection {
    pub project_id: Id<ids::Project>,
    pub provider: TrackerProvider,
    /// Never PENDING, which is another table.
    pub status: TrackerConnectionStatus,
    pub generation: i64,
    pub site: Option<TrackerSite>,
    pub sites: Vec<TrackerSite>,
    pub account_name: Option<String>,
    pub scopes: Vec<String>,
    /// Sealed, see [`super::sealing`]; `None` once it was ended.
    pub tokens: Option<String>,
    /// Of the access token.
    pub expires_at: Option<Time>,
    pub connected_by_id: Id<User>,
    pub connected_at: Time,
    pub last_error: Option<String>,
}

fn json(value: &impl Serialize) -> Result<String, DbError> {
    serde_json::to_string(value).map_err(|error| DbError::Broken(error.to_string()))
}

impl StoredConnection {
    fn of(row: Row) -> Result<Self, DbError> {
        let broken = |what: &str| DbError::Broken(format!("a tracker connection has the {what}"));
        let unreadable = |_| broken("sites or scopes that can't be read");
        Ok(Self {
            project_id: row.project_id,
            provider: row.provider,
            status: row.status,
            generation: row.generation,
            site: row.site.as_deref().map(serde_json::from_str).transpose().map_err(unreadable)?,
            sites: serde_json::from_str(&row.sites).map_err(unreadable)?,
            account_name: row.account_name,
            scopes: serde_json::from_str(&row.scopes).map_err(unreadable)?,
            tokens: row.tokens,
            expires_at: row.expires_at,
            connected_by_id: row.connected_by_id,
            connected_at: row.connected_at,
            last_error: row.last_error,
        })
    }

    fn row(&self) -> Result<Row, DbError> {
        Ok(Row {
            project_id: self.project_id,
            provider: self.provider,
            status: self.status,
            generation: self.generation,
            site: self.site.as_ref().map(json).transpose()?,
            sites: json(&self.sites)?,
            account_name: self.account_name.clone(),
            scopes: json(&self.scopes)?,
            tokens: self.tokens.clone(),
            expires_at: self.expires_at,
            refreshing_until: None,
            connected_by_id: self.connected_by_id,
            connected_at: self.connected_at,
            last_error: self.last_error.clone(),
            polled_at: self.connected_at,
        })
    }

    /// The connection as clients see it; `is_pending`: somebody has begun to connect the project.
    #[must_use]
    pub fn shown(self, is_pending: bool) -> TrackerConnection {
        let is_off = self.status == TrackerConnectionStatus::Disconnected;
        let status = if is_off && is_pending { TrackerConnectionStatus::Pending } else { self.status };
        TrackerConnection {
            provider: Some(self.provider),
            status,
            site: self.site.filter(|_| !is_off),
            available_sites: if is_off { Vec::new() } else { self.sites },
            account_name: self.account_name.filter(|_| !is_off),
            scopes: if is_off { Vec::new() } else { self.scopes },
            connected_by_id: Some(self.connected_by_id),
            connected_at: Some(self.connected_at),
            last_error: self.last_error,
        }
    }
}

pub async fn find(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<Option<StoredConnection>, DbError> {
    let row: Option<Row> = table::table.find(project_id).select(Row::columns()).first(conn).await.optional()?;
    row.map(StoredConnection::of).transpose()
}

/// Returns a project's connection as clients see it.
pub async fn shown(conn: &mut Conn, project_id: Id<ids::Project>, now: Time) -> Result<TrackerConnection, DbError> {
    let begun: Option<TrackerProvider> = pending::table
        .filter(pending::project_id.eq(project_id))
        .filter(pending::expires_at.gt(now))
        .order(pending::expires_at.desc())
        .select(pending::provider)
        .first(conn)
        .await
        .optional()?;
    if let Some(stored) = find(conn, project_id).await? {
        return Ok(stored.shown(begun.is_some()));
    }
    let Some(provider) = begun else { return Ok(TrackerConnection::none()) };
    let status = TrackerConnectionStatus::Pending;
    Ok(TrackerConnection { provider: Some(provider), status, ..TrackerConnection::none() })
}

/// Inserts a connection, or replaces the former one. Its generation is one that the project never had.
pub async fn put(conn: &mut Conn, connection: &StoredConnection) -> Result<(), DbError> {
    diesel::delete(table::table.find(connection.project_id)).execute(conn).await?;
    diesel::insert_into(table::table).values(connection.row()?).execute(conn).await?;
    Ok(())
}

/// Saves which site was chosen, and whose account it is there.
pub async fn choose_site(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    site: &TrackerSite,
    account_name: &str,
) -> Result<(), DbError> {
    let chosen = (table::site.eq(json(site)?), table::account_name.eq(account_name.to_owned()));
    diesel::update(table::table.find(project_id)).set(chosen).execute(conn).await?;
    Ok(())
}

/// Claims the right to refresh the tokens of a generation, until `until`. Returns false if another process has it, or the
/// tokens are others already.
pub async fn claim_refresh(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    generation: i64,
    now: Time,
    until: Time,
) -> Result<bool, DbError> {
    let free = table::refreshing_until.is_null().or(table::refreshing_until.lt(now).assume_not_null());
    let own = table::table.filter(table::project_id.eq(project_id)).filter(table::generation.eq(generation));
    let claimed = diesel::update(own.filter(free)).set(table::refreshing_until.eq(until)).execute(conn).await?;
    Ok(claimed == 1)
}

/// Gives the right to refresh back.
pub async fn release_refresh(conn: &mut Conn, project_id: Id<ids::Project>, generation: i64) -> Result<(), DbError> {
    let own = table::table.filter(table::project_id.eq(project_id)).filter(table::generation.eq(generation));
    diesel::update(own).set(table::refreshing_until.eq(None::<Time>)).execute(conn).await?;
    Ok(())
}

/// Replaces the tokens of a generation by those of the next. Returns false if they are others already: nothing is changed.
pub async fn renew(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    generation: i64,
    sealed: &str,
    expires_at: Option<Time>,
) -> Result<bool, DbError> {
    let own = table::table.filter(table::project_id.eq(project_id)).filter(table::generation.eq(generation));
    let renewed = (
        table::generation.eq(generation + 1),
        table::tokens.eq(sealed.to_owned()),
        table::expires_at.eq(expires_at),
        table::refreshing_until.eq(None::<Time>),
    );
    Ok(diesel::update(own).set(renewed).execute(conn).await? == 1)
}

/// Marks the connection as one that has to be made again, unless its tokens are others already. Returns whether it was
/// changed.
pub async fn need_reauth(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    generation: i64,
    why: &str,
) -> Result<bool, DbError> {
    let own = table::table
        .filter(table::project_id.eq(project_id))
        .filter(table::generation.eq(generation))
        .filter(table::status.eq(TrackerConnectionStatus::Active));
    let changed = (
        table::status.eq(TrackerConnectionStatus::NeedsReauth),
        table::last_error.eq(why.to_owned()),
        table::refreshing_until.eq(None::<Time>),
    );
    Ok(diesel::update(own).set(changed).execute(conn).await? == 1)
}

/// Ends a connection: erases its tokens, and what was begun. The row stays, so that no generation comes twice.
pub async fn disconnect(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<(), DbError> {
    let own = table::table.find(project_id);
    let ended = (
        table::status.eq(TrackerConnectionStatus::Disconnected),
        table::generation.eq(table::generation + 1),
        table::tokens.eq(None::<String>),
        table::expires_at.eq(None::<Time>),
        table::refreshing_until.eq(None::<Time>),
        table::last_error.eq(None::<String>),
    );
    diesel::update(own).set(ended).execute(conn).await?;
    diesel::delete(pending::table.filter(pending::project_id.eq(project_id))).execute(conn).await?;
    Ok(())
}

/// The projects whose issues were not asked for since a time, the longest first, and marks them as asked for now.
pub async fn claim_polls(
    conn: &mut Conn,
    before: Time,
    now: Time,
    most: i64,
) -> Result<Vec<Id<ids::Project>>, DbError> {
    let due =
        table::table.filter(table::status.eq(TrackerConnectionStatus::Active)).filter(table::polled_at.lt(before));
    let due: Vec<Id<ids::Project>> =
        due.order(table::polled_at.asc()).limit(most).select(table::project_id).load(conn).await?;
    let claimed = table::table.filter(table::project_id.eq_any(due.clone()));
    diesel::update(claimed).set(table::polled_at.eq(now)).execute(conn).await?;
    Ok(due)
}

/// A sign-in that was begun.
#[derive(Debug, Clone)]
pub struct PendingConnection {
    pub connecting: Connecting,
    pub browser_hash: String,
    /// The PKCE verifier, sealed.
    pub verifier: String,
    pub return_url: Option<String>,
    pub expires_at: Time,
}

/// Inserts a sign-in; what the same account began for the project before is void.
pub async fn begin(conn: &mut Conn, state_hash: &str, begun: &PendingConnection) -> Result<(), DbError> {
    let Connecting { project_id, user_id, provider } = begun.connecting;
    let former = pending::table.filter(pending::project_id.eq(project_id)).filter(pending::user_id.eq(user_id));
    diesel::delete(former).execute(conn).await?;
    let row = (
        pending::state_hash.eq(state_hash.to_owned()),
        pending::project_id.eq(project_id),
        pending::user_id.eq(user_id),
        pending::provider.eq(provider),
        pending::browser_hash.eq(begun.browser_hash.clone()),
        pending::verifier.eq(begun.verifier.clone()),
        pending::return_url.eq(begun.return_url.clone()),
        pending::expires_at.eq(begun.expires_at),
    );
    diesel::insert_into(pending::table).values(row).execute(conn).await?;
    Ok(())
}

type PendingRow = (Id<ids::Project>, Id<User>, TrackerProvider, String, String, Option<String>, Time);

/// Deletes and returns a sign-in in one statement, so that of any number of identical requests exactly one gets it.
pub async fn take_pending(conn: &mut Conn, state_hash: &str) -> Result<Option<PendingConnection>, DbError> {
    let columns = (
        pending::project_id,
        pending::user_id,
        pending::provider,
        pending::browser_hash,
        pending::verifier,
        pending::return_url,
        pending::expires_at,
    );
    let taken = diesel::delete(pending::table.find(state_hash.to_owned())).returning(columns);
    let taken: Option<PendingRow> = taken.get_result(conn).await.optional()?;
    let Some((project_id, user_id, provider, browser_hash, verifier, return_url, expires_at)) = taken else {
        return Ok(None);
    };
    let connecting = Connecting { project_id, user_id, provider };
    Ok(Some(PendingConnection { connecting, browser_hash, verifier, return_url, expires_at }))
}
