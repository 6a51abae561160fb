//! HTTP handlers of the trace matrix.

use super::bodies::TraceQuery;
use super::model::TraceMatrix;
use super::operations;
use crate::access::policy::Member;
use crate::api::operation::Authorized;
use crate::http::answer::SpooledAnswer;
use crate::http::error::ApiError;
use crate::http::input::ValidQuery;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

pub async fn matrix(
    request: Authorized<Member<Project>, ValidQuery<TraceQuery>>,
    state: Reviews,
) -> Result<SpooledAnswer<TraceMatrix>, ApiError> {
    let ValidQuery(TraceQuery { gaps_only }) = request.input;
    operations::trace(&state, request.access.resource.id, gaps_only, request.message).await
}
