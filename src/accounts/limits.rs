//! What is counted of Auth, and for whom. Keys are kept as keyed hashes, so that a dump of the database names nobody; an
//! address is counted alike whether it has an account or not.

use std::time::Duration;

use actors::ids::{Id, User};
use actors::time::Time;

use super::codes;
use crate::access::guard::Public;
use crate::accounts::state::Accounts;
use crate::db::attempts::{self, Rate};
use crate::db::{Conn, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::http::limits::rate;

/// Tries to log in, whether they succeed or not.
pub const LOGINS: &str = "logins";
const LOGIN_FAILURES: &str = "login_failures";

/// Classes of the settings, each with the key that it is counted for.
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

/// A code that is asked for.
pub fn code_mails(state: &Accounts, by: &Public, email: &str) -> Rates {
    let limits = &state.config.limits;
    vec![
        (rate("code_pause", limits.code_pause), of_address(state, email)),
        (rate("code_mails", limits.code_mails), of_address(state, email)),
        (rate("code_mails_of_client", limits.code_mails_of_client), of_client(state, by)),
    ]
}

/// A password that is tried.
pub fn logins(state: &Accounts, by: &Public, email: &str) -> Rates {
    let limits = &state.config.limits;
    vec![
        (rate(LOGINS, limits.logins), of_both(state, by, email)),
        (rate(LOGIN_FAILURES, limits.login_failures), of_both(state, by, email)),
        (rate("login_failures_of_client", limits.login_failures_of_client), of_client(state, by)),
    ]
}

/// The password of an account that is asked for once more within a session.
pub fn proofs(state: &Accounts, user_id: Id<User>) -> Rates {
    let of_account = state.secret.hex("account", &[user_id.uuid().as_bytes()]);
    vec![(rate(LOGIN_FAILURES, state.config.limits.login_failures), of_account)]
}

/// A code that is tried. Not counted for the address alone, or anybody could lock its owner out: how often its codes can be
/// guessed is bounded by the tries of each and by how many there are in an hour ([`code_mails`]).
pub fn code_tries(state: &Accounts, by: &Public, email: &str) -> Rates {
    vec![(rate("code_failures", state.config.limits.code_failures), of_both(state, by, email))]
}

/// A token that is tried: it names no account that could be locked.
pub fn token_tries(state: &Accounts, by: &Public) -> Rates {
    vec![(rate("token_failures_of_client", state.config.limits.token_failures_of_client), of_client(state, by))]
}

/// How long until anything may be tried again in these classes; zero: now. Counts nothing.
///
/// # Errors
/// The database's own.
pub async fn locked(conn: &mut Conn, rates: &Rates, now: Time) -> Result<Duration, Failed> {
    let mut longest = Duration::ZERO;
    for (rate, key) in rates {
        longest = longest.max(attempts::wait(conn, *rate, key, now).await?);
    }
    Ok(longest)
}

/// Whoever chose a new password mistyped the former one no longer.
///
/// # Errors
/// The database's own.
pub async fn forgive_logins(conn: &mut Conn, both: &str) -> Result<(), Failed> {
    attempts::forget(conn, LOGIN_FAILURES, both).await
}

/// The key of [`forgive_logins`].
pub fn of_logins(state: &Accounts, by: &Public, email: &str) -> String {
    of_both(state, by, email)
}

/// What became of a secret that was tried, as the transaction that counted it says.
pub enum Tried<T> {
    /// Too many were wrong: this one was not even looked at.
    Locked(Duration),
    Wrong,
    Right(T),
}

impl<T> Tried<T> {
    /// # Errors
    /// 429 while locked; 422 `OtpInvalid` for whatever is wrong with the `field`.
    pub fn or_refused(self, field: &str) -> Result<T, Failure> {
        match self {
            Self::Locked(wait) => Err(Failure::too_many(wait)),
            Self::Wrong => Err(Failure::at(field, Code::OTP_INVALID, codes::WRONG)),
            Self::Right(right) => Ok(right),
        }
    }
}
