//! One-time codes sent by e-mail: random, stored as a hash, valid once and for a few attempts.

mod generate;
pub mod store;

use std::time::Duration;

use actors::language::Language;
use actors::time::Time;
use subtle::ConstantTimeEq;

use super::emails;
use super::model::CodePurpose;
use crate::accounts::state::Accounts;
use crate::db::{Conn, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::jobs::mail::QueuedEmail;

pub use generate::hash;

/// The message for every wrong secret, whatever is wrong with it.
pub const WRONG: &str = Code::OTP_INVALID.sentence;

/// A generated code that is still to be stored and sent.
pub struct IssuedCode {
    email: String,
    purpose: CodePurpose,
    code: String,
    hash: String,
    tries: i64,
    minutes: u64,
    expires_at: Time,
}

impl IssuedCode {
    /// Generates a code. `subject` is what it is bound to besides its address, such as the id of a registration.
    ///
    /// # Errors
    /// 500 when the system provides no random bytes.
    pub fn new(
        state: &Accounts,
        purpose: CodePurpose,
        email: &str,
        subject: &str,
        now: Time,
    ) -> Result<Self, ApiError> {
        let code = generate::new_code()?;
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

    /// Stores the code; it replaces an older one.
    ///
    /// # Errors
    /// Returns the database error.
    pub async fn save(&self, conn: &mut Conn) -> Result<(), DbError> {
        store::replace(conn, &self.email, self.purpose, &self.hash, self.tries, self.expires_at).await
    }

    /// Returns its e-mail, which is not sent any more once the code has expired.
    #[must_use]
    pub fn mailing(&self, language: Language) -> QueuedEmail {
        let email = emails::code(&self.email, language, &self.code, self.purpose, self.minutes);
        QueuedEmail::from(email).until(self.expires_at)
    }
}

/// Uses one attempt of a code. Returns whether the code was right; a right code is deleted.
///
/// # Errors
/// Returns the database error.
pub async fn redeem(
    conn: &mut Conn,
    email: &str,
    purpose: CodePurpose,
    hash: &str,
    now: Time,
) -> Result<bool, DbError> {
    let Some(stored_hash) = store::take_try(conn, email, purpose, now).await? else { return Ok(false) };
    let right = bool::from(stored_hash.as_bytes().ct_eq(hash.as_bytes()));
    if right {
        store::delete(conn, email, purpose).await?;
    }
    Ok(right)
}
