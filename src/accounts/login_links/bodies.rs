//! The body of a request that signs in with a link.

use utoipa::ToSchema;

use crate::access::one_time::OneTimeToken;
use crate::http::input::Body;

/// The code of a link that signs in once.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ExchangeLoginLink {
    /// The `link` in the fragment of the link's URL.
    pub code: OneTimeToken,
}
