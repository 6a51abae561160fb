//! HTTP handlers of the dashboard of reviewers.

use super::model::ReviewDashboard;
use super::operations;
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::budget::Share;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::reviews::access::Reviewer;
use crate::reviews::state::Reviews;

pub async fn dashboard(
    request: Authorized<Reviewer, Share>,
    state: Reviews,
) -> Result<CountedAnswer<ReviewDashboard>, ApiError> {
    let (dashboard, etag) = operations::dashboard(&state, request.access).await?;
    Ok(CountedAnswer { reply: Reply::ok(dashboard).tagged(etag), share: request.input })
}
