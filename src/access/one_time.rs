//! Tokens that are valid once or until they are revoked: 256 random bits from the operating system, stored only as a
//! keyed hash, each for one purpose.
//!
//! Tokens of links in e-mails are part of a request's path. That is why the log never contains paths, only their
//! templates.

use actix_web::HttpRequest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::error::ApiError;
use crate::http::fields::{Field, InvalidValue};
use crate::http::input::{Input, Raw};
use crate::http::route_table::path_parameter;
use crate::keys::{Secret, random};

/// The pattern of such a token in the OpenAPI document.
pub const PATTERN: &str = "^[A-Za-z0-9_-]{43}$";

/// The length of 32 bytes in base64, in characters.
const LENGTH: usize = 43;

/// A token that is accepted once.
#[derive(Clone, PartialEq, Eq, ToSchema)]
#[schema(format = Password, min_length = 1, max_length = 1000)]
pub struct OneTimeToken(String);

impl OneTimeToken {
    /// Generates a token.
    ///
    /// # Errors
    /// 500 if the operating system's random number generator fails.
    pub fn generate() -> Result<Self, ApiError> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::<32>().map_err(ApiError::internal)?)))
    }

    /// A token as somebody presents it, which may have any form.
    #[must_use]
    pub fn presented(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// Returns the token itself, to be given to its recipient only.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// Returns the keyed hash that is stored. `None` if the text does not have the form of a token.
    #[must_use]
    pub fn hash(&self, secret: &Secret, purpose: &str) -> Option<String> {
        let is_one =
            self.0.len() == LENGTH && self.0.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte));
        is_one.then(|| secret.hex("one-time token", &[purpose.as_bytes(), self.0.as_bytes()]))
    }

    /// Like [`OneTimeToken::hash`], for a generated token, which always has the right form.
    ///
    /// # Errors
    /// 500 if it does not.
    pub fn stored_hash(&self, secret: &Secret, purpose: &str) -> Result<String, ApiError> {
        self.hash(secret, purpose).ok_or_else(|| ApiError::internal("a generated token has no hash"))
    }
}

impl std::fmt::Debug for OneTimeToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OneTimeToken(…)")
    }
}

/// Accepts any text of 1 to 1000 characters, so that a malformed token gets the same response as an unknown one.
impl Field for OneTimeToken {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::String(text) = value else { return Err(InvalidValue::value("This must be a string.")) };
        InvalidValue::length(text, 1, 1000)?;
        Ok(Self(text.clone()))
    }
}

/// The `{token}` of the path.
impl Input for OneTimeToken {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        Ok(Self(path_parameter(request, "token").to_owned()))
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
        let (one, other) = (OneTimeToken::generate().unwrap(), OneTimeToken::generate().unwrap());
        assert_ne!(one, other);
        let hash = one.hash(&secret, "a").unwrap();
        assert_eq!(one.stored_hash(&secret, "a").unwrap(), hash);
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
