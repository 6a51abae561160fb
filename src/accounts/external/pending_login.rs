//! The cookie that a browser holds while its user is at the provider.
//!
//! It is encrypted and authenticated, so that nobody else can read or create one, and it binds the log-in to that
//! browser, so that the response to the log-in of another user is of no use in it.

use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::http::sign_in_cookie::SignInCookie;
use crate::keys::Secret;

/// The path is that of both operations of a log-in.
pub const COOKIE: SignInCookie = SignInCookie { name: "colloquy-login", path: "/api/auth/google-login" };
const PURPOSE: &str = "login cookie";
const MAX_BYTES: usize = 8192;

/// A log-in in progress.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PendingLogin {
    pub state: String,
    pub nonce: String,
    /// The PKCE verifier of this server towards the provider.
    pub verifier: String,
    /// The PKCE challenge of the application towards this server.
    pub code_challenge: String,
    pub return_url: Option<String>,
    /// Unix time in milliseconds.
    pub expires_at: i64,
}

impl PendingLogin {
    /// Encrypts it as the value of the cookie.
    ///
    /// # Errors
    /// Returns an error when the system provides no random bytes.
    pub fn seal(&self, secret: &Secret) -> std::io::Result<String> {
        let sealed = secret.seal(PURPOSE, COOKIE.name.as_bytes(), &serde_json::to_vec(self)?)?;
        Ok(URL_SAFE_NO_PAD.encode(sealed))
    }

    /// Decrypts the value of the cookie. Returns `None` when it was not created by this server, was changed, or has
    /// expired.
    pub fn open(secret: &Secret, value: &str, now: Time) -> Option<Self> {
        if value.len() > MAX_BYTES {
            return None;
        }
        let opened = secret.open(PURPOSE, COOKIE.name.as_bytes(), &URL_SAFE_NO_PAD.decode(value).ok()?)?;
        let pending_login: Self = serde_json::from_slice(&opened).ok()?;
        (pending_login.expires_at > now.millis()).then_some(pending_login)
    }
}

#[cfg(test)]
mod tests {
    use actors::time::Time;
    use proptest::prelude::*;

    use super::PendingLogin;
    use crate::keys::Secret;

    fn pending_login() -> PendingLogin {
        PendingLogin {
            state: "state".to_owned(),
            nonce: "nonce".to_owned(),
            verifier: "verifier".to_owned(),
            code_challenge: "challenge".to_owned(),
            return_url: Some("/projects".to_owned()),
            expires_at: 1000,
        }
    }

    #[test]
    fn what_is_sealed_is_opened_by_us_alone_and_in_time() {
        let secret = Secret::of(vec![7; 32]);
        let sealed = pending_login().seal(&secret).unwrap();
        let now = Time::from_millis(999).unwrap();
        assert_eq!(PendingLogin::open(&secret, &sealed, now), Some(pending_login()));
        assert_eq!(PendingLogin::open(&secret, &sealed, Time::from_millis(1000).unwrap()), None);
        assert_eq!(PendingLogin::open(&Secret::of(vec![8; 32]), &sealed, now), None);
        assert_eq!(PendingLogin::open(&secret, &format!("{sealed}A"), now), None);
    }

    proptest! {
        #[test]
        fn whatever_a_browser_sends_is_opened_without_harm(value in ".*", sealed in "[A-Za-z0-9_=-]*") {
            for value in [value, sealed] {
                prop_assert_eq!(PendingLogin::open(&Secret::of(vec![7; 32]), &value, Time::from_millis(0).unwrap()), None);
            }
        }
    }
}
