//! Being signed in: bodies in, answers out.

use utoipa::ToSchema;

use super::{GoingOn, model, operations};
use crate::access::guard::{Own, Public, SignedIn};
use crate::accounts::model::{AuthResponse, Email, Typed};
use crate::accounts::state::Accounts;
use crate::api::operation::Allowed;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Body, Empty, Valid};
use crate::http::page::Page;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct Login {
    #[schema(value_type = String, format = Email, max_length = 254)]
    email: Email,
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1000)]
    password: Typed,
}

impl Body for Login {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let email = fields.required("email");
        let password = fields.required("password");
        Ok(Self { email: email?, password: password? })
    }
}

pub async fn login(may: Allowed<Public, Valid<Login>>, state: Accounts) -> Result<Reply<AuthResponse>, Failure> {
    let Valid(body) = may.input;
    operations::login(&state, &may.by, body.email, body.password.0).await.map(Reply::ok)
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RefreshToken {
    #[schema(value_type = String, format = Password, min_length = 1, max_length = 1000)]
    refresh_token: Typed,
}

impl Body for RefreshToken {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { refresh_token: fields.required("refreshToken")? })
    }
}

pub async fn refresh_token(
    may: Allowed<Public, Valid<RefreshToken>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, Failure> {
    let Valid(body) = may.input;
    operations::refresh_token(&state, &body.refresh_token.0).await.map(Reply::ok)
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct LogOut {
    all_sessions: Option<bool>,
}

impl Body for LogOut {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { all_sessions: fields.optional("allSessions")? })
    }
}

pub async fn log_out(may: Allowed<SignedIn, Valid<LogOut>>, state: Accounts) -> Result<Reply<Nothing>, Failure> {
    let Valid(body) = may.input;
    operations::log_out(&state, may.by.caller, body.all_sessions.unwrap_or(false)).await?;
    Ok(Reply::ok(Nothing {}))
}

pub async fn list(
    may: Allowed<SignedIn, Asked<Page>>,
    state: Accounts,
) -> Result<Reply<List<model::Session>>, Failure> {
    let Asked(page) = may.input;
    operations::list(&state, may.by.caller, page).await.map(Reply::ok)
}

pub async fn revoke(may: Allowed<Own<GoingOn>, Empty>, state: Accounts) -> Result<Reply<Nothing>, Failure> {
    operations::revoke(&state, may.by.caller, may.by.thing.0).await?;
    Ok(Reply::ok(Nothing {}))
}
