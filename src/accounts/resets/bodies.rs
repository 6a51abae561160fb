//! The bodies of requests about password resets.

use utoipa::ToSchema;

use crate::access::one_time::OneTimeToken;
use crate::accounts::model::{Email, NewPassword, TypedCode};
use crate::http::input::Body;

/// The address of the account.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct SendResetPasswordEmail {
    pub email: Email,
}

/// An address with the code that was mailed to it.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct VerifyOtp {
    pub email: Email,
    pub code: TypedCode,
}

/// The new password, with the token that permits it.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ResetPassword {
    pub reset_token: OneTimeToken,
    pub new_password: NewPassword,
}
