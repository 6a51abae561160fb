//! The bodies and queries of requests about a log-in at a provider.

use utoipa::ToSchema;

use super::model::{CodeChallenge, CodeVerifier, ReturnUrl};
use crate::access::one_time::OneTimeToken;
use crate::http::input::{Body, Query};

/// The query of googleLogin.
#[derive(Debug, Query)]
pub struct GoogleLogin {
    /// Path in the application to return to after the sign-in.
    pub return_url: Option<ReturnUrl>,
    /// PKCE code challenge (S256); pass its verifier to exchangeLoginCode.
    pub code_challenge: CodeChallenge,
}

/// The code of a sign-in, with the verifier that belongs to it.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ExchangeLoginCode {
    pub code: OneTimeToken,
    pub code_verifier: CodeVerifier,
}
