//! Rate limits of authentication: what is counted, and under which keys.
//!
//! Keys are stored as keyed hashes, so that a dump of the database identifies no user; an address is counted the same
//! way whether it has an account or not.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::time::Time;

use super::codes;
use crate::access::policy::Public;
use crate::accounts::state::Accounts;
use crate::db::rate_limits::{self, Rate};
use crate::db::{Conn, DbError};
use crate::http::call_limits::rate;
use crate::http::code::Code;
use crate::http::error::ApiError;

/// Log-in attempts, whether they succeed or fail.
pub const LOGINS: &str = "logins";
const LOGIN_FAILURES: &str = "login_failures";

/// Rate limits of the settings, each with the key that it is counted under.
pub type Rates = Vec<(Rate, String)>;

fn of_address(state: &Accounts, email: &str) -> String {
    state.secret.hex("address", &[email.as_bytes()])
}

fn of_client(state: &Accounts, by: &Public) -> String {
    state.secret.hex("client", &[by.client.as_bytes()])
}

fn of_both(state: &Accounts, by: &Public, email: &str) -> String {
    state.secret.hex("address and client", &[email.as_bytes(), by.client.as_bytes()])
}

/// Returns the limits for requesting a code.
pub fn code_mails(state: &Accounts, by: &Public, email: &str) -> Rates {
    let limits = &state.config.limits;
    vec![
        (rate("code_pause", limits.code_pause), of_address(state, email)),
        (rate("code_mails", limits.code_mails), of_address(state, email)),
        (rate("code_mails_of_client", limits.code_mails_of_client), of_client(state, by)),
    ]
}

/// Returns the limits for a log-in with a password.
pub fn logins(state: &Accounts, by: &Public, email: &str) -> Rates {
    let limits = &state.config.limits;
    vec![
        (rate(LOGINS, limits.logins), of_both(state, by, email)),
        (rate(LOGIN_FAILURES, limits.login_failures), of_both(state, by, email)),
        (rate("login_failures_of_client", limits.login_failures_of_client), of_client(state, by)),
    ]
}

/// Returns the limit for re-entering the password of an account within a session.
pub fn proofs(state: &Accounts, user_id: Id<User>) -> Rates {
    let of_account = state.secret.hex("account", &[user_id.uuid().as_bytes()]);
    vec![(rate(LOGIN_FAILURES, state.config.limits.login_failures), of_account)]
}

/// Returns the limit for redeeming a code. It is not counted for the address alone, or any client could lock its owner
/// out: guesses are bounded by the attempts of each code and by the number of codes per hour ([`code_mails`]).
pub fn code_tries(state: &Accounts, by: &Public, email: &str) -> Rates {
    vec![(rate("code_failures", state.config.limits.code_failures), of_both(state, by, email))]
}

/// Returns the limit for presenting a token: per client only, as a token identifies no account that could be locked.
pub fn token_tries(state: &Accounts, by: &Public) -> Rates {
    vec![(rate("token_failures_of_client", state.config.limits.token_failures_of_client), of_client(state, by))]
}

/// Returns how long until another attempt is allowed under all of these limits; zero means now. Counts nothing.
///
/// # Errors
/// Returns the database error.
pub async fn locked(conn: &mut Conn, rates: &Rates, now: Time) -> Result<Duration, DbError> {
    let mut longest = Duration::ZERO;
    for (rate, key) in rates {
        longest = longest.max(rate_limits::wait(conn, *rate, key, now).await?);
    }
    Ok(longest)
}

/// Forgets failed log-ins: after a password reset, failures with the former password no longer count.
///
/// # Errors
/// Returns the database error.
pub async fn forgive_logins(conn: &mut Conn, both: &str) -> Result<(), DbError> {
    rate_limits::forget(conn, LOGIN_FAILURES, both).await
}

/// Returns the key for [`forgive_logins`].
pub fn of_logins(state: &Accounts, by: &Public, email: &str) -> String {
    of_both(state, by, email)
}

/// The result of checking a secret, as the transaction that counted the attempt returns it.
pub enum Verification<T> {
    /// Too many attempts failed: this one was not checked. Holds how long to wait.
    Locked(Duration),
    Wrong,
    Right(T),
}

impl<T> Verification<T> {
    /// # Errors
    /// 429 while locked; 422 `OtpInvalid` on `field` for a wrong secret, whatever is wrong with it.
    pub fn or_refused(self, field: &str) -> Result<T, ApiError> {
        match self {
            Self::Locked(wait) => Err(ApiError::too_many(wait)),
            Self::Wrong => Err(ApiError::at(field, Code::OTP_INVALID, codes::WRONG)),
            Self::Right(right) => Ok(right),
        }
    }
}
