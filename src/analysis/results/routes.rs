//! The HTTP endpoints of a project's requirements and user stories.

use utoipa::PartialSchema;
use utoipa::openapi::path::Parameter;

use super::model::{Priority, Requirement, RequirementType, UserStory, WorkflowStatus};
use super::operations;
use super::store::{Filter, Kind};
use crate::access::policy::Member;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Query, ValidQuery, query_parameter};
use crate::http::page::{PageQuery, Search};
use crate::projects::model::Project;

pub struct ListRequirements {
    filter: Filter,
    page: PageQuery,
}

impl Query for ListRequirements {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "type", "priority", "status", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let item_type = fields.optional("type");
        let ListUserStories { filter, page } = ListUserStories::read(fields)?;
        Ok(Self { filter: Filter { item_type: item_type?, ..filter }, page })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = ListUserStories::parameters();
        parameters.push(query_parameter("type", "Only requirements of this type.", RequirementType::schema()));
        parameters
    }
}

pub async fn requirements(
    request: Authorized<Member<Project>, ValidQuery<ListRequirements>>,
    state: Analysis,
) -> Result<Reply<List<Requirement>>, ApiError> {
    let ValidQuery(asked) = request.input;
    operations::list(&state, request.principal.resource.id, Kind::Requirement, asked.filter, asked.page)
        .await
        .map(Reply::ok)
}

pub struct ListUserStories {
    filter: Filter,
    page: PageQuery,
}

impl Query for ListUserStories {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "priority", "status", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let priority = fields.optional("priority");
        let status = fields.optional("status");
        let search = fields.optional::<Search>("search");
        let page = PageQuery::read_from(fields);
        let search = search?.map(|search| search.0);
        Ok(Self { filter: Filter { item_type: None, priority: priority?, status: status?, search }, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = PageQuery::parameters();
        parameters.push(query_parameter("priority", "Only items of this priority.", Priority::schema()));
        parameters.push(query_parameter("status", "Only items of this workflow status.", WorkflowStatus::schema()));
        parameters.push(Search::parameter("Only items whose text has this."));
        parameters
    }
}

pub async fn user_stories(
    request: Authorized<Member<Project>, ValidQuery<ListUserStories>>,
    state: Analysis,
) -> Result<Reply<List<UserStory>>, ApiError> {
    let ValidQuery(asked) = request.input;
    operations::list(&state, request.principal.resource.id, Kind::UserStory, asked.filter, asked.page)
        .await
        .map(Reply::ok)
}
