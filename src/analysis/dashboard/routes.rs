//! HTTP handlers of the dashboard.

use super::bodies::DashboardQuery;
use super::model::ResultsDashboard;
use super::operations;
use crate::access::policy::Member;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::SpooledAnswer;
use crate::http::error::ApiError;
use crate::http::input::ValidQuery;
use crate::projects::model::Project;

pub async fn dashboard(
    request: Authorized<Member<Project>, ValidQuery<DashboardQuery>>,
    state: Analysis,
) -> Result<SpooledAnswer<ResultsDashboard>, ApiError> {
    let ValidQuery(DashboardQuery { run_id, filter }) = request.input;
    operations::dashboard(&state, request.access.resource.id, run_id, filter, request.message).await
}
