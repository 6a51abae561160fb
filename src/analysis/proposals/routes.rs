//! HTTP handlers of proposals.

use super::bodies::Filter;
use super::model::Proposal;
use super::{ProjectProposal, operations};
use crate::access::policy::{Analyst, Member};
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidQuery, WithShare};
use crate::http::list::Listing;
use crate::http::version::IfMatch;
use crate::projects::model::Project;

pub async fn list(
    request: Authorized<Member<Project>, WithShare<ValidQuery<Listing<Filter>>>>,
    state: Analysis,
) -> Result<CountedAnswer<List<Proposal>>, ApiError> {
    let WithShare { input: ValidQuery(listing), share } = request.input;
    operations::list(&state, request.access.resource.id, listing, share).await
}

/// `If-Match` is the version of the item that the proposal is about.
pub async fn accept(
    request: Authorized<Analyst<ProjectProposal>, IfMatch<Empty>>,
    state: Analysis,
) -> Result<Reply<Proposal>, ApiError> {
    let IfMatch { version, .. } = request.input;
    let (caller, proposal) = (request.access.caller, request.access.resource);
    operations::accept(&state, proposal, caller, version, request.request_id).await.map(Reply::ok)
}

pub async fn dismiss(
    request: Authorized<Analyst<ProjectProposal>, Empty>,
    state: Analysis,
) -> Result<Reply<Proposal>, ApiError> {
    operations::dismiss(&state, request.access.resource).await.map(Reply::ok)
}
