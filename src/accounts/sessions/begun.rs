//! A session and the refresh token that it is at.

use std::time::Duration;

use actors::ids::{Id, Session};
use actors::time::Time;

use super::{refresh, store};
use crate::accounts::model::{Account, AuthResponse, Profile};
use crate::accounts::state::Accounts;
use crate::http::failure::Failure;
use crate::keys::random;

/// A session that was drawn, or that goes on.
#[derive(Debug, Clone)]
pub struct Begun {
    pub id: Id<Session>,
    pub salt: String,
    pub counter: i64,
    pub device: String,
    pub now: Time,
    pub expires_at: Time,
}

impl Begun {
    /// A new one, to be inserted.
    ///
    /// # Errors
    /// 500: the system has no chance to give.
    pub fn draw(state: &Accounts, device: &str, now: Time) -> Result<Self, Failure> {
        Ok(Self {
            id: Id::draw(),
            salt: hex::encode(random::<16>().map_err(Failure::internal)?),
            counter: store::FIRST,
            device: device.to_owned(),
            now,
            expires_at: now + Duration::from_secs(state.config.accounts.refresh_token_seconds),
        })
    }

    /// What a log-in is answered with.
    ///
    /// # Errors
    /// 500: there is no key to sign with.
    pub fn answer(&self, state: &Accounts, account: &Account) -> Result<AuthResponse, Failure> {
        let access_token = state.tokens.issue(account.id, self.id, self.now);
        Ok(AuthResponse {
            access_token: access_token.ok_or_else(|| Failure::internal("an access token could not be signed"))?,
            refresh_token: refresh::issue(&state.secret, self.id, &self.salt, self.counter),
            token_type: "Bearer",
            expires_in: state.tokens.life().as_secs(),
            refresh_expires_in: state.config.accounts.refresh_token_seconds,
            user: Profile::from(account),
        })
    }
}
