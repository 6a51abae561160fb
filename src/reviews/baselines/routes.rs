//! HTTP handlers of baselines.

use super::bodies::{ComparedWith, CreateBaseline};
use super::model::{Baseline, BaselineComparison};
use super::{ProjectBaseline, operations};
use crate::access::policy::{Manager, Member};
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{ValidJson, ValidQuery, WithShare};
use crate::http::page::PageQuery;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

pub async fn create(
    request: Authorized<Manager<Project>, ValidJson<CreateBaseline>>,
    state: Reviews,
) -> Result<Reply<Baseline>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    operations::create(&state, request.access.caller, request.access.resource.id, id, body).await.map(Reply::created)
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<PageQuery>>,
    state: Reviews,
) -> Result<Reply<List<Baseline>>, ApiError> {
    let ValidQuery(page) = request.input;
    operations::list(&state, request.access.resource.id, page).await.map(Reply::ok)
}

pub async fn compare(
    request: Authorized<Member<ProjectBaseline>, WithShare<ValidQuery<ComparedWith>>>,
    state: Reviews,
) -> Result<CountedAnswer<BaselineComparison>, ApiError> {
    let WithShare { input: ValidQuery(ComparedWith { with }), share } = request.input;
    let comparison = operations::compare(&state, request.access.resource, with).await?;
    Ok(CountedAnswer { reply: Reply::ok(comparison), share })
}
