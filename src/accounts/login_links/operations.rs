//! Operations of links that sign in once.

use std::time::Duration;

use actors::time::Time;

use crate::access::one_time::OneTimeToken;
use crate::access::policy::Public;
use crate::accounts::external::model::ReturnUrl;
use crate::accounts::external::store::{self, LoginCode};
use crate::accounts::limits::{self, Verification};
use crate::accounts::model::{Account, AuthResponse, Email};
use crate::accounts::sessions::issued::IssuedSession;
use crate::accounts::sessions::store as sessions;
use crate::accounts::state::Accounts;
use crate::accounts::store as accounts;
use crate::db::{Db, DbError, rate_limits};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::keys::Secret;

const LINK: &str = "login link";
/// How long a link may be used.
pub const LINK_LIFE: Duration = Duration::from_secs(600);

/// Creates a link for an account. `url` is the server's public URL, `return_url` the path that the console opens.
///
/// # Errors
/// 404 for an address without an account.
pub async fn create(
    db: &Db,
    secret: &Secret,
    url: &str,
    email: Email,
    return_url: Option<ReturnUrl>,
    now: Time,
) -> Result<String, ApiError> {
    let code = OneTimeToken::generate()?;
    let code_hash = code.stored_hash(secret, LINK)?;
    db.write(move |conn| {
        Box::pin(async move {
            let unknown = || ApiError::with_message(Code::NOT_FOUND, format!("{} has no account.", email.as_str()));
            let account = accounts::account_of(conn, email.as_str()).await?.ok_or_else(unknown)?;
            let expires_at = now + LINK_LIFE;
            let code = LoginCode { code_hash, user_id: account.id, code_challenge: String::new(), expires_at };
            store::insert_code(conn, code).await.map_err(ApiError::from)
        })
    })
    .await?;
    let mut fragment = url::form_urlencoded::Serializer::new(String::new());
    fragment.append_pair("link", code.text());
    if let Some(return_url) = return_url {
        fragment.append_pair("returnUrl", return_url.as_str());
    }
    Ok(format!("{url}/login/callback#{}", fragment.finish()))
}

/// Exchanges the code of a link for a session.
///
/// # Errors
/// 401 `LoginCodeInvalid` for anything that is wrong with the code, which any attempt uses up; 429 past too many wrong
/// codes of a client.
pub async fn exchange(state: &Accounts, by: &Public, code: OneTimeToken) -> Result<AuthResponse, ApiError> {
    // A malformed code is looked up and counted too: no row has an empty hash.
    let code_hash = code.hash(&state.secret, LINK).unwrap_or_default();
    let rates = limits::token_tries(state, by);
    let now = state.now();
    let session = IssuedSession::generate(state, &by.device, now)?;
    let new = session.clone();
    let exchanged: Verification<Account> = state
        .db
        .write(move |conn| {
            Box::pin(async move {
                let counted = match rate_limits::reserve(conn, &rates, now).await? {
                    Ok(counted) => counted,
                    Err(wait) => return Ok::<_, DbError>(Verification::Locked(wait)),
                };
                let taken = store::take_code(conn, &code_hash).await?.filter(|taken| taken.expires_at > now);
                let Some(taken) = taken else { return Ok(Verification::Wrong) };
                if !accounts::lock_account(conn, taken.user_id).await? {
                    return Ok(Verification::Wrong);
                }
                let Some(account) = accounts::account(conn, taken.user_id).await? else {
                    return Ok(Verification::Wrong);
                };
                sessions::insert(conn, account.id, &new).await?;
                rate_limits::release(conn, counted, &[]).await?;
                Ok(Verification::Right(account))
            })
        })
        .await?;
    match exchanged {
        Verification::Right(account) => session.answer(state, &account),
        Verification::Wrong => Err(ApiError::of(Code::LOGIN_CODE_INVALID)),
        Verification::Locked(wait) => Err(ApiError::too_many(wait)),
    }
}
