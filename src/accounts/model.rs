//! Accounts as types: addresses, names, profiles, and what is answered.

use std::str::FromStr;

use actors::ids::{Id, User};
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::enumeration;
use crate::http::fields::{Field, Wrong, line, text};
use crate::jobs::mail::Tongue;

enumeration! {
    /// A language of people, documents or results. AUTO: to be found out.
    pub enum Language {
        Auto = "AUTO", En = "EN", Ar = "AR", De = "DE", Es = "ES", Fr = "FR", It = "IT", Nl = "NL", Pt = "PT", Tr = "TR",
        Zh = "ZH", Ja = "JA", Ko = "KO", Hi = "HI", Ru = "RU",
    }
}

impl Language {
    /// In which of the languages of our letters somebody with this language is written to.
    #[must_use]
    pub const fn tongue(self) -> Tongue {
        match self {
            Self::Ar => Tongue::Arabic,
            _ => Tongue::English,
        }
    }
}

enumeration! {
    /// What a one-time code is for.
    pub enum CodePurpose {
        ConfirmAccount = "CONFIRM_ACCOUNT",
        ResetPassword = "RESET_PASSWORD",
    }
}

/// An e-mail address in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Email(String);

impl Email {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Field for Email {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let wrong = || Wrong::value("This must be an e-mail address.");
        let address = text(value, 3, 254)?.to_lowercase();
        let parsed = lettre::Address::from_str(&address).map_err(|_| wrong())?;
        let has_host = parsed.domain().contains('.') && !parsed.user().starts_with('"');
        if has_host && address.is_ascii() { Ok(Self(address)) } else { Err(wrong()) }
    }
}

/// Somebody's name: 1–120 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FullName(pub String);

impl Field for FullName {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        line(value, 1, 120).map(Self)
    }
}

/// What somebody does: up to 120 characters on one line; nothing but blanks is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobTitle(pub Option<String>);

impl Field for JobTitle {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let title = line(value, 0, 120)?;
        Ok(Self(Some(title).filter(|title| !title.is_empty())))
    }
}

/// A password that was typed: any text up to 1,000 characters. Whether it may be chosen is looked at where one is chosen.
#[derive(Clone)]
pub struct Typed(pub String);

impl Field for Typed {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        let Value::String(text) = value else { return Err(Wrong::value("This must be a string.")) };
        Wrong::length(text, 1, 1000)?;
        // The same letters may be typed as different code points on different machines.
        Ok(Self(unicode_normalization::UnicodeNormalization::nfc(text.as_str()).collect()))
    }
}

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Typed(…)")
    }
}

/// Six digits, or whatever else was typed in their place.
#[derive(Debug, Clone)]
pub struct TypedCode(pub String);

impl Field for TypedCode {
    fn parse(value: &Value) -> Result<Self, Wrong> {
        text(value, 1, 20).map(Self)
    }
}

/// An account as it is kept.
#[derive(Debug, Clone)]
pub struct Account {
    pub id: Id<User>,
    pub email: String,
    pub full_name: String,
    pub job_title: Option<String>,
    pub language: Language,
    pub password_hash: Option<String>,
    /// The hash of the face that is kept.
    pub avatar: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
}

/// The name that is left of an account that was deleted.
pub const NOBODY: &str = "Deleted account";

/// Where an account's face is to be had; another address for each new one, so that nobody shows a former one.
#[must_use]
pub fn avatar_url(id: Id<User>, avatar: Option<&str>) -> Option<String> {
    avatar.map(|sha256| format!("/api/users/{id}/avatar?v={}", sha256.get(..12).unwrap_or(sha256)))
}

/// An account as its owner sees it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    #[schema(value_type = uuid::Uuid)]
    pub id: Id<User>,
    #[schema(format = Email)]
    pub email: String,
    pub full_name: String,
    #[schema(required)]
    pub job_title: Option<String>,
    pub language: Language,
    #[schema(required)]
    pub avatar_url: Option<String>,
    pub email_confirmed: bool,
    pub has_password: bool,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub created_at: Time,
    #[schema(value_type = chrono::DateTime<chrono::Utc>)]
    pub updated_at: Time,
}

impl From<&Account> for Profile {
    fn from(account: &Account) -> Self {
        Self {
            id: account.id,
            email: account.email.clone(),
            full_name: account.full_name.clone(),
            job_title: account.job_title.clone(),
            language: account.language,
            avatar_url: avatar_url(account.id, account.avatar.as_deref()),
            // An account comes to be by confirming its address.
            email_confirmed: true,
            has_password: account.password_hash.is_some(),
            created_at: account.created_at,
            updated_at: account.updated_at,
        }
    }
}

/// What a log-in gives.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthResponse {
    pub access_token: String,
    pub refresh_token: String,
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// Seconds.
    pub expires_in: u64,
    /// Seconds.
    pub refresh_expires_in: u64,
    pub user: Profile,
}

/// What a registration gives, whether or not the address has an account.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registered {
    #[schema(value_type = uuid::Uuid)]
    pub registration_id: Id<Registration>,
    #[schema(format = Email)]
    pub email: String,
    /// Seconds.
    pub code_expires_in: u64,
}

/// An account that waits for its code.
#[derive(Debug, Clone)]
pub struct Registration {
    pub id: Id<Registration>,
    pub email: String,
    pub full_name: String,
    pub language: Language,
    pub password_hash: String,
    pub created_at: Time,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{Email, Typed, TypedCode};
    use crate::http::fields::Field;

    proptest! {
        #[test]
        fn whatever_is_typed_as_an_address_is_refused_or_can_be_written_to(text in ".*|[a-zA-Z.+\"@<>, \\r\\n-]{0,40}@[a-zA-Z.\\[\\]-]{0,20}") {
            if let Ok(email) = Email::parse(&json!(text)) {
                let email = email.as_str();
                prop_assert!((3..=254).contains(&email.len()) && email.is_ascii());
                prop_assert!(!email.bytes().any(|byte| byte.is_ascii_control() || byte.is_ascii_uppercase() || b" <>,;\"".contains(&byte)));
                prop_assert_eq!(email.matches('@').count(), 1);
                prop_assert!(email.parse::<lettre::Address>().is_ok());
            }
        }

        #[test]
        fn whatever_is_typed_as_a_code_or_a_password_is_read_without_harm(text in ".*") {
            if let Ok(code) = TypedCode::parse(&json!(text)) {
                prop_assert!((1..=20).contains(&code.0.chars().count()));
            }
            if let Ok(typed) = Typed::parse(&json!(text)) {
                prop_assert!(!text.is_empty());
                prop_assert_eq!(format!("{typed:?}"), "Typed(…)");
            }
        }
    }
}
