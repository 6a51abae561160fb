//! The HTTP handler of links that sign in once.

use utoipa::ToSchema;

use super::operations;
use crate::access::one_time::OneTimeToken;
use crate::access::policy::Public;
use crate::accounts::model::AuthResponse;
use crate::accounts::state::Accounts;
use crate::api::operation::Authorized;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, ValidJson};

/// The code of a link that signs in once.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ExchangeLoginLink {
    /// The `link` in the fragment of the link's URL.
    code: OneTimeToken,
}

impl Body for ExchangeLoginLink {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { code: fields.required("code")? })
    }
}

pub async fn exchange_login_link(
    request: Authorized<Public, ValidJson<ExchangeLoginLink>>,
    state: Accounts,
) -> Result<Reply<AuthResponse>, ApiError> {
    let ValidJson(body) = request.input;
    operations::exchange(&state, &request.access, body.code).await.map(Reply::ok)
}
