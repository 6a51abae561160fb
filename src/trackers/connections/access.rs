//! Access to a project's tracker: with tokens that are refreshed when they are about to expire, by one process at a time.
//!
//! ```text
//! claim the refresh in the row -> call the tracker -> store the new tokens under the next generation -> use them
//! ```
//! New tokens are stored before anybody uses them, and only over those that they replace: who lost a race reads the winner's.
//! A claim ends by itself, so that a process that was killed in between delays the others and no more.

use std::sync::Arc;
use std::time::Duration;

use actors::event_kind::EventKind;
use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::time::Time;
use tokio::time::sleep;

use super::model::TrackerConnectionStatus;
use super::sealing::StoredLogin;
use super::store::{self, StoredConnection};
use crate::clients::trackers::http::CALL_LIMIT;
use crate::clients::trackers::{Tracker, TrackerAccess, TrackerError, TrackerLogin, TrackerProvider, TrackerSite};
use crate::db::{Conn, DbError, events};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects::events::topic;
use crate::trackers::providers::refused;
use crate::trackers::state::Trackers;

/// Tokens that expire within this time are refreshed first.
const MARGIN: Duration = Duration::from_secs(60);
/// How long a claim lasts: longer than a call and the write after it may take.
const CLAIM: Duration = Duration::from_secs(2 * CALL_LIMIT.as_secs());
/// How often the row is read while another process refreshes.
const POLL: Duration = Duration::from_millis(200);

/// A project's connection, with valid tokens.
struct ConnectedAccess {
    tracker: Arc<dyn Tracker>,
    connection: StoredConnection,
    login: TrackerLogin,
}

impl ConnectedAccess {
    /// Chooses a site: the one that is named, else the connection's.
    ///
    /// # Errors
    /// 422 on `siteId` if there are several and none is named, or the account may not use the named one.
    fn at(&self, site_id: Option<&str>) -> Result<TrackerAccess, ApiError> {
        let StoredConnection { site, sites, .. } = &self.connection;
        let chosen: Option<TrackerSite> = match site_id {
            Some(id) => sites.iter().find(|site| site.id == id).cloned(),
            None => site.clone().or_else(|| match sites.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            }),
        };
        let site = chosen.ok_or_else(|| {
            let names: Vec<&str> = sites.iter().map(|site| site.id.as_str()).collect();
            ApiError::at("siteId", Code::TRACKER_SITE_REQUIRED, format!("Name one of the sites: {}.", names.join(", ")))
        })?;
        Ok(TrackerAccess { login: self.login.clone(), site })
    }
}

/// Why a call of a tracker has no answer.
#[derive(Debug)]
pub enum CallError {
    /// What the tracker said, or that it said nothing.
    Tracker(TrackerError),
    /// The project has no access to it, or this server can't tell.
    Access(ApiError),
}

impl From<CallError> for ApiError {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Tracker(error) => refused(error),
            CallError::Access(error) => error,
        }
    }
}

/// A project's connection at one of its sites. A call whose tokens the tracker refuses is made once more with others; if it
/// refuses those as well, the project has to be connected again.
pub struct TrackerSession<'a> {
    state: &'a Trackers,
    request: RequestId,
    connected: ConnectedAccess,
    access: TrackerAccess,
}

impl<'a> TrackerSession<'a> {
    /// Opens the site that is named, else the connection's.
    ///
    /// # Errors
    /// As [`open`] and [`ConnectedAccess::at`].
    pub async fn open(
        state: &'a Trackers,
        project_id: Id<ids::Project>,
        site_id: Option<&str>,
        request: &RequestId,
    ) -> Result<Self, ApiError> {
        let connected = open(state, project_id, request).await?;
        let access = connected.at(site_id)?;
        Ok(Self { state, request: request.clone(), connected, access })
    }

