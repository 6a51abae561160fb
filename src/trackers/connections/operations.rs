//! Operations on connections, one function each.

use std::time::Duration;

use actors::ids::{self, Id, User};
use actors::live::RequestId;
use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use subtle::ConstantTimeEq;
use url::form_urlencoded::Serializer;

use super::access::changed_event;
use super::model::{
    ConnectedTracker, Connecting, ConnectionRequest, StartedTrackerConnection, TrackerConnection,
    TrackerConnectionStatus,
};
use super::sealing::StoredLogin;
use super::store::{self, PendingConnection, StoredConnection};
use crate::access::one_time::OneTimeToken;
use crate::access::role::ProjectRole;
use crate::clients::trackers::{
    Tracker, TrackerAccess, TrackerAccount, TrackerError, TrackerLogin, TrackerSite, TrackerTokens,
};
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::reason::Reason;
use crate::http::sign_in_cookie::{ReturnedBrowser, SignInCookie};
use crate::projects;
use crate::trackers::providers::refused;
use crate::trackers::state::Trackers;
use crate::trackers::{destinations, exports};

/// The cookie that binds a connection to the browser in which it was begun. Without it, somebody could begin to connect a
/// project of their own and have another person permit it: that person's tracker would be open to them.
pub const COOKIE: SignInCookie = SignInCookie { name: "colloquy-tracker", path: "/api/tracker/callback" };
/// How long a user may take at the tracker.
const AT_TRACKER: Duration = Duration::from_secs(600);
const STATE: &str = "tracker state";
const BROWSER: &str = "tracker browser";
const VERIFIER: &str = "tracker verifier";

/// The error for a tracker at which this server has no application.
#[must_use]
pub fn not_configured() -> ApiError {
    ApiError { retry_after: Some(Duration::from_secs(3600)), ..ApiError::of(Code::TRACKER_NOT_CONFIGURED) }
}

/// A connection that was begun, and the cookie for the browser that did it.
pub struct BegunConnection {
    pub started: StartedTrackerConnection,
    pub cookie: Option<String>,
}

/// Connects a project: returns where the user permits it, or connects it with a token at once.
///
/// # Errors
/// 409 in an archived project, or while an export is under way; 422 for a token that the tracker does not accept
/// (`TrackerCredentialsRejected`), and for an address that is not a public one; 502 if the tracker is unavailable; 503
/// if this server has no application there.
pub async fn start(
    state: &Trackers,
    connecting: Connecting,
    request: ConnectionRequest,
    request_id: RequestId,
) -> Result<BegunConnection, ApiError> {
    let project_id = connecting.project_id;
    state.db.read(move |conn| Box::pin(must_be_free(conn, project_id))).await?;
    match request {
        ConnectionRequest::SignIn { return_url } => begin(state, connecting, return_url).await,
        ConnectionRequest::Token { base_url, email, token } => {
            let tracker = state.providers.of(connecting.provider)?;
            let base_url =
                tracker.base_url(&base_url).map_err(|why| ApiError::field("baseUrl", Reason::InvalidValue, why))?;
            let login = TrackerLogin::Token { base_url, email, token };
            let rejected = |error| match error {
                TrackerError::Unauthorized(said) | TrackerError::Forbidden(said) => {
                    ApiError { cause: Some(said.into()), ..ApiError::of(Code::TRACKER_CREDENTIALS_REJECTED) }
                }
                TrackerError::Missing(_) | TrackerError::Invalid(_) => {
                    let why = "There is no such issue tracker at this address.";
                    ApiError::at("baseUrl", Code::TRACKER_CREDENTIALS_REJECTED, why)
                }
                other => refused(other),
            };
            let site = tracker.site_of(&login).await.map_err(rejected)?;
            let access = TrackerAccess { login: login.clone(), site: site.clone() };
            let account = tracker.account(&access).await.map_err(rejected)?;
            let new = NewConnection {
                login: StoredLogin { login, refresh: None },
                expires_at: None,
                scopes: Vec::new(),
                sites: vec![site],
                account: Some(account),
            };
            let connection = save(state, connecting, new, request_id).await?;
            let started = StartedTrackerConnection { authorize_url: None, expires_in: None, connection };
            Ok(BegunConnection { started, cookie: None })
        }
    }
}

