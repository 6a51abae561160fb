//! HTTP handlers of search.

use super::bodies::SearchQuery;
use super::model::SearchHit;
use super::operations;
use crate::access::policy::Member;
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::ValidQuery;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

pub async fn search(
    request: Authorized<Member<Project>, ValidQuery<SearchQuery>>,
    state: Reviews,
) -> Result<Reply<List<SearchHit>>, ApiError> {
    let ValidQuery(query) = request.input;
    let access = request.access;
    operations::search(&state, access.caller, access.relation, access.resource.id, query).await.map(Reply::ok)
}
