//! Tokens of mailed links: 256 bits from the system's chance, good for one purpose, kept as a keyed hash alone.
//!
//! They come in the path of a request, which is why no path is ever logged: only its template is.

use actix_web::HttpRequest;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::keys::{Secret, random};
use crate::http::failure::Failure;
use crate::http::input::{Input, Raw};

/// What such a token looks like in the OpenAPI document.
pub const PATTERN: &str = "^[A-Za-z0-9_-]{43}$";

const LENGTH: usize = 43;

/// A token as it is mailed, or as somebody presents it. It is not shown by `Debug`.
#[derive(Clone)]
pub struct LinkToken(String);

impl LinkToken {
    /// # Errors
    /// 500: the system has no chance to give.
    pub fn draw() -> Result<Self, Failure> {
        Ok(Self(URL_SAFE_NO_PAD.encode(random::<32>().map_err(Failure::internal)?)))
    }

    /// For the fragment of a link, and for nothing else.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0
    }

    /// What is kept of it. `None`: no token of ours looks like this.
    #[must_use]
    pub fn hash(&self, secret: &Secret, purpose: &str) -> Option<String> {
        (self.0.len() == LENGTH).then(|| secret.hex("link", &[purpose.as_bytes(), self.0.as_bytes()]))
    }
}

impl std::fmt::Debug for LinkToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("LinkToken(…)")
    }
}

/// The `{token}` of the path.
impl Input for LinkToken {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, Failure> {
        Ok(Self(request.match_info().get("token").unwrap_or_default().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::{LinkToken, Secret};

    #[test]
    fn a_token_is_long_unlike_any_other_and_hashed_for_one_purpose() {
        let secret = Secret::of(vec![7; 32]);
        let (one, other) = (LinkToken::draw().unwrap(), LinkToken::draw().unwrap());
        assert_eq!(one.text().len(), 43);
        assert_ne!(one.text(), other.text());
        let hash = one.hash(&secret, "a").unwrap();
        assert_eq!(one.hash(&secret, "a").unwrap(), hash);
        assert_ne!(one.hash(&secret, "b").unwrap(), hash);
        assert_ne!(other.hash(&secret, "a").unwrap(), hash);
        assert!(!format!("{one:?} {hash}").contains(one.text()));
    }

    #[test]
    fn what_is_no_token_of_ours_has_no_hash() {
        let secret = Secret::of(vec![7; 32]);
        for text in ["", "x", &"x".repeat(42), &"x".repeat(44), &"x".repeat(100_000)] {
            assert_eq!(LinkToken(text.to_owned()).hash(&secret, "a"), None);
        }
    }
}
