//! One-time codes by mail: drawn, kept as a hash, tried a few times, good once.

mod draw;
pub mod store;

use std::time::Duration;

use actors::time::Time;
use subtle::ConstantTimeEq;

use super::letters;
use super::model::{CodePurpose, Language};
use crate::accounts::state::Accounts;
use crate::db::{Conn, Failed};
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::jobs::mail::Mailing;

pub use draw::hash;

/// What is said of every wrong thing alike.
pub const WRONG: &str = Code::OTP_INVALID.sentence;

/// A code that was drawn and is to be kept and mailed.
pub struct Drawn {
    email: String,
    purpose: CodePurpose,
    code: String,
    hash: String,
    tries: i64,
    minutes: u64,
    expires_at: Time,
}

impl Drawn {
    /// `subject`: what the code is for besides its address, such as a registration's id.
    ///
    /// # Errors
    /// 500: the system has no chance to give.
    pub fn new(state: &Accounts, purpose: CodePurpose, email: &str, subject: &str, now: Time) -> Result<Self, Failure> {
        let code = draw::draw()?;
        let life = state.config.accounts.code_seconds;
        Ok(Self {
            email: email.to_owned(),
            purpose,
            hash: hash(&state.secret, purpose, email, subject, &code),
            code,
            tries: state.config.accounts.code_tries,
            minutes: life.div_ceil(60),
            expires_at: now + Duration::from_secs(life),
        })
    }

    #[must_use]
    pub fn email(&self) -> &str {
        &self.email
    }

    /// In the place of an older one.
    ///
    /// # Errors
    /// The database's own.
    pub async fn keep(&self, conn: &mut Conn) -> Result<(), Failed> {
        store::replace(conn, &self.email, self.purpose, &self.hash, self.tries, self.expires_at).await
    }

    /// Its mail, which is for nothing once it has expired.
    #[must_use]
    pub fn mailing(&self, language: Language) -> Mailing {
        let letter = letters::code(&self.email, language, &self.code, self.purpose, self.minutes);
        Mailing::from(letter).until(self.expires_at)
    }
}

/// Uses one try of a code. Gives whether it was right: then it is used up.
///
/// # Errors
/// The database's own.
pub async fn redeem(conn: &mut Conn, email: &str, purpose: CodePurpose, hash: &str, now: Time) -> Result<bool, Failed> {
    let Some(kept) = store::take_try(conn, email, purpose, now).await? else { return Ok(false) };
    let right = bool::from(kept.as_bytes().ct_eq(hash.as_bytes()));
    if right {
        store::delete(conn, email, purpose).await?;
    }
    Ok(right)
}