/// Checks that the project's connection may be changed now.
async fn must_be_free(conn: &mut Conn, project_id: Id<ids::Project>) -> Result<(), ApiError> {
    let gone = || ApiError::of(Code::NOT_FOUND);
    projects::must_be_active(&projects::store::find(conn, project_id).await?.ok_or_else(gone)?)?;
    if exports::store::active(conn, project_id).await?.is_some() {
        let why = "An export is under way. Wait for its end, or cancel it.";
        return Err(ApiError::with_message(Code::INVALID_STATE, why));
    }
    Ok(())
}

async fn begin(
    state: &Trackers,
    connecting: Connecting,
    return_url: Option<String>,
) -> Result<BegunConnection, ApiError> {
    let tracker = state.providers.of(connecting.provider)?;
    let oauth = tracker.oauth().ok_or_else(not_configured)?;
    let (nonce, browser, verifier) = (OneTimeToken::generate()?, OneTimeToken::generate()?, OneTimeToken::generate()?);
    let authorize_url = oauth.authorize_url(nonce.text(), verifier.text());
    let state_hash = nonce.stored_hash(&state.secret, STATE)?;
    let sealed = state.secret.seal(VERIFIER, state_hash.as_bytes(), verifier.text().as_bytes());
    let now = state.now();
    let begun = PendingConnection {
        connecting,
        browser_hash: browser.stored_hash(&state.secret, BROWSER)?,
        verifier: STANDARD.encode(sealed.map_err(ApiError::internal)?),
        return_url,
        expires_at: now + AT_TRACKER,
    };
    let saved = state.db.write(move |conn| {
        let (state_hash, begun) = (state_hash.clone(), begun.clone());
        Box::pin(async move {
            store::begin(conn, &state_hash, &begun).await?;
            store::shown(conn, begun.connecting.project_id, now).await
        })
    });
    let connection: TrackerConnection = saved.await.map_err(|failed: DbError| ApiError::from(failed))?;
    let seconds = AT_TRACKER.as_secs();
    let cookie = COOKIE.set(browser.text(), seconds, &state.url);
    let started =
        StartedTrackerConnection { authorize_url: Some(authorize_url), expires_in: Some(seconds), connection };
    Ok(BegunConnection { started, cookie: Some(cookie) })
}

/// Completes a connection, and returns the address in the application to which the browser goes, with the outcome in its
/// fragment: `trackerConnection=ACTIVE`, or `trackerError` with an error code. The second value is the cookie to set.
pub async fn finish(state: &Trackers, returned: ReturnedBrowser, request: RequestId) -> (String, Option<String>) {
    let taken = take(state, &returned).await;
    let (return_url, outcome) = match taken {
        Err(error) => (None, Err(error)),
        Ok((begun, verifier)) => {
            let return_url = begun.return_url.clone();
            (return_url, finished(state, begun.connecting, &verifier, &returned, request).await)
        }
    };
    let mut fragment = Serializer::new(String::new());
    match outcome {
        Ok(project_id) => {
            fragment.append_pair("trackerConnection", TrackerConnectionStatus::Active.into());
            fragment.append_pair("projectId", &project_id.to_string());
        }
        Err(error) => {
            tracing::info!(code = error.code.name, cause = error.cause, "a tracker was not connected");
            fragment.append_pair("trackerError", error.code.name);
            fragment.append_pair("message", &error.message);
        }
    }
    let path = return_url.unwrap_or_else(|| "/".to_owned());
    let path = path.split('#').next().unwrap_or("/");
    let cookie = returned.cookie.map(|_| COOKIE.dropped(&state.url));
    (format!("{}{path}#{}", state.url, fragment.finish()), cookie)
}

