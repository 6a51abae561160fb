//! HTTP handlers of password resets: parse bodies and return responses.

use utoipa::ToSchema;

use super::model::ResetToken;
use super::operations;
use crate::access::one_time::OneTimeToken;
use crate::access::policy::Public;
use crate::accounts::model::{CodePurpose, Email, NewPassword, TypedCode};
use crate::accounts::operations::resend_otp;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, ValidJson};

/// The address of the account.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SendResetPasswordEmail {
    email: Email,
}

impl Body for SendResetPasswordEmail {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { email: fields.required("email")? })
    }
}

pub async fn send_reset_password_email(
    request: Authorized<Public, ValidJson<SendResetPasswordEmail>>,
    state: Accounts,
) -> Result<Reply<Nothing>, ApiError> {
    let ValidJson(body) = request.input;
    resend_otp(&state, &request.access, body.email, CodePurpose::ResetPassword, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}

/// An address with the code that was mailed to it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct VerifyOtp {
    email: Email,
    code: TypedCode,
}

impl Body for VerifyOtp {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let email = fields.required("email");
        let code = fields.required("code");
        Ok(Self { email: email?, code: code? })
    }
}

pub async fn verify_otp(
    request: Authorized<Public, ValidJson<VerifyOtp>>,
    state: Accounts,
) -> Result<Reply<ResetToken>, ApiError> {
    let ValidJson(body) = request.input;
    operations::verify_otp(&state, &request.access, body.email, body.code.0).await.map(Reply::ok)
}

/// The new password, with the token that permits it.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ResetPassword {
    reset_token: OneTimeToken,
    new_password: NewPassword,
}

impl Body for ResetPassword {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let reset_token = fields.required("resetToken");
        let new_password = fields.required("newPassword");
        Ok(Self { reset_token: reset_token?, new_password: new_password? })
    }
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
