//! HTTP handlers of pairs.

use super::bodies::{Filter, SettleItemPairs};
use super::model::{ItemPair, SettledPairs};
use super::operations;
use crate::access::policy::{Analyst, Member};
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{ValidJson, ValidQuery, WithShare};
use crate::http::list::Listing;
use crate::projects::model::Project;

pub async fn list(
    request: Authorized<Member<Project>, WithShare<ValidQuery<Listing<Filter>>>>,
    state: Analysis,
) -> Result<CountedAnswer<List<ItemPair>>, ApiError> {
    let WithShare { input: ValidQuery(listing), share } = request.input;
    operations::list(&state, request.access.resource.id, listing, share).await
}

pub async fn settle(
    request: Authorized<Analyst<Project>, ValidJson<SettleItemPairs>>,
    state: Analysis,
) -> Result<Reply<SettledPairs>, ApiError> {
    let (caller, project_id) = (request.access.caller, request.access.resource.id);
    let ValidJson(body) = request.input;
    operations::settle(&state, project_id, caller, body, request.request_id).await.map(Reply::ok)
}