/// Uses a sign-in up, whatever comes of it, and checks that it is this browser's. Returns it with its PKCE verifier.
async fn take(state: &Trackers, returned: &ReturnedBrowser) -> Result<(PendingConnection, String), ApiError> {
    let invalid = || ApiError::of(Code::TRACKER_STATE_INVALID);
    let hashed = |text: &Option<String>, purpose| {
        let token = text.as_deref().map(OneTimeToken::presented)?;
        token.hash(&state.secret, purpose)
    };
    let state_hash = hashed(&returned.state, STATE).ok_or_else(invalid)?;
    let browser_hash = hashed(&returned.cookie, BROWSER).ok_or_else(invalid)?;
    let by = state_hash.clone();
    let taken = state.db.write(move |conn| {
        let state_hash = by.clone();
        Box::pin(async move { store::take_pending(conn, &state_hash).await })
    });
    let begun = taken.await.map_err(|failed: DbError| ApiError::from(failed))?.ok_or_else(invalid)?;
    let is_same = bool::from(begun.browser_hash.as_bytes().ct_eq(browser_hash.as_bytes()));
    if !is_same || begun.expires_at <= state.now() {
        return Err(invalid());
    }
    let sealed = STANDARD.decode(&begun.verifier).map_err(ApiError::internal)?;
    let verifier = state.secret.open(VERIFIER, state_hash.as_bytes(), &sealed);
    let verifier = verifier.and_then(|bytes| String::from_utf8(bytes).ok()).ok_or_else(invalid)?;
    Ok((begun, verifier))
}

async fn finished(
    state: &Trackers,
    connecting: Connecting,
    verifier: &str,
    returned: &ReturnedBrowser,
    request: RequestId,
) -> Result<Id<ids::Project>, ApiError> {
    let Connecting { project_id, user_id, provider } = connecting;
    must_manage(state, project_id, user_id).await?;
    if let Some(error) = &returned.error {
        // The parameter comes from an untrusted caller: it is logged, and never passed on to the application.
        let error: String = error.chars().filter(char::is_ascii_graphic).take(100).collect();
        return Err(ApiError { cause: Some(error.into()), ..ApiError::of(Code::TRACKER_DENIED) });
    }
    let code = returned.code.as_deref().ok_or_else(|| ApiError::of(Code::TRACKER_STATE_INVALID))?;
    let tracker = state.providers.of(provider)?;
    let oauth = tracker.oauth().ok_or_else(not_configured)?;
    let tokens = oauth.exchange(code, verifier).await.map_err(|error| match error {
        TrackerError::Refused(why) | TrackerError::Unauthorized(why) => {
            ApiError { cause: Some(why.into()), ..ApiError::of(Code::TRACKER_DENIED) }
        }
        other => refused(other),
    })?;
    let sites = oauth.sites(&tokens.access).await.map_err(refused)?;
    let account = match sites.as_slice() {
        [] => return Err(ApiError::of(Code::TRACKER_WITHOUT_SITE)),
        [only] => Some(account(tracker.as_ref(), &tokens.access, only).await?),
        _ => None,
    };
    let new = NewConnection {
        login: StoredLogin::of(&tokens),
        expires_at: tokens.expires_in.map(|life| state.now() + life),
        scopes: tokens.scopes,
        sites,
        account,
    };
    save(state, connecting, new, request).await?;
    Ok(project_id)
}

async fn account(tracker: &dyn Tracker, access: &str, site: &TrackerSite) -> Result<TrackerAccount, ApiError> {
    let login = TrackerLogin::OAuth { access: access.to_owned() };
    tracker.account(&TrackerAccess { login, site: site.clone() }).await.map_err(refused)
}

async fn must_manage(state: &Trackers, project_id: Id<ids::Project>, user_id: Id<User>) -> Result<(), ApiError> {
    let role = state.projects.roles.of(&state.db, project_id, user_id).await?;
    match role.is_some_and(|role| role.may_act_as(ProjectRole::Manager)) {
        true => Ok(()),
        false => Err(ApiError::of(Code::FORBIDDEN)),
    }
}

/// A connection that the tracker has accepted.
struct NewConnection {
    login: StoredLogin,
    expires_at: Option<Time>,
    scopes: Vec<String>,
    sites: Vec<TrackerSite>,
    account: Option<TrackerAccount>,
}

