//! What a browser keeps while somebody is at the provider: sealed, so that it can be neither read nor made elsewhere, and
//! bound to that browser, so that an answer that somebody else got is of no use in it.

use actors::time::Time;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use cookie::time::Duration;
use cookie::{Cookie, SameSite};
use serde::{Deserialize, Serialize};

use crate::keys::Secret;

const NAME: &str = "colloquy-login";
/// The two operations that read it, and nothing else.
const PATH: &str = "/api/auth/google-login";
const PURPOSE: &str = "login cookie";
const LONGEST: usize = 8192;

/// A log-in under way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnderWay {
    pub state: String,
    pub nonce: String,
    /// Ours, towards the provider.
    pub verifier: String,
    /// The application's, towards us.
    pub code_challenge: String,
    pub return_url: Option<String>,
    /// Milliseconds.
    pub expires_at: i64,
}

impl UnderWay {
    /// As a `Set-Cookie` for a browser.
    ///
    /// # Errors
    /// The system has no chance to give.
    pub fn set(&self, secret: &Secret, seconds: i64, secure: bool) -> std::io::Result<String> {
        let sealed = secret.seal(PURPOSE, NAME.as_bytes(), &serde_json::to_vec(self)?)?;
        Ok(made(URL_SAFE_NO_PAD.encode(sealed), seconds, secure))
    }

    /// From the value of the cookie. `None`: it is not ours, was changed, or its time is over.
    pub fn open(secret: &Secret, value: &str, now: Time) -> Option<Self> {
        if value.len() > LONGEST {
            return None;
        }
        let opened = secret.open(PURPOSE, NAME.as_bytes(), &URL_SAFE_NO_PAD.decode(value).ok()?)?;
        let under_way: Self = serde_json::from_slice(&opened).ok()?;
        (under_way.expires_at > now.millis()).then_some(under_way)
    }
}

/// The `Set-Cookie` that drops it.
pub fn dropped(secure: bool) -> String {
    made(String::new(), 0, secure)
}

/// Its value in the `Cookie` headers of a request. Of several the last counts, as in a jar.
pub fn value<'a>(headers: impl Iterator<Item = &'a str>) -> Option<String> {
    let cookies = headers.flat_map(Cookie::split_parse).flatten();
    cookies.filter(|cookie| cookie.name() == NAME).last().map(|cookie| cookie.value().to_owned())
}

fn made(value: String, seconds: i64, secure: bool) -> String {
    Cookie::build((NAME, value))
        .path(PATH)
        .http_only(true)
        // The provider sends the browser back by a link of its own, which Strict would strip of the cookie.
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

    use super::{UnderWay, dropped, value};
    use crate::keys::Secret;

    fn under_way() -> UnderWay {
        UnderWay {
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
        let set = under_way().set(&secret, 600, true).unwrap();
        assert!(set.ends_with("; HttpOnly; SameSite=Lax; Secure; Path=/api/auth/google-login; Max-Age=600"), "{set}");
        assert!(!under_way().set(&secret, 600, false).unwrap().contains("Secure"));
        let sent = format!("a=b; {}; c=d", set.split(';').next().unwrap());
        let kept = value([sent.as_str()].into_iter()).unwrap();
        let now = Time::from_millis(999).unwrap();
        assert_eq!(UnderWay::open(&secret, &kept, now), Some(under_way()));
        assert_eq!(UnderWay::open(&secret, &kept, Time::from_millis(1000).unwrap()), None);
        assert_eq!(UnderWay::open(&Secret::of(vec![8; 32]), &kept, now), None);
        assert_eq!(UnderWay::open(&secret, &format!("{kept}A"), now), None);
        assert!(dropped(false).contains("Max-Age=0"));
    }

    proptest! {
        #[test]
        fn whatever_a_browser_sends_is_read_without_harm(header in ".*", sealed in "[A-Za-z0-9_=-]*") {
            let named = format!("colloquy-login={sealed}");
            for header in [header.as_str(), named.as_str()] {
                if let Some(value) = value([header].into_iter()) {
                    prop_assert_eq!(UnderWay::open(&Secret::of(vec![7; 32]), &value, Time::from_millis(0).unwrap()), None);
                }
            }
        }
    }
}
