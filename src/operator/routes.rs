//! HTTP handlers of the operations for operators.

use actors::run::AiRunStatus;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::{PartialSchema, ToSchema};

use super::model::{OperatorOverview, RetriedJobs};
use super::state::Operators;
use super::{WholeInstallation, operations};
use crate::access::policy::Operator;
use crate::analysis::operator::RunQuery;
use crate::analysis::operator::model::{OperatorRun, RunCursor};
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Field, Fields, InvalidValue, Rejected, text};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::list::Listing;
use crate::http::page::Limit;
use crate::http::reason::Reason;
use crate::jobs::model::{JobState, OperatorJob};

pub async fn overview(
    request: Authorized<Operator<WholeInstallation>, Empty>,
    state: Operators,
) -> Result<Reply<OperatorOverview>, ApiError> {
    operations::overview(&state, request.request_id).await.map(Reply::ok)
}

impl Query for RunQuery {
    fn has(key: &str) -> bool {
        matches!(key, "limit" | "cursor" | "status")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let limit = fields.optional::<Limit>("limit");
        let after = fields.optional::<RunCursor>("cursor");
        let status = fields.optional::<AiRunStatus>("status");
        Ok(Self { limit: limit?.map_or(Limit::DEFAULT, |limit| limit.0), after: after?, status: status? })
    }
    fn parameters() -> Vec<Parameter> {
        let cursor = ObjectBuilder::new().schema_type(Type::String).pattern(Some(RunCursor::PATTERN));
        vec![
            Limit::parameter("Maximum number of items on the page."),
            query_parameter("cursor", "The `nextCursor` of the previous page; absent for the first page.", cursor),
            query_parameter("status", "Return only runs with this status.", AiRunStatus::schema()),
        ]
    }
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

/// The kind of a job: 1–100 characters.
#[derive(Debug, Clone, ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 100, example = "mail")]
pub struct JobKind(String);

impl Field for JobKind {
    fn parse(value: &serde_json::Value) -> Result<Self, InvalidValue> {
        text(value, 1, 100).map(Self)
    }
}

/// Which jobs are listed.
#[derive(Debug)]
pub struct JobFilter {
    state: JobState,
    kind: Option<JobKind>,
}

impl Query for JobFilter {
    fn has(key: &str) -> bool {
        matches!(key, "state" | "kind")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let state = fields.optional("state");
        let kind = fields.optional("kind");
        Ok(Self { state: state?.unwrap_or(JobState::Failed), kind: kind? })
    }
    fn parameters() -> Vec<Parameter> {
        vec![
            query_parameter("state", "Return only jobs in this state; FAILED if absent.", JobState::schema()),
            query_parameter("kind", "Return only jobs of this kind, such as mail.", JobKind::schema()),
        ]
    }
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

/// Which failed jobs to queue again.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct RetryFailedJobs {
    /// The kind of the jobs that are retried.
    kind: Option<JobKind>,
    /// True, in place of a kind, to retry all failed jobs.
    all: Option<bool>,
}

impl Body for RetryFailedJobs {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let kind = fields.optional::<JobKind>("kind");
        let all = fields.optional::<bool>("all");
        let (kind, all) = (kind?, all?);
        if kind.is_some() == all.unwrap_or(false) {
            let message = "Name a kind, or set all to true: one of both.";
            return Err(fields.fault("kind", Reason::InvalidValue, message));
        }
        Ok(Self { kind, all })
    }
}

impl RetryFailedJobs {
    /// The kind of the jobs; all without one.
    fn kind(self) -> Option<String> {
        self.kind.filter(|_| self.all != Some(true)).map(|kind| kind.0)
    }
}

pub async fn retry_jobs(
    request: Authorized<Operator<WholeInstallation>, ValidJson<RetryFailedJobs>>,
    state: Operators,
) -> Result<Reply<RetriedJobs>, ApiError> {
    let ValidJson(body) = request.input;
    operations::retry_jobs(&state, request.access.caller, body.kind()).await.map(Reply::ok)
}
