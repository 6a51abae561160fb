//! HTTP handlers of the operations for operators.

use super::bodies::{JobFilter, RetryFailedJobs};
use super::model::{OperatorOverview, RetriedJobs};
use super::state::Operators;
use super::{WholeInstallation, operations};
use crate::access::policy::Operator;
use crate::analysis::operator::RunQuery;
use crate::analysis::operator::model::OperatorRun;
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::jobs::model::OperatorJob;

pub async fn overview(
    request: Authorized<Operator<WholeInstallation>, Empty>,
    state: Operators,
) -> Result<Reply<OperatorOverview>, ApiError> {
    operations::overview(&state, request.request_id).await.map(Reply::ok)
}

pub async fn list_runs(
    request: Authorized<Operator<WholeInstallation>, ValidQuery<RunQuery>>,
    state: Operators,
) -> Result<Reply<List<OperatorRun>>, ApiError> {
    let ValidQuery(query) = request.input;
    operations::list_runs(&state, query).await.map(Reply::ok)
}

pub async fn cancel_run(
    request: Authorized<Operator<OperatorRun>, Empty>,
    state: Operators,
) -> Result<Reply<OperatorRun>, ApiError> {
    let Operator { caller, resource, .. } = request.access;
    operations::cancel_run(&state, caller, resource.id, request.request_id).await.map(Reply::ok)
}

pub async fn list_jobs(
    request: Authorized<Operator<WholeInstallation>, ValidQuery<Listing<JobFilter>>>,
    state: Operators,
) -> Result<Reply<List<OperatorJob>>, ApiError> {
    let ValidQuery(Listing { filter, page }) = request.input;
    let kind = filter.kind.map(|kind| kind.0);
    operations::list_jobs(&state, filter.state, kind, page).await.map(Reply::ok)
}

pub async fn retry_job(
    request: Authorized<Operator<OperatorJob>, Empty>,
    state: Operators,
) -> Result<Reply<OperatorJob>, ApiError> {
    let Operator { caller, resource, .. } = request.access;
    operations::retry_job(&state, caller, resource).await.map(Reply::ok)
}

pub async fn retry_jobs(
    request: Authorized<Operator<WholeInstallation>, ValidJson<RetryFailedJobs>>,
    state: Operators,
) -> Result<Reply<RetriedJobs>, ApiError> {
    let ValidJson(body) = request.input;
    operations::retry_jobs(&state, request.access.caller, body.kind()).await.map(Reply::ok)
}
