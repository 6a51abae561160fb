//! HTTP handlers of registration: parse bodies and return responses.

use actors::ids::Id;
use actors::language::Language;
use utoipa::ToSchema;

use super::model::{AuthResponse, CodePurpose, Email, FullName, NewPassword, Registered, Registration, TypedCode};
use super::operations;
use crate::access::policy::Public;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, ValidJson};

/// An account to register.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Register {
    pub email: Email,
    /// Checked against common passwords and the account's own name and address.
    pub password: NewPassword,
    pub full_name: FullName,
    pub language: Option<Language>,
}

impl Body for Register {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let email = fields.required("email");
        let password = fields.required("password");
        let full_name = fields.required("fullName");
        let language = fields.optional("language");
        Ok(Self { email: email?, password: password?, full_name: full_name?, language: language? })
    }
}

pub async fn register(
    request: Authorized<Public, ValidJson<Register>>,
    state: Accounts,
) -> Result<Reply<Registered>, ApiError> {
    let ValidJson(body) = request.input;
    operations::register(&state, &request.access, body, request.request_id).await.map(Reply::created)
}

/// The registration to confirm, with its code.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ConfirmAccount {
    /// The registration that `register` returned.
    registration_id: Id<Registration>,
    email: Email,
    code: TypedCode,
}

impl Body for ConfirmAccount {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let registration_id = fields.required("registrationId");
        let email = fields.required("email");
        let code = fields.required("code");
        Ok(Self { registration_id: registration_id?, email: email?, code: code? })
    }
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

/// For which address and purpose to send a new code.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ResendOtp {
    email: Email,
    purpose: CodePurpose,
}

impl Body for ResendOtp {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let email = fields.required("email");
        let purpose = fields.required("purpose");
        Ok(Self { email: email?, purpose: purpose? })
    }
}

pub async fn resend_otp(
    request: Authorized<Public, ValidJson<ResendOtp>>,
    state: Accounts,
) -> Result<Reply<Nothing>, ApiError> {
    let ValidJson(body) = request.input;
    operations::resend_otp(&state, &request.access, body.email, body.purpose, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
