//! Operations on sessions, one function per operation.

use std::time::Duration;

use actors::ids::{Id, Session, User};
use actors::time::Time;

use super::issued::IssuedSession;
use super::model;
use super::refresh::{self, Presented};
use super::store::{self, RefreshState, Rotated, SessionsToEnd};
use crate::access::policy::Public;
use crate::access::principal::Caller;
use crate::accounts::external;
use crate::accounts::limits::{self, LOGINS};
use crate::accounts::model::{Account, AuthResponse, Email, Registration};
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::db::DbError;
use crate::db::rate_limits::{self, Reservation};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;
use crate::passwords::PasswordCheck;

/// Logs in with a password.
///
/// # Errors
/// 401 for an unknown address or a wrong password; 403 for the password of an unconfirmed registration; 429 past the
/// rate limits, whatever the password.
pub async fn login(state: &Accounts, by: &Public, email: Email, password: String) -> Result<AuthResponse, ApiError> {
    let email = email.as_str().to_owned();
    let (counted, account, registration) = begin_login(state, by, email).await?;
    let hash = account.as_ref().and_then(|account| account.password_hash.clone());
    let checked = match state.passwords.check(password.clone(), hash.clone()).await {
        Ok(checked) => checked,
        Err(too_many) => {
            forgive(state, counted).await?;
            return Err(too_many);
        }
    };
    let (hash, account) = match (checked, hash, account) {
        (PasswordCheck::Right | PasswordCheck::RightButWeak, Some(hash), Some(account)) => (hash, account),
        _ => return Err(not_let_in(state, counted, password, registration).await?),
    };
    let stored = match checked {
        PasswordCheck::RightButWeak => state.passwords.hash(password).await?,
        _ => hash.clone(),
    };
    let session = IssuedSession::generate(state, &by.device, state.now())?;
    let (user_id, new) = (account.id, session.clone());
    let is_in = state.db.write(move |conn| {
        Box::pin(async move {
            // A password that was changed while it was checked is no longer valid.
            let stands = accounts::still_has(conn, user_id, &hash, &stored).await?;
            if stands {
                store::insert(conn, user_id, &new).await?;
                rate_limits::release(conn, counted, &[LOGINS]).await?;
            }
            Ok::<_, DbError>(stands)
        })
    });
    if !is_in.await? {
        return Err(ApiError::of(Code::INVALID_CREDENTIALS));
    }
    session.answer(state, &account)
}

/// Returns the error of a rejected log-in. The password of an unconfirmed registration gets 403 whether or not its
/// address also has an account: so registering and logging in reveals nothing about which addresses have one. A second
/// hash is checked in every case, so that all cases take equally long.
async fn not_let_in(
    state: &Accounts,
    counted: Reservation,
    password: String,
    registration: Option<Registration>,
) -> Result<ApiError, ApiError> {
    let registered = registration.map(|found| found.password_hash);
    let checked = match state.passwords.check(password, registered).await {
        Ok(checked) => checked,
        Err(too_many) => {
            forgive(state, counted).await?;
            return Err(too_many);
        }
    };
    if checked == PasswordCheck::Wrong {
        return Ok(ApiError::of(Code::INVALID_CREDENTIALS));
    }
    forgive(state, counted).await?;
    Ok(ApiError::of(Code::ACCOUNT_NOT_CONFIRMED))
}

/// Counts a log-in as a failure before its password is checked, until the password is known to be right: so many
/// concurrent attempts are no more than the same number in sequence. Returns the account and the registration of the
/// address.
async fn begin_login(
    state: &Accounts,
    by: &Public,
    email: String,
) -> Result<(Reservation, Option<Account>, Option<Registration>), ApiError> {
    let rates = limits::logins(state, by, &email);
    let now = state.now();
    let started = state.db.write(move |conn| {
        Box::pin(async move {
            let counted = match rate_limits::reserve(conn, &rates, now).await? {
                Ok(counted) => counted,
                Err(wait) => return Ok::<_, DbError>(Err(wait)),
            };
            let account = accounts::account_of(conn, &email).await?;
            Ok(Ok((counted, account, accounts::registration_of(conn, &email).await?)))
        })
    });
    started.await?.map_err(ApiError::too_many)
}

/// Takes back a counted failure that was none.
async fn forgive(state: &Accounts, counted: Reservation) -> Result<(), ApiError> {
    let forgiven = state.db.write(move |conn| Box::pin(rate_limits::release(conn, counted, &[LOGINS])));
    forgiven.await.map_err(ApiError::from)
}

