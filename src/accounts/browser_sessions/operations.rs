//! Operations on the session of a browser.

use std::time::Duration;

use actors::time::Time;

use super::cookie::SessionCookie;
use super::model::BrowserSession;
use crate::accounts::model::{Account, Profile};
use crate::accounts::sessions::issued::{BEARER, issue_access_token};
use crate::accounts::sessions::operations as sessions;
use crate::accounts::sessions::store::{self, SessionsToEnd};
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::error::ApiError;

/// After how long a use is recorded anew: pages that are opened one after another cost no write each.
const RECORDED_EVERY: Duration = Duration::from_secs(60);

/// Makes a session the browser's: uses its refresh token up, and ends the session that the browser had. Returns the `Set-Cookie`
/// header value too.
///
/// # Errors
/// 401 for anything that is wrong with the token; a token that was copied ends the session.
pub async fn begin(
    state: &Accounts,
    token: &str,
    stays: bool,
    former: Option<SessionCookie>,
) -> Result<(BrowserSession, String), ApiError> {
    let (session, account) = sessions::refresh(state, token).await?;
    end(state, former.filter(|former| former.session_id != session.id)).await?;
    let cookie = SessionCookie::issue(&state.secret, session.id, &session.salt, stays);
    answer(state, cookie, &account, session.now)
}

/// Issues an access token to the browser with this cookie. Returns the `Set-Cookie` header value too.
///
/// # Errors
/// 401 without a cookie, for a forged one, and when the session has ended.
pub async fn refresh(state: &Accounts, cookie: Option<SessionCookie>) -> Result<(BrowserSession, String), ApiError> {
    let refused = || ApiError::of(Code::INVALID_REFRESH_TOKEN);
    let cookie = cookie.ok_or_else(refused)?;
    let id = cookie.session_id;
    let now = state.now();
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let Some(session) = store::active(conn, id, now).await? else { return Ok::<_, DbError>(None) };
            Ok(accounts::account(conn, session.user_id).await?.map(|account| (session, account)))
        })
    });
    let (session, account) = found.await.map_err(ApiError::from)?.ok_or_else(refused)?;
    if !cookie.is_genuine(&state.secret, &session.salt) {
        return Err(refused());
    }
    if now.since(session.last_used_at) >= RECORDED_EVERY {
        let expires_at = now + Duration::from_secs(state.config.accounts.refresh_token_seconds);
        let extended = state.db.write(move |conn| Box::pin(store::extend(conn, id, now, expires_at)));
        if !extended.await.map_err(ApiError::from)? {
            return Err(refused());
        }
    }
    answer(state, cookie, &account, now)
}

/// Ends the session of the browser with this cookie, if there is one.
///
/// # Errors
/// Returns the database error.
pub async fn end(state: &Accounts, cookie: Option<SessionCookie>) -> Result<(), ApiError> {
    let Some(cookie) = cookie else { return Ok(()) };
    let (id, now) = (cookie.session_id, state.now());
    let found = state.db.read(move |conn| Box::pin(store::active(conn, id, now))).await.map_err(ApiError::from)?;
    match found.filter(|session| cookie.is_genuine(&state.secret, &session.salt)) {
        Some(session) => sessions::end(state, session.user_id, SessionsToEnd::Only(id)).await,
        None => Ok(()),
    }
}

fn answer(
    state: &Accounts,
    cookie: SessionCookie,
    account: &Account,
    now: Time,
) -> Result<(BrowserSession, String), ApiError> {
    let session = BrowserSession {
        access_token: issue_access_token(state, account, cookie.session_id, now)?,
        token_type: BEARER,
        expires_in: state.gate.tokens.life().as_secs(),
        user: Profile::from(account),
    };
    Ok((session, cookie.set(state.config.accounts.refresh_token_seconds, &state.url)))
}
