//! HTTP handlers of sessions.

use super::bodies::{LogOut, Login, RefreshToken};
use super::{OngoingSession, model, operations};
use crate::access::policy::{Own, Public, SignedIn};
use crate::accounts::model::AuthResponse;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery};
use crate::http::page::PageQuery;

pub async fn login(
    request: Authorized<Public, ValidJson<Login>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::login(&state, &request.access, body.email, body.password.0).await.map(Reply::ok)
}

pub async fn refresh_token(
    request: Authorized<Public, ValidJson<RefreshToken>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::refresh_token(&state, &body.refresh_token.0).await.map(Reply::ok)
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
