//! A session with the data that its tokens are issued from.

use std::time::Duration;

use actors::ids::{Id, Session};
use actors::time::Time;

use super::refresh;
use crate::accounts::model::{Account, AuthResponse, Profile};
use crate::accounts::state::Accounts;
use crate::http::error::ApiError;
use crate::keys::random;

/// The counter of a session's first refresh token.
pub const FIRST: i64 = 1;

/// A new session, or one that was refreshed.
#[derive(Debug, Clone)]
pub struct IssuedSession {
    pub id: Id<Session>,
    pub salt: String,
    pub counter: i64,
    pub device: String,
    pub now: Time,
    pub expires_at: Time,
}

impl IssuedSession {
    /// Generates a new session, to be inserted.
    ///
    /// # Errors
    /// 500 when the system provides no random bytes.
    pub fn generate(state: &Accounts, device: &str, now: Time) -> Result<Self, ApiError> {
        Ok(Self {
            id: Id::generate(),
            salt: hex::encode(random::<16>().map_err(ApiError::internal)?),
            counter: FIRST,
            device: device.to_owned(),
            now,
            expires_at: now + Duration::from_secs(state.config.accounts.refresh_token_seconds),
        })
    }

    /// Issues the tokens of the session and returns the response to a log-in.
    ///
    /// # Errors
    /// 500 when there is no signing key.
    pub fn answer(&self, state: &Accounts, account: &Account) -> Result<AuthResponse, ApiError> {
        Ok(AuthResponse {
            access_token: issue_access_token(state, account, self.id, self.now)?,
            refresh_token: refresh::issue(&state.secret, self.id, &self.salt, self.counter),
            token_type: BEARER,
            expires_in: state.gate.tokens.life().as_secs(),
            refresh_expires_in: state.config.accounts.refresh_token_seconds,
            user: Profile::from(account),
        })
    }
}

/// The type of every access token.
pub const BEARER: &str = "Bearer";

/// Issues an access token of a session.
///
/// # Errors
/// 500 when there is no signing key.
pub fn issue_access_token(state: &Accounts, account: &Account, id: Id<Session>, now: Time) -> Result<String, ApiError> {
    let token = state.gate.tokens.issue(account.id, id, now);
    token.ok_or_else(|| ApiError::internal("an access token could not be signed"))
}
