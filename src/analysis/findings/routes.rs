//! HTTP handlers of what runs found.

use super::model::{RunFindings, UndoneRun};
use super::operations;
use crate::access::policy::{Analyst, Member};
use crate::analysis::RunSnapshot;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::Empty;

pub async fn findings(
    request: Authorized<Member<RunSnapshot>, Empty>,
    state: Analysis,
) -> Result<Reply<RunFindings>, ApiError> {
    operations::findings(&state, &request.access.resource).await.map(Reply::ok)
}

pub async fn undo(
    request: Authorized<Analyst<RunSnapshot>, Empty>,
    state: Analysis,
) -> Result<Reply<UndoneRun>, ApiError> {
    operations::undo(&state, &request.access.resource, request.access.caller, request.request_id).await.map(Reply::ok)
}
