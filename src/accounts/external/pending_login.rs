//! The cookie that a browser holds while its user is at the provider.
//!
//! It is encrypted and authenticated, so that nobody else can read or create one, and it binds the log-in to that
//! browser, so that the response to the log-in of another user is of no use in it.

use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use serde::{Deserialize, Serialize};

use crate::keys::Secret;

const NAME: &str = "colloquy-login";
/// The common path of the operations that read the cookie; it is sent to no other.
const PATH: &str = "/api/auth/google-login";
const PURPOSE: &str = "login cookie";
const LONGEST: usize = 8192;

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
    /// Returns the `Set-Cookie` header value that stores it in the browser.
    ///
    /// # Errors
    /// Returns an error when the system provides no random bytes.
    pub fn set(&self, secret: &Secret, seconds: i64, secure: bool) -> std::io::Result<String> {
        let sealed = secret.seal(PURPOSE, NAME.as_bytes(), &serde_json::to_vec(self)?)?;
        Ok(made(URL_SAFE_NO_PAD.encode(sealed), seconds, secure))
    }

    /// Decrypts the value of the cookie. Returns `None` when it was not created by this server, was changed, or has
    /// expired.
    pub fn open(secret: &Secret, value: &str, now: Time) -> Option<Self> {
        if value.len() > LONGEST {
            return None;
        }
        let opened = secret.open(PURPOSE, NAME.as_bytes(), &URL_SAFE_NO_PAD.decode(value).ok()?)?;
        let pending_login: Self = serde_json::from_slice(&opened).ok()?;
        (pending_login.expires_at > now.millis()).then_some(pending_login)
    }
}

/// Returns the `Set-Cookie` header value that deletes it.
pub fn dropped(secure: bool) -> String {
    made(String::new(), 0, secure)
}

/// Returns its value from the `Cookie` headers of a request. Of several the last one counts, as in a cookie jar.
pub fn value<'a>(headers: impl Iterator<Item = &'a str>) -> Option<String> {
    let cookies = headers.flat_map(Cookie::split_parse).flatten();
    cookies.filter(|cookie| cookie.name() == NAME).last().map(|cookie| cookie.value().to_owned())
}

fn made(value: String, seconds: i64, secure: bool) -> String {
    Cookie::build((NAME, value))
        .path(PATH)
        .http_only(true)
        // The provider sends the browser back by a cross-site navigation, for which a `Strict` cookie would not be
        // sent.
        .same_site(SameSite::Lax)
        .secure(secure)
        .max_age(Duration::seconds(seconds))
        .build()
        .to_string()
}

#[cfg(test)]
mod tests {
    use actors::time::Time;
    use proptest::prelude::*;

    use super::{PendingLogin, dropped, value};
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
    fn what_is_set_comes_back_to_us_alone_and_in_time() {
        let secret = Secret::of(vec![7; 32]);
        let set = pending_login().set(&secret, 600, true).unwrap();
        assert!(set.ends_with("; HttpOnly; SameSite=Lax; Secure; Path=/api/auth/google-login; Max-Age=600"), "{set}");
        assert!(!pending_login().set(&secret, 600, false).unwrap().contains("Secure"));
        let sent = format!("a=b; {}; c=d", set.split(';').next().unwrap());
        let stored = value([sent.as_str()].into_iter()).unwrap();
        let now = Time::from_millis(999).unwrap();
        assert_eq!(PendingLogin::open(&secret, &stored, now), Some(pending_login()));
        assert_eq!(PendingLogin::open(&secret, &stored, Time::from_millis(1000).unwrap()), None);
        assert_eq!(PendingLogin::open(&Secret::of(vec![8; 32]), &stored, now), None);
        assert_eq!(PendingLogin::open(&secret, &format!("{stored}A"), now), None);
        assert!(dropped(false).contains("Max-Age=0"));
    }

    proptest! {
        #[test]
        fn whatever_a_browser_sends_is_read_without_harm(header in ".*", sealed in "[A-Za-z0-9_=-]*") {
            let named = format!("colloquy-login={sealed}");
            for header in [header.as_str(), named.as_str()] {
                if let Some(value) = value([header].into_iter()) {
                    prop_assert_eq!(PendingLogin::open(&Secret::of(vec![7; 32]), &value, Time::from_millis(0).unwrap()), None);
                }
            }
        }
    }
}