/// Stores a connection in place of the former one.
async fn save(
    state: &Trackers,
    connecting: Connecting,
    new: NewConnection,
    request: RequestId,
) -> Result<TrackerConnection, ApiError> {
    let Connecting { project_id, user_id, provider } = connecting;
    let NewConnection { login, expires_at, scopes, sites, account } = new;
    let (now, secret) = (state.now(), state.secret.clone());
    let saved = state.db.write(move |conn| {
        let (login, scopes, sites, account) = (login.clone(), scopes.clone(), sites.clone(), account.clone());
        let (secret, request) = (secret.clone(), request.clone());
        Box::pin(async move {
            must_be_free(conn, project_id).await?;
            let former = store::find(conn, project_id).await?;
            let generation = former.as_ref().map_or(1, |former| former.generation + 1);
            let sealed = login.seal(&secret, project_id, generation).map_err(ApiError::internal)?;
            let site = match sites.as_slice() {
                [only] => Some(only.clone()),
                _ => None,
            };
            let connection = StoredConnection {
                project_id,
                provider,
                status: TrackerConnectionStatus::Active,
                generation,
                site,
                sites,
                account_name: account.map(|account| account.name),
                scopes,
                tokens: Some(sealed),
                expires_at,
                connected_by_id: user_id,
                connected_at: now,
                last_error: None,
            };
            store::put(conn, &connection).await?;
            let record = changed_event(conn, project_id, now, &request).await?;
            Ok::<_, ApiError>((former, store::shown(conn, project_id, now).await?, record))
        })
    });
    let (former, connection, record): (Option<StoredConnection>, TrackerConnection, _) = saved.await?;
    state.hub.publish(vec![record]);
    if let Some(former) = former {
        revoke(state, former).await;
    }
    Ok(connection)
}

/// Returns a project's connection and destination.
///
/// # Errors
/// Only database errors.
pub async fn details(state: &Trackers, project_id: Id<ids::Project>) -> Result<ConnectedTracker, ApiError> {
    let now = state.now();
    let read = async move |conn: &mut Conn| {
        let connection = store::shown(conn, project_id, now).await?;
        let destination = destinations::store::find(conn, project_id).await?;
        Ok::<_, DbError>(ConnectedTracker { connection, destination: destination.map(|stored| stored.destination) })
    };
    state.db.read(move |conn| Box::pin(conn.transaction(read))).await.map_err(ApiError::from)
}

/// Ends a project's connection: erases its tokens, cancels its export, and revokes the tokens where the tracker can do that.
///
/// # Errors
/// Only database errors.
pub async fn disconnect(
    state: &Trackers,
    project_id: Id<ids::Project>,
    request: RequestId,
) -> Result<TrackerConnection, ApiError> {
    let now = state.now();
    let ended = state.db.write(move |conn| {
        let request = request.clone();
        Box::pin(async move {
            let former = store::find(conn, project_id).await?;
            let mut records = exports::operations::cancel_active(conn, project_id, now, &request).await?;
            store::disconnect(conn, project_id).await?;
            records.push(changed_event(conn, project_id, now, &request).await?);
            Ok::<_, DbError>((former, store::shown(conn, project_id, now).await?, records))
        })
    });
    let (former, connection, records): (Option<StoredConnection>, TrackerConnection, _) =
        ended.await.map_err(ApiError::from)?;
    state.hub.publish(records);
    if let Some(former) = former {
        revoke(state, former).await;
    }
    Ok(connection)
}

/// Revokes the tokens of a connection that has ended. They are erased here in any case.
async fn revoke(state: &Trackers, former: StoredConnection) {
    let StoredConnection { project_id, provider, generation, tokens, .. } = former;
    let opened = tokens.and_then(|sealed| StoredLogin::open(&state.secret, project_id, generation, &sealed));
    let Some(StoredLogin { login: TrackerLogin::OAuth { access }, refresh }) = opened else { return };
    let Ok(tracker) = state.providers.of(provider) else { return };
    let Some(oauth) = tracker.oauth() else { return };
    let tokens = TrackerTokens { access, refresh, expires_in: None, scopes: Vec::new() };
    if let Err(error) = oauth.revoke(&tokens).await {
        tracing::warn!(project = %project_id, %provider, ?error, "the tokens of a tracker could not be revoked");
    }
}
