//! New passwords: bodies in, answers out.

use utoipa::ToSchema;

use super::model::ResetToken;
use super::operations;
use crate::access::guard::Public;
use crate::access::one_time::OneTimeToken;
use crate::accounts::model::{CodePurpose, Email, Typed, TypedCode};
use crate::accounts::operations::resend_otp;
use crate::accounts::state::Accounts;
use crate::api::operation::Allowed;
use crate::http::envelope::{Nothing, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Body, Valid};

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SendResetPasswordEmail {
    #[schema(value_type = String, format = Email, max_length = 254)]
    email: Email,
}

impl Body for SendResetPasswordEmail {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { email: fields.required("email")? })
    }
}

pub async fn send_reset_password_email(
    may: Allowed<Public, Valid<SendResetPasswordEmail>>,
    state: Accounts,
) -> Result<Reply<Nothing>, Failure> {
    let Valid(body) = may.input;
    resend_otp(&state, &may.by, body.email, CodePurpose::ResetPassword, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct VerifyOtp {
    #[schema(value_type = String, format = Email, max_length = 254)]
    email: Email,
    #[schema(value_type = String, min_length = 1, max_length = 20, example = "123456")]
    code: TypedCode,
}

impl Body for VerifyOtp {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let email = fields.required("email");
        let code = fields.required("code");
        Ok(Self { email: email?, code: code? })
    }
}

pub async fn verify_otp(may: Allowed<Public, Valid<VerifyOtp>>, state: Accounts) -> Result<Reply<ResetToken>, Failure> {
    let Valid(body) = may.input;
    operations::verify_otp(&state, &may.by, body.email, body.code.0).await.map(Reply::ok)
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ResetPassword {
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1000)]
    reset_token: OneTimeToken,
    #[schema(value_type = String, format = Password, min_length = 10, max_length = 128, example = "correct horse battery staple")]
    new_password: Typed,
}

impl Body for ResetPassword {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let reset_token = fields.required("resetToken");
        let new_password = fields.required("newPassword");
        Ok(Self { reset_token: reset_token?, new_password: new_password? })
    }
}

pub async fn reset_password(
    may: Allowed<Public, Valid<ResetPassword>>,
    state: Accounts,
) -> Result<Reply<Nothing>, Failure> {
    let Valid(body) = may.input;
    operations::reset_password(&state, &may.by, body.reset_token, body.new_password.0, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}
