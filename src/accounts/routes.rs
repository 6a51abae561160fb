//! HTTP handlers of registration.

use super::bodies::{ConfirmAccount, Register, ResendOtp};
use super::model::{AuthResponse, Registered};
use super::operations;
use crate::access::policy::Public;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::ValidJson;

pub async fn register(
    request: Authorized<Public, ValidJson<Register>>,
    state: Accounts,
) -> Result<Reply<Registered>, ApiError> {
    let ValidJson(body) = request.input;
    operations::register(&state, &request.access, body, request.request_id).await.map(Reply::created)
}

pub async fn confirm_account(
    request: Authorized<Public, ValidJson<ConfirmAccount>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::confirm_account(&state, &request.access, body.registration_id, body.email, body.code.0)
        .await
        .map(Reply::ok)
}

pub async fn resend_otp(
    request: Authorized<Public, ValidJson<ResendOtp>>,
    state: Accounts,
) -> Result<Reply<Nothing>, ApiError> {
    let ValidJson(body) = request.input;
    operations::resend_otp(&state, &request.access, body.email, body.purpose, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
