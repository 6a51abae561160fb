//! Being signed in, one function an operation.

use std::time::Duration;

use actors::ids::{Id, Session};
use actors::time::Time;

use super::begun::Begun;
use super::model;
use super::refresh::{self, Presented};
use super::store::{self, Ending, Rotated, Standing};
use crate::access::caller::Caller;
use crate::access::guard::Public;
use crate::accounts::limits::{self, LOGINS};
use crate::accounts::model::{Account, AuthResponse, Email, Registration};
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::db::Failed;
use crate::db::attempts::{self, Counted};
use crate::http::code::Code;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;
use crate::passwords::Checked;

/// Logs in.
///
/// # Errors
/// 401 for an unknown address or a wrong password; 403 for the password of a registration that is not confirmed; 429 past the
/// limits, whatever the password.
pub async fn login(state: &Accounts, by: &Public, email: Email, password: String) -> Result<AuthResponse, Failure> {
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
        (Checked::Right | Checked::RightButWeak, Some(hash), Some(account)) => (hash, account),
        _ => return Err(not_let_in(state, counted, password, registration).await?),
    };
    let kept = match checked {
        Checked::RightButWeak => state.passwords.hash(password).await?,
        _ => hash.clone(),
    };
    let session = Begun::draw(state, &by.device, state.now())?;
    let (user_id, new) = (account.id, session.clone());
    let is_in = state.db.write(move |conn| {
        Box::pin(async move {
            // A password that was changed while it was checked opens nothing any longer.
            let stands = accounts::still_has(conn, user_id, &hash, &kept).await?;
            if stands {
                store::insert(conn, user_id, &new).await?;
                attempts::release(conn, counted, &[LOGINS]).await?;
            }
            Ok::<_, Failed>(stands)
        })
    });
    if !is_in.await? {
        return Err(Failure::of(Code::INVALID_CREDENTIALS));
    }
    session.answer(state, &account)
}

/// Why a password opens no account. A registration that nobody confirmed says so, whether or not its address has an account
/// beside it: so nobody learns from registering and logging in which addresses have one. A second hash is checked in every
/// case, so that no case takes longer.
async fn not_let_in(
    state: &Accounts,
    counted: Counted,
    password: String,
    registration: Option<Registration>,
) -> Result<Failure, Failure> {
    let registered = registration.map(|found| found.password_hash);
    let checked = match state.passwords.check(password, registered).await {
        Ok(checked) => checked,
        Err(too_many) => {
            forgive(state, counted).await?;
            return Err(too_many);
        }
    };
    if checked == Checked::Wrong {
        return Ok(Failure::of(Code::INVALID_CREDENTIALS));
    }
    forgive(state, counted).await?;
    Ok(Failure::of(Code::ACCOUNT_NOT_CONFIRMED))
}

/// Counts a log-in before its password is looked at, as a wrong one until it is known to be right: so many at once are no
/// more than one after the other. Gives whom it may be.
async fn begin_login(
    state: &Accounts,
    by: &Public,
    email: String,
) -> Result<(Counted, Option<Account>, Option<Registration>), Failure> {
    let rates = limits::logins(state, by, &email);
    let now = state.now();
    let begun = state.db.write(move |conn| {
        Box::pin(async move {
            let counted = match attempts::reserve(conn, &rates, now).await? {
                Ok(counted) => counted,
                Err(wait) => return Ok::<_, Failed>(Err(wait)),
            };
            let account = accounts::account_of(conn, &email).await?;
            Ok(Ok((counted, account, accounts::registration_of(conn, &email).await?)))
        })
    });
    begun.await?.map_err(Failure::too_many)
}

/// What was counted as a failure was none.
async fn forgive(state: &Accounts, counted: Counted) -> Result<(), Failure> {
    let forgiven = state.db.write(move |conn| Box::pin(attempts::release(conn, counted, &[LOGINS])));
    forgiven.await.map_err(Failure::from)
}

/// Goes on with a session: the token that was given is spent, its successor is answered.
///
/// # Errors
/// 401 for whatever is wrong with the token; one that was copied ends the session.
pub async fn refresh_token(state: &Accounts, token: &str) -> Result<AuthResponse, Failure> {
    let refused = || Failure::of(Code::INVALID_REFRESH_TOKEN);
    let presented = refresh::read(token).ok_or_else(refused)?;
    let id = presented.session_id;
    // One after the other, so that of a rush all but the first two are refused by reading alone. Who wins is decided by the
    // row, not here.
    let _turn = state.turns.take(id).await;
    let now = state.now();
    let found = state.db.read(move |conn| Box::pin(store::standing(conn, id, now))).await.map_err(Failure::from)?;
    let session = found.ok_or_else(refused)?;
    // Looked at before anything is changed: a forged token must not end anybody's session.
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
                Ok::<_, Failed>((rotated, accounts::account(conn, user_id).await?))
            })
        })
        .await?;
    let counter = match rotated {
        Rotated::To(counter) | Rotated::Again(counter) => counter,
        Rotated::Refused => return Err(refused()),
        Rotated::Reused => {
            tracing::warn!(session = %id, "a spent refresh token was presented: the session is ended");
            state.revoked.add(id, now);
            return Err(refused());
        }
    };
    let account = account.ok_or_else(refused)?;
    Begun { id, salt: session.salt, counter, device: String::new(), now, expires_at }.answer(state, &account)
}

/// Whether a token was honoured twice already, a moment ago, and nothing else is known against it.
fn is_of_a_rush(presented: Presented, session: &Standing, now: Time) -> bool {
    presented.counter.saturating_add(1) == session.counter
        && session.graced_counter == presented.counter
        && now.since(session.rotated_at) < store::GRACE
}

/// Ends this session, or all of the account's.
///
/// # Errors
/// Those of the database.
pub async fn log_out(state: &Accounts, caller: Caller, all: bool) -> Result<(), Failure> {
    end(state, caller, if all { Ending::All } else { Ending::Only(caller.session_id) }).await
}

/// Ends one session of the caller's.
///
/// # Errors
/// Those of the database.
pub async fn revoke(state: &Accounts, caller: Caller, id: Id<Session>) -> Result<(), Failure> {
    end(state, caller, Ending::Only(id)).await
}

async fn end(state: &Accounts, caller: Caller, ending: Ending) -> Result<(), Failure> {
    let now = state.now();
    let ended = state.db.write(move |conn| {
        Box::pin(async move {
            accounts::hold(conn, caller.user_id).await?;
            store::end(conn, caller.user_id, ending, now).await
        })
    });
    are_over(state, ended.await.map_err(Failure::from)?, now);
    Ok(())
}

/// Tells whoever holds sockets or looks at access tokens that sessions ended. Call it once their rows say so.
pub fn are_over(state: &Accounts, ended: Vec<Id<Session>>, now: Time) {
    for session_id in ended {
        state.revoked.add(session_id, now);
    }
}

/// The caller's sessions, newest first.
///
/// # Errors
/// Those of the database.
pub async fn list(state: &Accounts, caller: Caller, page: Page) -> Result<List<model::Session>, Failure> {
    let now = state.now();
    let found = state.db.read(move |conn| Box::pin(store::list(conn, caller, page, now))).await;
    let (sessions, total_count) = found.map_err(Failure::from)?;
    let (items, next_cursor) = page.cut(sessions, |session| session.id.uuid());
    Ok(List { items, next_cursor, total_count })
}
