//! HTTP handlers of a project's requirements and user stories.

use super::bodies::{Filter, RequirementFilter};
use super::model::{Requirement, UserStory};
use super::operations;
use crate::access::policy::Member;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::input::{ValidQuery, WithShare};
use crate::http::list::Listing;
use crate::projects::item_kind::ItemKind;
use crate::projects::model::Project;

pub async fn requirements(
    request: Authorized<Member<Project>, WithShare<ValidQuery<Listing<RequirementFilter>>>>,
    state: Analysis,
) -> Result<CountedAnswer<List<Requirement>>, ApiError> {
    let WithShare { input: ValidQuery(Listing { filter: RequirementFilter(filter), page }), share } = request.input;
    let listing = Listing { filter, page };
    operations::list(&state, request.access.resource.id, ItemKind::Requirement, listing, share).await
}

pub async fn user_stories(
    request: Authorized<Member<Project>, WithShare<ValidQuery<Listing<Filter>>>>,
    state: Analysis,
) -> Result<CountedAnswer<List<UserStory>>, ApiError> {
    let WithShare { input: ValidQuery(listing), share } = request.input;
    operations::list(&state, request.access.resource.id, ItemKind::UserStory, listing, share).await
}
