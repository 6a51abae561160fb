//! HTTP handlers of sessions: parse bodies and return responses.

use utoipa::ToSchema;

use super::{OngoingSession, model, operations};
use crate::access::policy::{Own, Public, SignedIn};
use crate::accounts::model::{AuthResponse, Email, TypedPassword};
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, ValidJson, ValidQuery};
use crate::http::page::PageQuery;

/// An address with its password.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Login {
    email: Email,
    password: TypedPassword,
}

impl Body for Login {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let email = fields.required("email");
        let password = fields.required("password");
        Ok(Self { email: email?, password: password? })
    }
}

pub async fn login(
    request: Authorized<Public, ValidJson<Login>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::login(&state, &request.access, body.email, body.password.0).await.map(Reply::ok)
}

/// The refresh token of a session.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RefreshToken {
    /// The newest refresh token of the session.
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1000)]
    refresh_token: TypedPassword,
}

impl Body for RefreshToken {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { refresh_token: fields.required("refreshToken")? })
    }
}

pub async fn refresh_token(
    request: Authorized<Public, ValidJson<RefreshToken>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::refresh_token(&state, &body.refresh_token.0).await.map(Reply::ok)
}

/// Which sessions to end.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct LogOut {
    /// Whether all sessions of the account end. Default: false, this session only.
    all_sessions: Option<bool>,
}

impl Body for LogOut {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { all_sessions: fields.optional("allSessions")? })
    }
}

pub async fn log_out(
    request: Authorized<SignedIn, ValidJson<LogOut>>,
    state: Accounts,
) -> Result<Reply<Nothing>, ApiError> {
    let ValidJson(body) = request.input;
    operations::log_out(&state, request.access.caller, body.all_sessions.unwrap_or(false)).await?;
    Ok(Reply::ok(Nothing {}))
}

pub async fn list(
    request: Authorized<SignedIn, ValidQuery<PageQuery>>,
    state: Accounts,
) -> Result<Reply<List<model::Session>>, ApiError> {
    let ValidQuery(page) = request.input;
    operations::list(&state, request.access.caller, page).await.map(Reply::ok)
}

pub async fn revoke(
    request: Authorized<Own<OngoingSession>, Empty>,
    state: Accounts,
) -> Result<Reply<Nothing>, ApiError> {
    operations::revoke(&state, request.access.caller, request.access.resource.0).await?;
    Ok(Reply::ok(Nothing {}))
}