/// Refreshes a session: the presented token is used up, and its successor is returned.
///
/// # Errors
/// 401 for anything that is wrong with the token; a token that was copied ends the session.
pub async fn refresh_token(state: &Accounts, token: &str) -> Result<AuthResponse, ApiError> {
    let (session, account) = refresh(state, token).await?;
    session.answer(state, &account)
}

/// Uses up a refresh token. Returns its session with the next counter, and the account.
///
/// # Errors
/// As [`refresh_token`].
pub async fn refresh(state: &Accounts, token: &str) -> Result<(IssuedSession, Account), ApiError> {
    let refused = || ApiError::of(Code::INVALID_REFRESH_TOKEN);
    let presented = refresh::read(token).ok_or_else(refused)?;
    let id = presented.session_id;
    // Serialized, so that of a burst all but the first two requests are refused after a read alone. The row decides
    // which request wins, not this lock.
    let _guard = state.refresh_locks.take(id).await;
    let now = state.now();
    let found = state.db.read(move |conn| Box::pin(store::active(conn, id, now))).await.map_err(ApiError::from)?;
    let session = found.ok_or_else(refused)?;
    // Checked before anything is changed: a forged token must not end the session of another user.
    if !presented.is_genuine(&state.secret, &session.salt) || is_of_a_rush(presented, &session, now) {
        return Err(refused());
    }
    let user_id = session.user_id;
    let expires_at = now + Duration::from_secs(state.config.accounts.refresh_token_seconds);
    let (rotated, account) = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let rotated = store::rotate(conn, id, presented.counter, now, expires_at).await?;
                Ok::<_, DbError>((rotated, accounts::account(conn, user_id).await?))
            })
        })
        .await?;
    let counter = match rotated {
        Rotated::To(counter) | Rotated::Again(counter) => counter,
        Rotated::Refused => return Err(refused()),
        Rotated::Reused => {
            tracing::warn!(session = %id, "a used refresh token was presented again; the session is ended");
            state.gate.revoked.add(id, now);
            return Err(refused());
        }
    };
    let account = account.ok_or_else(refused)?;
    Ok((IssuedSession { id, salt: session.salt, counter, device: String::new(), now, expires_at }, account))
}

/// Whether a token was accepted twice within the grace period, and nothing else speaks against it: one of a burst of
/// identical requests.
fn is_of_a_rush(presented: Presented, session: &RefreshState, now: Time) -> bool {
    presented.counter.saturating_add(1) == session.counter
        && session.graced_counter == presented.counter
        && now.since(session.last_used_at) < store::GRACE
}

/// Ends this session, or all sessions of the account.
///
/// # Errors
/// Returns the database error.
pub async fn log_out(state: &Accounts, caller: Caller, all: bool) -> Result<(), ApiError> {
    let ending = if all { SessionsToEnd::All } else { SessionsToEnd::Only(caller.session_id) };
    end(state, caller.user_id, ending).await
}

/// Ends one session of the caller's account.
///
/// # Errors
/// Returns the database error.
pub async fn revoke(state: &Accounts, caller: Caller, id: Id<Session>) -> Result<(), ApiError> {
    end(state, caller.user_id, SessionsToEnd::Only(id)).await
}

/// Ends sessions of an account.
///
/// # Errors
/// Returns the database error.
pub async fn end(state: &Accounts, user_id: Id<User>, ending: SessionsToEnd) -> Result<(), ApiError> {
    let now = state.now();
    let ended = state.db.write(move |conn| {
        Box::pin(async move {
            accounts::lock_account(conn, user_id).await?;
            if matches!(ending, SessionsToEnd::All) {
                // A link or code that was made before would begin another one.
                external::forget_codes(conn, user_id).await?;
            }
            store::end(conn, user_id, ending, now).await
        })
    });
    are_over(state, ended.await.map_err(ApiError::from)?, now);
    Ok(())
}

/// Publishes that sessions ended to open sockets and to the check of access tokens. Call it after the transaction that
/// marks their rows.
pub fn are_over(state: &Accounts, ended: Vec<Id<Session>>, now: Time) {
    for session_id in ended {
        state.gate.revoked.add(session_id, now);
    }
}

/// Returns the caller's sessions, newest first.
///
/// # Errors
/// Returns the database error.
pub async fn list(state: &Accounts, caller: Caller, page: PageQuery) -> Result<List<model::Session>, ApiError> {
    let now = state.now();
    state.db.read(move |conn| Box::pin(store::list(conn, caller, page, now))).await.map_err(ApiError::from)
}
