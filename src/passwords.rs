//! Passwords: which are taken, and how they are hashed: Argon2id on a bounded pool.
//!
//! Hashing is made to be slow. Two at once (by default) keep a burst of log-ins from taking every core, and a
//! queue that is full answers 429 instead of growing.

use std::sync::Arc;
use std::time::Duration;

use argon2::password_hash::phc::PasswordHash;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use argon2::{Algorithm, Argon2, Params, Version};
use tokio::sync::Semaphore;

use crate::config::Accounts;
use crate::http::failure::Failure;
use crate::http::fields::Wrong;
use crate::http::reason::Reason;

/// Hashes and checks passwords.
pub struct Passwords {
    argon2: Argon2<'static>,
    parameters: Params,
    at_once: Arc<Semaphore>,
    waiting: Arc<Semaphore>,
    /// Checked where there is no account, so that its absence takes as long as a wrong password.
    nobodys: String,
}

/// What a check found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Checked {
    Wrong,
    Right,
    /// Right, and hashed with weaker parameters than today's.
    RightButWeak,
}

impl Passwords {
    /// # Errors
    /// The parameters are outside what Argon2 takes.
    pub fn new(settings: &Accounts) -> Result<Self, String> {
        let parameters = Params::new(settings.argon2_memory_kib, settings.argon2_passes, 1, None);
        let parameters = parameters.map_err(|error| format!("accounts.argon2_*: {error}"))?;
        let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, parameters.clone());
        let nobodys = argon2.hash_password(b"nobody has this password").map_err(|error| error.to_string())?.to_string();
        Ok(Self {
            argon2,
            parameters,
            at_once: Arc::new(Semaphore::new(settings.argon2_parallel)),
            waiting: Arc::new(Semaphore::new(settings.argon2_parallel + settings.argon2_queue)),
            nobodys,
        })
    }

    /// A PHC string with a fresh salt.
    ///
    /// # Errors
    /// 429 when the queue is full.
    pub async fn hash(&self, password: String) -> Result<String, Failure> {
        let argon2 = self.argon2.clone();
        let hashed =
            self.pooled(move || argon2.hash_password(password.as_bytes()).map(|hash| hash.to_string())).await?;
        hashed.map_err(Failure::internal)
    }

    /// Checks a password against a PHC string, or against nobody's.
    ///
    /// # Errors
    /// 429 when the queue is full.
    pub async fn check(&self, password: String, hash: Option<String>) -> Result<Checked, Failure> {
        let argon2 = self.argon2.clone();
        let is_nobodys = hash.is_none();
        let hash = hash.unwrap_or_else(|| self.nobodys.clone());
        let (memory, passes) = (self.parameters.m_cost(), self.parameters.t_cost());
        self.pooled(move || {
            let Ok(parsed) = PasswordHash::new(&hash) else { return Checked::Wrong };
            if argon2.verify_password(password.as_bytes(), &parsed).is_err() || is_nobodys {
                return Checked::Wrong;
            }
            let weak = Params::try_from(&parsed).is_ok_and(|used| used.m_cost() < memory || used.t_cost() < passes);
            if weak { Checked::RightButWeak } else { Checked::Right }
        })
        .await
    }

    async fn pooled<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
        let full = || Failure::too_many(Duration::from_secs(1));
        let _place = Arc::clone(&self.waiting).try_acquire_owned().map_err(|_| full())?;
        let turn = Arc::clone(&self.at_once).acquire_owned().await.map_err(Failure::internal)?;
        let work = move || {
            let done = work();
            drop(turn);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(Failure::internal)
    }
}

/// Whether a password may be chosen: 10–128 characters, not among the common ones, not made of the account's own words.
/// There is no rule about digits or signs.
///
/// # Errors
/// What is wrong with it.
pub fn acceptable(password: &str, own_words: &[&str]) -> Result<(), Wrong> {
    let refuse = |message: &str| Err(Wrong::of(Reason::PasswordRefused, message));
    let length = password.chars().count();
    if !(10..=128).contains(&length) {
        let reason = if length < 10 { Reason::TooShort } else { Reason::TooLong };
        return Err(Wrong::of(reason, "A password has 10 to 128 characters."));
    }
    let lowercase = password.to_lowercase();
    let parts = own_words.iter().flat_map(|words| words.split(|c: char| !c.is_alphanumeric()));
    let own: Vec<String> = parts.filter(|word| word.chars().count() >= 3).map(str::to_lowercase).collect();
    let rest = own.iter().fold(lowercase.clone(), |rest, word| rest.replace(word.as_str(), ""));
    // Signs between one's own words add nothing.
    if rest != lowercase && rest.chars().filter(|sign| sign.is_alphanumeric()).count() < 6 {
        return refuse("This password is made of your own name or address.");
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    if zxcvbn::zxcvbn(password, &own).score() < zxcvbn::Score::Two {
        return refuse("This password is among the first that are tried.");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Checked, Passwords, acceptable};
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
        assert_eq!(check(&hash, "correct horse battery").await, Checked::Right);
        assert_eq!(check(&hash, "wrong horse battery").await, Checked::Wrong);
        let weak = Passwords::new(&Accounts { argon2_memory_kib: 8, argon2_passes: 1, ..settings() }).unwrap();
        let weak = weak.hash("correct horse battery".to_owned()).await.unwrap();
        assert_eq!(check(&weak, "correct horse battery").await, Checked::RightButWeak);
        assert_eq!(strong.check("nobody has this password".to_owned(), None).await.unwrap(), Checked::Wrong);
    }
}