    /// Opens a site of a provider. `None` if the project is connected to another provider.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_site(
        state: &'a Trackers,
        project_id: Id<ids::Project>,
        provider: TrackerProvider,
        site_id: &str,
        request: &RequestId,
    ) -> Result<Option<Self>, ApiError> {
        let connected = open(state, project_id, request).await?;
        if connected.connection.provider != provider {
            return Ok(None);
        }
        let access = connected.at(Some(site_id))?;
        Ok(Some(Self { state, request: request.clone(), connected, access }))
    }

    #[must_use]
    pub fn tracker(&self) -> &dyn Tracker {
        self.connected.tracker.as_ref()
    }

    #[must_use]
    pub const fn access(&self) -> &TrackerAccess {
        &self.access
    }

    #[must_use]
    pub const fn connection(&self) -> &StoredConnection {
        &self.connected.connection
    }

    /// Calls the tracker, and once more with other tokens if it refuses those that this server has.
    ///
    /// # Errors
    /// What the tracker answers, or why there is no access to it; that the project has to be connected again is saved then.
    pub async fn call<T, F, Fut>(&mut self, call: F) -> Result<T, CallError>
    where
        F: Fn(Arc<dyn Tracker>, TrackerAccess) -> Fut,
        Fut: Future<Output = Result<T, TrackerError>>,
    {
        match call(Arc::clone(&self.connected.tracker), self.access.clone()).await {
            Err(TrackerError::Unauthorized(why)) => tracing::info!(why, "a tracker refused the tokens of a project"),
            answered => return answered.map_err(CallError::Tracker),
        }
        self.reopen().await.map_err(CallError::Access)?;
        let answered = call(Arc::clone(&self.connected.tracker), self.access.clone()).await;
        if let Err(TrackerError::Unauthorized(_)) = &answered {
            self.need_reauth().await;
        }
        answered.map_err(CallError::Tracker)
    }

    /// Takes other tokens than those that the tracker refused.
    ///
    /// # Errors
    /// 409 if there are none; 502 if they could not be refreshed.
    pub async fn reopen(&mut self) -> Result<(), ApiError> {
        let StoredConnection { project_id, generation, .. } = self.connected.connection;
        let connected = renewed(self.state, project_id, Some(generation), &self.request).await?;
        self.access = connected.at(Some(&self.access.site.id))?;
        self.connected = connected;
        Ok(())
    }

    /// Saves that the project has to be connected again.
    pub async fn need_reauth(&self) {
        let why = "The tracker does not accept the connection any more.";
        if let Err(error) = need_reauth(self.state, &self.connected.connection, why, &self.request).await {
            tracing::warn!(cause = error.cause, "a refused connection could not be saved");
        }
    }
}

/// Returns access with valid tokens.
///
/// # Errors
/// 409 if the project is not connected, or has to be connected again; 502 if the tokens could not be refreshed.
async fn open(
    state: &Trackers,
    project_id: Id<ids::Project>,
    request: &RequestId,
) -> Result<ConnectedAccess, ApiError> {
    let (connection, stored) = opened(state, project_id, request).await?;
    if is_fresh(state, &connection) {
        return connected(state, connection, stored.login);
    }
    renewed(state, project_id, None, request).await
}

fn connected(state: &Trackers, connection: StoredConnection, login: TrackerLogin) -> Result<ConnectedAccess, ApiError> {
    Ok(ConnectedAccess { tracker: state.providers.of(connection.provider)?, connection, login })
}

fn is_fresh(state: &Trackers, connection: &StoredConnection) -> bool {
    connection.expires_at.is_none_or(|at| at > state.now() + MARGIN)
}

async fn opened(
    state: &Trackers,
    project_id: Id<ids::Project>,
    request: &RequestId,
) -> Result<(StoredConnection, StoredLogin), ApiError> {
    let found = state.db.read(move |conn| Box::pin(store::find(conn, project_id))).await;
    let found = found.map_err(|failed: DbError| ApiError::from(failed))?;
    let connection = found.ok_or_else(|| ApiError::of(Code::TRACKER_NOT_CONNECTED))?;
    match connection.status {
        TrackerConnectionStatus::Active => {}
        TrackerConnectionStatus::NeedsReauth => return Err(ApiError::of(Code::TRACKER_REAUTH_REQUIRED)),
        TrackerConnectionStatus::Pending | TrackerConnectionStatus::Disconnected => {
            return Err(ApiError::of(Code::TRACKER_NOT_CONNECTED));
        }
    }
    let sealed = connection.tokens.as_deref().ok_or_else(|| ApiError::of(Code::TRACKER_NOT_CONNECTED))?;
    match StoredLogin::open(&state.secret, project_id, connection.generation, sealed) {
        Some(stored) => Ok((connection, stored)),
        None => {
            let why = "The stored tokens can't be decrypted: this server's key has changed.";
            need_reauth(state, &connection, why, request).await?;
            Err(ApiError::of(Code::TRACKER_REAUTH_REQUIRED))
        }
    }
}

