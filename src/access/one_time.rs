//! Tokens that are good once or until they are revoked: 256 bits from the system's chance, kept as a keyed hash alone, each for
//! one purpose.
//!
//! Those of mailed links come in the path of a request, which is why no path is ever logged: only its template is.

use actix_web::HttpRequest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::http::failure::Failure;
use crate::http::fields::{Field, Wrong};
use crate::http::input::{Input, Raw};
use crate::keys::{Secret, random};

/// What such a token looks like in the OpenAPI document.
pub const PATTERN: &str = "^[A-Za-z0-9_-]{43}$";

/// 32 bytes in base64.
const LENGTH: usize = 43;

/// A token as it was drawn, or as somebody presents it. `Debug` doesn't show it.
#[derive(Clone, PartialEq, Eq)]
pub struct OneTimeToken(String);

impl OneTimeToken {
    /// # Errors
    /// 500: the system has no chance to give.
    pub fn draw() -> Result<Self, Failure> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::<32>().map_err(Failure::internal)?)))
    }

    /// For whom it is meant, and nobody else.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// What is kept of it. `None`: no token of ours looks like this.
    #[must_use]
    pub fn hash(&self, secret: &Secret, purpose: &str) -> Option<String> {
        let is_one =
            self.0.len() == LENGTH && self.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        is_one.then(|| secret.hex("one-time token", &[purpose.as_bytes(), self.0.as_bytes()]))
    }

    /// As [`OneTimeToken::hash`], of one that was drawn: it always has the form.
    ///
    /// # Errors
    /// 500: it hasn't.
    pub fn kept(&self, secret: &Secret, purpose: &str) -> Result<String, Failure> {
        self.hash(secret, purpose).ok_or_else(|| Failure::internal("a token that was drawn has no hash"))
    }
}

impl std::fmt::Debug for OneTimeToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OneTimeToken(…)")
    }
}

/// Whatever was typed in its place: what has not the form of a token is as wrong as one that nobody drew.
impl Field for OneTimeToken {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let Value::String(text) = value else { return Err(Wrong::value("This must be a string.")) };
        Wrong::length(text, 1, 1000)?;
        Ok(Self(text.clone()))
    }
}

/// The `{token}` of the path.
impl Input for OneTimeToken {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, Failure> {
        Ok(Self(request.match_info().get("token").unwrap_or_default().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::OneTimeToken;
    use crate::http::fields::Field;
    use crate::keys::Secret;
    use proptest::prelude::*;

    #[test]
    fn a_token_is_long_unlike_any_other_and_hashed_for_one_purpose() {
        let secret = Secret::of(vec![7; 32]);
        let (one, other) = (OneTimeToken::draw().unwrap(), OneTimeToken::draw().unwrap());
        assert_ne!(one, other);
        let hash = one.hash(&secret, "a").unwrap();
        assert_eq!(one.kept(&secret, "a").unwrap(), hash);
        assert_ne!(one.hash(&secret, "b").unwrap(), hash);
        assert_ne!(other.hash(&secret, "a").unwrap(), hash);
        assert_ne!(one.hash(&Secret::of(vec![8; 32]), "a").unwrap(), hash);
        assert!(!format!("{one:?} {hash}").contains(one.text()));
    }

    proptest! {
        #[test]
        fn whatever_is_presented_is_read_without_harm(text in ".*") {
            if let Ok(token) = OneTimeToken::parse(&serde_json::json!(text)) {
                let hashed = token.hash(&Secret::of(vec![7; 32]), "a").is_some();
                prop_assert_eq!(hashed, text.len() == 43 && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte)));
            }
        }
    }
}
