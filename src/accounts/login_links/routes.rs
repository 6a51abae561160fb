//! HTTP handlers of links that sign in once.

use super::bodies::ExchangeLoginLink;
use super::operations;
use crate::access::policy::Public;
use crate::accounts::model::AuthResponse;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::ValidJson;

pub async fn exchange_login_link(
    request: Authorized<Public, ValidJson<ExchangeLoginLink>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::exchange(&state, &request.access, body.code).await.map(Reply::ok)
}
