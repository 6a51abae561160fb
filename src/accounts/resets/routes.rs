//! HTTP handlers of password resets.

use super::bodies::{ResetPassword, SendResetPasswordEmail, VerifyOtp};
use super::model::ResetToken;
use super::operations;
use crate::access::policy::Public;
use crate::accounts::model::CodePurpose;
use crate::accounts::operations::resend_otp;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::ValidJson;

pub async fn send_reset_password_email(
    request: Authorized<Public, ValidJson<SendResetPasswordEmail>>,
    state: Accounts,
) -> Result<Reply<Nothing>, ApiError> {
    let ValidJson(body) = request.input;
    resend_otp(&state, &request.access, body.email, CodePurpose::ResetPassword, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}

pub async fn verify_otp(
    request: Authorized<Public, ValidJson<VerifyOtp>>,
    state: Accounts,
) -> Result<Reply<ResetToken>, ApiError> {
    let ValidJson(body) = request.input;
    operations::verify_otp(&state, &request.access, body.email, body.code.0).await.map(Reply::ok)
}

pub async fn reset_password(
    request: Authorized<Public, ValidJson<ResetPassword>>,
    state: Accounts,
) -> Result<Reply<Nothing>, ApiError> {
    let ValidJson(body) = request.input;
    operations::reset_password(&state, &request.access, body.reset_token, body.new_password.0, request.request_id)
        .await?;
    Ok(Reply::ok(Nothing {}))
}
