//! Types of a log-in at a provider: its parameters, and the redirects.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::http::fields::{Field, InvalidValue};

/// The place in the application to return to after the log-in: a path on its own host, however a browser interprets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReturnUrl(String);

impl ReturnUrl {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses a return path. Returns `None` when it could lead to another host.
    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        // Browsers treat a backslash as a slash, and drop tabs and line breaks anywhere.
        let plain = text.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'\\');
        if !plain || text.len() > 2000 || !text.starts_with('/') || text.starts_with("//") {
            return None;
        }
        let host = url::Url::parse("https://application.invalid").ok()?;
        let led = host.join(text).ok()?;
        // With its dots resolved, a path may begin like another host: `/.//evil` becomes `//evil`.
        (led.origin() == host.origin() && !led.path().starts_with("//")).then(|| Self(text.to_owned()))
    }
}

impl PartialSchema for ReturnUrl {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).max_length(Some(2000)).pattern(Some("^/")).into()
    }
}

impl Field for ReturnUrl {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let wrong = || InvalidValue::value("This must be a path of the application, such as /projects.");
        value.as_str().and_then(Self::read).ok_or_else(wrong)
    }
}

/// The S256 challenge of a verifier that only the application knows (RFC 7636).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeChallenge(String);

impl CodeChallenge {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    #[must_use]
    pub fn read(text: &str) -> Option<Self> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok()?;
        (bytes.len() == 32).then(|| Self(text.to_owned()))
    }
}

impl PartialSchema for CodeChallenge {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).pattern(Some("^[A-Za-z0-9_-]{43}$")).into()
    }
}

impl Field for CodeChallenge {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let wrong =
            || InvalidValue::value("This must be the SHA-256 of the code verifier, in base64url without padding.");
        value.as_str().and_then(Self::read).ok_or_else(wrong)
    }
}

/// The secret whose SHA-256 is the code challenge (RFC 7636).
#[derive(Clone, ToSchema)]
#[schema(min_length = 43, max_length = 128, pattern = "^[A-Za-z0-9._~-]{43,128}$")]
pub struct CodeVerifier(String);

impl CodeVerifier {
    #[must_use]
    pub fn fits(&self, challenge: &str) -> bool {
        let own = URL_SAFE_NO_PAD.encode(Sha256::digest(&self.0));
        own.as_bytes().ct_eq(challenge.as_bytes()).into()
    }
}

impl std::fmt::Debug for CodeVerifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("CodeVerifier(…)")
    }
}

impl Field for CodeVerifier {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let is_valid = |text: &&str| {
            (43..=128).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-._~".contains(&byte))
        };
        let verifier = value.as_str().filter(is_valid).map(|text| Self(text.to_owned()));
        verifier.ok_or_else(|| InvalidValue::value("This must be 43 to 128 letters, digits and signs of -._~."))
    }
}

/// A redirect, with the cookie to set; a cookie with an empty value is deleted.
#[derive(Debug)]
pub struct SentOn {
    pub location: String,
    pub cookie: Option<String>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{CodeChallenge, CodeVerifier, ReturnUrl};
    use crate::http::fields::Field;

    #[test]
    fn a_return_address_is_a_path_on_the_applications_own_host() {
        for good in ["/", "/projects", "/projects/1?tab=2#3", "/a//b", "/@x", "/%2F%2Fevil.example"] {
            assert!(ReturnUrl::read(good).is_some(), "{good}");
        }
        let evil = [
            "",
            "projects",
            "//evil.example",
            "/\\evil.example",
            "\\\\evil.example",
            "https://evil.example",
            "javascript:alert(1)",
            "/\t/evil.example",
            "/\n/evil.example",
            " //evil.example",
            "///evil.example",
            "http:evil.example",
            "/.//evil.example",
            "/..//evil.example",
            "/x/..//evil.example",
            "/%2e//evil.example",
            "/ü",
        ];
        for bad in evil {
            assert_eq!(ReturnUrl::read(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_verifier_fits_its_own_challenge_alone() {
        // The example of RFC 7636, appendix B.
        let verifier = CodeVerifier::parse(&json!("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")).unwrap();
        assert!(verifier.fits("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"));
        assert!(!verifier.fits("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cN"));
        assert!(CodeChallenge::read("E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM").is_some());
        for bad in
            ["", "x", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-c", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw+cM"]
        {
            assert_eq!(CodeChallenge::read(bad), None, "{bad}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_given_is_read_without_harm_and_leads_nowhere_else(text in "[/\\\\a-z:@?#.\\t ]{0,12}|.*") {
            if let Some(good) = ReturnUrl::read(&text) {
                let led = url::Url::parse("https://app.example/login/callback").unwrap().join(good.as_str()).unwrap();
                prop_assert_eq!(led.host_str(), Some("app.example"));
                prop_assert_eq!(led.scheme(), "https");
            }
            let _ = CodeChallenge::read(&text);
            let _ = CodeVerifier::parse(&json!(text));
        }
    }
}
