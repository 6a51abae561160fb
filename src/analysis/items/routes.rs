//! The HTTP endpoints of a project's requirements and user stories.

use pipeline::result::{Priority, RequirementType};
use utoipa::PartialSchema;
use utoipa::openapi::path::Parameter;

use super::model::{Requirement, UserStory, WorkflowStatus};
use super::operations;
use super::store::{Filter, Kind};
use crate::access::policy::Member;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Query, ValidQuery, WithShare, query_parameter};
use crate::http::list::{Listing, Search};
use crate::projects::model::Project;

/// The filter of the list of requirements: that of the user stories, and the type.
pub struct RequirementFilter(Filter);

impl Query for RequirementFilter {
    fn has(key: &str) -> bool {
        key == "type" || Filter::has(key)
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let item_type = fields.optional("type");
        let filter = Filter::read(fields)?;
        Ok(Self(Filter { item_type: item_type?, ..filter }))
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Filter::parameters();
        parameters.push(query_parameter("type", "Return only requirements of this type.", RequirementType::schema()));
        parameters
    }
}

pub async fn requirements(
    request: Authorized<Member<Project>, WithShare<ValidQuery<Listing<RequirementFilter>>>>,
    state: Analysis,
) -> Result<CountedAnswer<List<Requirement>>, ApiError> {
    let WithShare { input: ValidQuery(Listing { filter: RequirementFilter(filter), page }), share } = request.input;
    let listing = Listing { filter, page };
    operations::list(&state, request.access.resource.id, Kind::Requirement, listing, share).await
}

impl Query for Filter {
    fn has(key: &str) -> bool {
        matches!(key, "priority" | "status" | "search")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let priority = fields.optional("priority");
        let status = fields.optional("status");
        let search = fields.optional("search");
        Ok(Self { item_type: None, priority: priority?, status: status?, search: search? })
    }
    fn parameters() -> Vec<Parameter> {
        vec![
            query_parameter("priority", "Return only items with this priority.", Priority::schema()),
            query_parameter("status", "Return only items with this workflow status.", WorkflowStatus::schema()),
            Search::parameter("Return only items whose text contains this text."),
        ]
    }
}

pub async fn user_stories(
    request: Authorized<Member<Project>, WithShare<ValidQuery<Listing<Filter>>>>,
    state: Analysis,
) -> Result<CountedAnswer<List<UserStory>>, ApiError> {
    let WithShare { input: ValidQuery(listing), share } = request.input;
    operations::list(&state, request.access.resource.id, Kind::UserStory, listing, share).await
}
