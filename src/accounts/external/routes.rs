//! HTTP handlers of a log-in at a provider: parse queries and bodies, return redirects.

use actix_web::HttpRequest;
use utoipa::ToSchema;
use utoipa::openapi::Required;
use utoipa::openapi::path::{Parameter, ParameterBuilder};
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::model::{CHALLENGE_PATTERN, CodeChallenge, CodeVerifier, ReturnUrl, SentOn};
use super::operations;
use super::pending_login::COOKIE;
use crate::access::one_time::OneTimeToken;
use crate::access::policy::Public;
use crate::accounts::model::AuthResponse;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::answer::Redirect;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Described, Input, Query, Raw, ValidJson, ValidQuery, query_parameter};
use crate::http::sign_in_cookie::ReturnedBrowser;

/// The query of googleLogin.
#[derive(Debug)]
pub struct GoogleLogin {
    return_url: Option<ReturnUrl>,
    code_challenge: CodeChallenge,
}

impl Query for GoogleLogin {
    fn has(key: &str) -> bool {
        matches!(key, "returnUrl" | "codeChallenge")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let return_url = fields.optional("returnUrl");
        let code_challenge = fields.required("codeChallenge");
        Ok(Self { return_url: return_url?, code_challenge: code_challenge? })
    }
    fn parameters() -> Vec<Parameter> {
        let path = ObjectBuilder::new().schema_type(Type::String).max_length(Some(2000)).pattern(Some("^/"));
        let challenge = ObjectBuilder::new().schema_type(Type::String).pattern(Some(CHALLENGE_PATTERN));
        let challenge = query_parameter(
            "codeChallenge",
            "PKCE code challenge (S256); pass its verifier to exchangeLoginCode.",
            challenge,
        );
        vec![
            query_parameter("returnUrl", "Path in the application to return to after the sign-in.", path),
            ParameterBuilder::from(challenge).required(Required::True).build(),
        ]
    }
}

pub async fn google_login(
    request: Authorized<Public, ValidQuery<GoogleLogin>>,
    state: Accounts,
) -> Result<Redirect, ApiError> {
    let ValidQuery(query) = request.input;
    operations::begin(&state, query.code_challenge, query.return_url).await.map(sent)
}

fn sent(SentOn { location, cookie }: SentOn) -> Redirect {
    Redirect { location, cookie }
}

/// What a browser has that the provider sent back.
pub struct Returned(ReturnedBrowser);

impl Input for Returned {
    async fn take(request: &HttpRequest, _: Raw) -> Result<Self, ApiError> {
        Ok(Self(ReturnedBrowser::read(request, COOKIE)))
    }

    fn describe() -> Described {
        let text = || ObjectBuilder::new().schema_type(Type::String);
        let parameters = vec![
            query_parameter("code", "The authorization code of the provider.", text()),
            query_parameter("state", "The state that was generated when the sign-in started.", text()),
            query_parameter("iss", "The issuer of the response.", text()),
            query_parameter("error", "The error of the provider, in place of a code.", text()),
        ];
        Described { parameters, ..Described::default() }
    }
}

pub async fn google_login_callback(
    request: Authorized<Public, Returned>,
    state: Accounts,
) -> Result<Redirect, ApiError> {
    operations::finish(&state, request.input.0, request.request_id).await.map(sent)
}

/// The code of a sign-in, with the verifier that belongs to it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ExchangeLoginCode {
    code: OneTimeToken,
    code_verifier: CodeVerifier,
}

impl Body for ExchangeLoginCode {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let code = fields.required("code");
        let code_verifier = fields.required("codeVerifier");
        Ok(Self { code: code?, code_verifier: code_verifier? })
    }
}

pub async fn exchange_login_code(
    request: Authorized<Public, ValidJson<ExchangeLoginCode>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::exchange(&state, &request.access, body.code, body.code_verifier).await.map(Reply::ok)
}
