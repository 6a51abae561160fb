//! Types of accounts: addresses, names, profiles and response bodies.

use std::str::FromStr;

use actors::ids::{Id, User};
use actors::language::Language;
use actors::time::Time;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use crate::http::enumeration::{Enumeration, wire_enum};
use crate::http::fields::{Field, InvalidValue, line, text};

impl Enumeration for Language {}

wire_enum! {
    /// The purpose of a one-time code.
    pub enum CodePurpose {
        ConfirmAccount,
        ResetPassword,
    }
}

/// An e-mail address in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Hash, ToSchema)]
#[schema(format = Email, max_length = 254)]
pub struct Email(String);

impl Email {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Field for Email {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let wrong = || InvalidValue::value("This must be an e-mail address.");
        let address = text(value, 3, 254)?.to_lowercase();
        let parsed = lettre::Address::from_str(&address).map_err(|_| wrong())?;
        let has_host = parsed.domain().contains('.') && !parsed.user().starts_with('"');
        if has_host && address.is_ascii() { Ok(Self(address)) } else { Err(wrong()) }
    }
}

/// The name of a user: 1–120 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
pub struct FullName(pub String);

impl Field for FullName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        line(value, 1, 120).map(Self)
    }
}

/// A job title: up to 120 characters on one line; an empty or blank text means none.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(value_type = String, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
pub struct JobTitle(pub Option<String>);

impl Field for JobTitle {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let title = line(value, 0, 120)?;
        Ok(Self(Some(title).filter(|title| !title.is_empty())))
    }
}

/// A password as the client sent it: any text of 1 to 1,000 characters.
#[derive(Clone, ToSchema)]
#[schema(as = Password, format = Password, min_length = 1, max_length = 1000)]
pub struct TypedPassword(pub String);

impl Field for TypedPassword {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        let Value::String(text) = value else { return Err(InvalidValue::value("This must be a string.")) };
        InvalidValue::length(text, 1, 1000)?;
        // Different machines may encode the same characters as different code points, so the text is normalized to NFC.
        Ok(Self(unicode_normalization::UnicodeNormalization::nfc(text.as_str()).collect()))
    }
}

impl std::fmt::Debug for TypedPassword {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Typed(…)")
    }
}

/// A password to set: not a common one, and not made of the account's own name and address.
#[derive(ToSchema)]
#[schema(format = Password, min_length = 10, max_length = 128, example = "correct horse battery staple")]
pub struct NewPassword(pub String);

impl Field for NewPassword {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        TypedPassword::parse(value).map(|typed| Self(typed.0))
    }
}

/// A one-time code as the client sent it: six digits, or any other text of up to 20 characters.
#[derive(Debug, Clone, ToSchema)]
#[schema(as = ConfirmationCode, min_length = 1, max_length = 20, example = "123456")]
pub struct TypedCode(pub String);

impl Field for TypedCode {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 20).map(Self)
    }
}

/// An account as it is stored.
#[derive(Debug, Clone)]
pub struct Account {
    pub id: Id<User>,
    pub email: String,
    pub full_name: String,
    pub job_title: Option<String>,
    pub language: Language,
    pub password_hash: Option<String>,
    /// The SHA-256 of the stored avatar.
    pub avatar: Option<String>,
    pub created_at: Time,
    pub updated_at: Time,
    pub is_operator: bool,
}

/// The name that a deleted account is shown with.
pub const DELETED_NAME: &str = "Deleted account";

/// Returns the URL of an avatar. It is different for each new avatar, so that no client shows a former one from its
/// cache.
#[must_use]
pub fn avatar_url(id: Id<User>, avatar: Option<&str>) -> Option<String> {
    avatar.map(|sha256| format!("/api/users/{id}/avatar?v={}", sha256.get(..12).unwrap_or(sha256)))
}

/// An account as its owner sees it.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    pub id: Id<User>,
    /// The address of the account, in lower case.
    #[schema(format = Email)]
    pub email: String,
    /// The name that others see.
    pub full_name: String,
    /// Null if none is set.
    #[schema(required)]
    pub job_title: Option<String>,
    pub language: Language,
    /// The path of the avatar, another one for each new picture; null without one.
    #[schema(required)]
    pub avatar_url: Option<String>,
    /// Whether the address was confirmed with a code.
    pub email_confirmed: bool,
    /// Whether the account has a password; without one it signs in through its provider.
    pub has_password: bool,
    /// Whether the account may use the operations for operators. It is set on the server's machine alone.
    pub is_operator: bool,
    pub created_at: Time,
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
            // An account is created by confirming its address.
            email_confirmed: true,
            has_password: account.password_hash.is_some(),
            is_operator: account.is_operator,
            created_at: account.created_at,
            updated_at: account.updated_at,
        }
    }
}

/// The tokens and the account of a successful sign-in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct AuthResponse {
    /// A JWT for the header `Authorization: Bearer`.
    pub access_token: String,
    /// The secret for `refreshToken`. It is good once: each refresh gives the next one.
    pub refresh_token: String,
    /// Always `Bearer`.
    #[schema(example = "Bearer")]
    pub token_type: &'static str,
    /// For how many seconds from now `accessToken` is accepted.
    pub expires_in: u64,
    /// For how many seconds from now `refreshToken` can be exchanged.
    pub refresh_expires_in: u64,
    pub user: Profile,
}

/// The response to a registration; the same whether or not the address has an account.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Registered {
    /// Id of the registration, for `confirmAccount`.
    pub registration_id: Id<Registration>,
    #[schema(format = Email)]
    pub email: String,
    /// For how many seconds from now the code is accepted.
    pub code_expires_in: u64,
}

/// A registration that is not confirmed yet.
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

    use super::{Email, TypedCode, TypedPassword};
    use crate::http::fields::Field;

    proptest! {
        #[test]
        fn whatever_is_typed_as_an_address_is_refused_or_can_be_written_to(
            text in ".*|[a-zA-Z.+\"@<>, \\r\\n-]{0,40}@[a-zA-Z.\\[\\]-]{0,20}"
        ) {
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
            if let Ok(typed) = TypedPassword::parse(&json!(text)) {
                prop_assert!(!text.is_empty());
                prop_assert_eq!(format!("{typed:?}"), "Typed(…)");
            }
        }
    }
}
