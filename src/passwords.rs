//! Checks which passwords may be chosen and hashes them with Argon2id on a bounded pool.
//!
//! Hashing is slow by design. The limit on parallel hashes (two by default) keeps a burst of log-ins from occupying
//! every core, and a full queue responds with 429 instead of growing.

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::config::Accounts;
use crate::http::error::ApiError;
use crate::http::fields::InvalidValue;
use crate::http::reason::Reason;

/// Hashes and verifies passwords.
pub struct Passwords {
    argon2: Argon2<'static>,
    parameters: Params,
    at_once: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// A hash that belongs to no account. It is verified if an account does not exist, so that this takes as long as a
    /// wrong password.
    dummy_hash: String,
}

/// The result of verifying a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PasswordCheck {
    Wrong,
    Right,
    /// Right, but the hash uses weaker parameters than the current settings.
    RightButWeak,
}

impl Passwords {
    /// # Errors
    /// Argon2 does not accept the parameters.
    pub fn new(settings: &Accounts) -> Result<Self, String> {
        let parameters = Params::new(settings.argon2_memory_kib, settings.argon2_passes, 1, None);
        let parameters = parameters.map_err(|error| format!("accounts.argon2_*: {error}"))?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters.clone());
        let dummy_hash =
            argon2.hash_password(b"nobody has this password").map_err(|error| error.to_string())?.to_string();
        Ok(Self {
            argon2,
            parameters,
            at_once: Arc::new(Semaphore::new(settings.argon2_parallel)),
            waiting: Arc::new(Semaphore::new(settings.argon2_parallel + settings.argon2_queue)),
            dummy_hash,
        })
    }

    /// Returns the hash as a PHC string with a new salt.
    ///
    /// # Errors
    /// 429 if the queue is full.
    pub async fn hash(&self, password: String) -> Result<String, ApiError> {
        let argon2 = self.argon2.clone();
        let hashed =
            self.pooled(move || argon2.hash_password(password.as_bytes()).map(|hash| hash.to_string())).await?;
        hashed.map_err(ApiError::internal)
    }

    /// Verifies a password against a PHC string. Without one, does the same work and returns `Wrong`.
    ///
    /// # Errors
    /// 429 if the queue is full.
    pub async fn check(&self, password: String, hash: Option<String>) -> Result<PasswordCheck, ApiError> {
        let argon2 = self.argon2.clone();
        let is_nobodys = hash.is_none();
        let hash = hash.unwrap_or_else(|| self.dummy_hash.clone());
        let (memory, passes) = (self.parameters.m_cost(), self.parameters.t_cost());
        self.pooled(move || {
            let Ok(parsed) = PasswordHash::new(&hash) else { return PasswordCheck::Wrong };
            if argon2.verify_password(password.as_bytes(), &parsed).is_err() || is_nobodys {
                return PasswordCheck::Wrong;
            }
            let weak = Params::try_from(&parsed).is_ok_and(|used| used.m_cost() < memory || used.t_cost() < passes);
            if weak { PasswordCheck::RightButWeak } else { PasswordCheck::Right }
        })
        .await
    }

    async fn pooled<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, ApiError> {
        let full = || ApiError::too_many(Duration::from_secs(1));
        let _permit = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| full())?;
        let turn = Arc::clone(&self.at_once).acquire_owned().await.map_err(ApiError::internal)?;
        let work = move || {
            let done = work();
            drop(turn);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(ApiError::internal)
    }
}

/// Checks that a password may be chosen: it has 10–128 characters, is not a common one, and does not consist of the
/// account's own words (name, address). There is no rule about digits or punctuation.
///
/// # Errors
/// Why the password is rejected, in words for the client.
pub fn acceptable(password: &str, own_words: &[&str]) -> Result<(), InvalidValue> {
    let refuse = |message: &str| Err(InvalidValue::of(Reason::PasswordRefused, message));
    let length = password.chars().count();
    if !(10..=128).contains(&length) {
        let reason = if length < 10 { Reason::TooShort } else { Reason::TooLong };
        return Err(InvalidValue::of(reason, "A password must have 10 to 128 characters."));
    }
    let lowercase = password.to_lowercase();
    let parts = own_words.iter().flat_map(|words| words.split(|c: char| !c.is_alphanumeric()));
    let own: Vec<String> = parts.filter(|word| word.chars().count() >= 3).map(str::to_lowercase).collect();
    let rest = own.iter().fold(lowercase.clone(), |rest, word| rest.replace(word.as_str(), ""));
    // Punctuation between the account's own words adds no strength.
    if rest != lowercase && rest.chars().filter(|sign| sign.is_alphanumeric()).count() < 6 {
        return refuse("This password is based on your name or e-mail address.");
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    if zxcvbn::zxcvbn(password, &own).score() < zxcvbn::Score::Two {
        return refuse("This password is too common.");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{PasswordCheck, Passwords, acceptable};
    use crate::config::{Accounts, Config, Overrides};

    fn settings() -> Accounts {
        Config::layered(None, std::collections::HashMap::new(), &Overrides::default()).unwrap().accounts
    }

    #[test]
    fn common_short_and_own_passwords_are_refused_and_any_unicode_is_taken() {
        let own = ["ada.lovelace@example.org", "Ada Lovelace"];
        for refused in [
            "short",
            "1234567890",
            "password123",
            "qwertyuiop",
            "adalovelace1",
            "aaaaaaaaaaaa",
            "lovelace-ada",
            "ada.lovelace@example.org",
        ] {
            assert!(acceptable(refused, &own).is_err(), "{refused}");
        }
        for taken in ["correct horse battery", "пароль-из-слов-и-моря", "مفتاح البيت الأزرق", "🦀🦀 eats the evening 🦀"]
        {
            assert_eq!(acceptable(taken, &own), Ok(()), "{taken}");
        }
        assert!(acceptable(&"x7".repeat(65), &own).is_err());
    }

    #[tokio::test]
    async fn a_hash_is_argon2id_of_the_strength_asked_for_and_a_weaker_one_is_noticed() {
        let strong = Passwords::new(&settings()).unwrap();
        let hash = strong.hash("correct horse battery".to_owned()).await.unwrap();
        assert!(hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{hash}");
        let check = |hash: &str, password: &str| {
            let (hash, password) = (hash.to_owned(), password.to_owned());
            let strong = &strong;
            async move { strong.check(password, Some(hash)).await.unwrap() }
        };
        assert_eq!(check(&hash, "correct horse battery").await, PasswordCheck::Right);
        assert_eq!(check(&hash, "wrong horse battery").await, PasswordCheck::Wrong);
        let weak = Passwords::new(&Accounts { argon2_memory_kib: 8, argon2_passes: 1, ..settings() }).unwrap();
        let weak = weak.hash("correct horse battery".to_owned()).await.unwrap();
        assert_eq!(check(&weak, "correct horse battery").await, PasswordCheck::RightButWeak);
        assert_eq!(strong.check("nobody has this password".to_owned(), None).await.unwrap(), PasswordCheck::Wrong);
    }
}