/// Returns access with tokens that are neither about to expire nor those of the generation that was refused.
async fn renewed(
    state: &Trackers,
    project_id: Id<ids::Project>,
    refused_generation: Option<i64>,
    request: &RequestId,
) -> Result<ConnectedAccess, ApiError> {
    // Those of this process wait here, and find what the first one of them stored.
    let _turn = state.token_locks.take(project_id).await;
    let deadline = state.now() + CLAIM;
    loop {
        let (connection, stored) = opened(state, project_id, request).await?;
        let is_refused = refused_generation == Some(connection.generation);
        if !is_refused && is_fresh(state, &connection) {
            return connected(state, connection, stored.login);
        }
        let Some(refresh) = stored.refresh else {
            need_reauth(state, &connection, "The tracker does not accept the token any more.", request).await?;
            return Err(ApiError::of(Code::TRACKER_REAUTH_REQUIRED));
        };
        let (generation, now) = (connection.generation, state.now());
        let claimed =
            state.db.write(move |conn| Box::pin(store::claim_refresh(conn, project_id, generation, now, now + CLAIM)));
        if claimed.await.map_err(|failed: DbError| ApiError::from(failed))? {
            if let Some(login) = refreshed(state, &connection, &refresh, request).await? {
                let generation = generation + 1;
                return connected(state, StoredConnection { generation, ..connection }, login);
            }
        } else if now >= deadline {
            return Err(refused(TrackerError::Away("another process refreshes the tokens".to_owned())));
        } else {
            sleep(POLL).await;
        }
    }
}

/// Calls the tracker and stores the new tokens. `None` if the row has others by now.
async fn refreshed(
    state: &Trackers,
    connection: &StoredConnection,
    refresh: &str,
    request: &RequestId,
) -> Result<Option<TrackerLogin>, ApiError> {
    let (project_id, generation) = (connection.project_id, connection.generation);
    let tracker = state.providers.of(connection.provider)?;
    let release = || state.db.write(move |conn| Box::pin(store::release_refresh(conn, project_id, generation)));
    let Some(oauth) = tracker.oauth() else {
        release().await.map_err(|failed: DbError| ApiError::from(failed))?;
        return Err(refused(TrackerError::Away("this server has no application there any more".to_owned())));
    };
    match oauth.refresh(refresh).await {
        Ok(tokens) => {
            let mut renewed = StoredLogin::of(&tokens);
            // A tracker that does not rotate them gives none.
            renewed.refresh = renewed.refresh.or_else(|| Some(refresh.to_owned()));
            let sealed = renewed.seal(&state.secret, project_id, generation + 1).map_err(ApiError::internal)?;
            let expires_at = tokens.expires_in.map(|life| state.now() + life);
            let stored = state.db.write(move |conn| {
                let sealed = sealed.clone();
                Box::pin(async move { store::renew(conn, project_id, generation, &sealed, expires_at).await })
            });
            let is_stored: bool = stored.await.map_err(|failed: DbError| ApiError::from(failed))?;
            Ok(is_stored.then_some(renewed.login))
        }
        Err(TrackerError::Refused(why)) => {
            tracing::warn!(project = %project_id, why, "a tracker did not refresh the tokens of a project");
            let said = "The tracker does not accept the connection any more: its access was ended there, or expired.";
            if need_reauth(state, connection, said, request).await? {
                return Err(ApiError::of(Code::TRACKER_REAUTH_REQUIRED));
            }
            // Somebody else has stored other tokens meanwhile: those are taken.
            Ok(None)
        }
        Err(error) => {
            release().await.map_err(|failed: DbError| ApiError::from(failed))?;
            Err(refused(match error {
                // This server's own credentials: the connection is as good as before.
                TrackerError::Unauthorized(why) | TrackerError::Forbidden(why) => TrackerError::Away(why),
                error => error,
            }))
        }
    }
}

/// Marks the connection as one that has to be made again, and tells it. Returns false if its tokens are others already.
///
/// # Errors
/// Only database errors.
async fn need_reauth(
    state: &Trackers,
    connection: &StoredConnection,
    why: &str,
    request: &RequestId,
) -> Result<bool, ApiError> {
    let (project_id, generation, now) = (connection.project_id, connection.generation, state.now());
    let (why, request) = (why.to_owned(), request.clone());
    let changed = state.db.write(move |conn| {
        let (why, request) = (why.clone(), request.clone());
        Box::pin(async move {
            if !store::need_reauth(conn, project_id, generation, &why).await? {
                return Ok::<_, DbError>(None);
            }
            changed_event(conn, project_id, now, &request).await.map(Some)
        })
    });
    let record = changed.await.map_err(ApiError::from)?;
    let is_changed = record.is_some();
    state.hub.publish(record.into_iter().collect());
    Ok(is_changed)
}

/// Appends the event of a changed connection.
///
/// # Errors
/// Only database errors.
pub async fn changed_event(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    now: Time,
    request: &RequestId,
) -> Result<EventRecord, DbError> {
    let connection = store::shown(conn, project_id, now).await?;
    let data = serde_json::to_string(&connection).map_err(|error| DbError::Broken(error.to_string()))?;
    events::append(conn, topic(project_id), EventKind::TrackerChanged, &data, now, request).await
}
