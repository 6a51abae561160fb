//! HTTP handlers of registration: parse bodies and return responses.

use actors::ids::Id;
use utoipa::ToSchema;

use super::model::{
    AuthResponse, CodePurpose, Email, FullName, Language, Registered, Registration, TypedCode, TypedPassword,
};
use super::operations::{self, NewAccount};
use crate::access::policy::Public;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::{Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, ValidJson};

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Register {
    #[schema(value_type = String, format = Email, max_length = 254)]
    email: Email,
    #[schema(value_type = String, format = Password, min_length = 10, max_length = 128, example = "correct horse battery staple")]
    password: TypedPassword,
    #[schema(value_type = String, min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    full_name: FullName,
    language: Option<Language>,
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
    let applicant = NewAccount {
        email: body.email,
        password: body.password.0,
        full_name: body.full_name.0,
        language: body.language.unwrap_or(Language::En),
    };
    operations::register(&state, &request.principal, applicant, request.request_id).await.map(Reply::created)
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ConfirmAccount {
    #[schema(value_type = uuid::Uuid)]
    registration_id: Id<Registration>,
    #[schema(value_type = String, format = Email, max_length = 254)]
    email: Email,
    #[schema(value_type = String, min_length = 1, max_length = 20, example = "123456")]
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
    operations::confirm_account(&state, &request.principal, body.registration_id, body.email, body.code.0)
        .await
        .map(Reply::ok)
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ResendOtp {
    #[schema(value_type = String, format = Email, max_length = 254)]
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
    operations::resend_otp(&state, &request.principal, body.email, body.purpose, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
