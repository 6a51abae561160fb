//! HTTP handlers of a log-in at a provider: they return redirects.

use actix_web::HttpRequest;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::bodies::{ExchangeLoginCode, GoogleLogin};
use super::model::SentOn;
use super::operations;
use super::pending_login::COOKIE;
use crate::access::policy::Public;
use crate::accounts::model::AuthResponse;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::answer::Redirect;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::{Described, Input, Raw, ValidJson, ValidQuery, query_parameter};
use crate::http::sign_in_cookie::ReturnedBrowser;

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

pub async fn exchange_login_code(
    request: Authorized<Public, ValidJson<ExchangeLoginCode>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::exchange(&state, &request.access, body.code, body.code_verifier).await.map(Reply::ok)
}
