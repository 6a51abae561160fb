//! Results: a project's requirements and user stories.

use utoipa::PartialSchema;
use utoipa::openapi::path::Parameter;

use super::model::{Priority, Requirement, RequirementType, UserStory, WorkflowStatus};
use super::operations;
use super::store::{Filter, Kind};
use crate::access::guard::Member;
use crate::analysis::state::Analysis;
use crate::api::operation::Allowed;
use crate::http::envelope::{List, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Query, query_parameter};
use crate::http::page::{Page, Search};
use crate::projects::model::Project;

pub struct ListRequirements {
    filter: Filter,
    page: Page,
}

impl Query for ListRequirements {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "type", "priority", "status", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
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
    may: Allowed<Member<Project>, Asked<ListRequirements>>,
    state: Analysis,
) -> Result<Reply<List<Requirement>>, Failure> {
    let Asked(asked) = may.input;
    operations::list(&state, may.by.thing.id, Kind::Requirement, asked.filter, asked.page).await.map(Reply::ok)
}

pub struct ListUserStories {
    filter: Filter,
    page: Page,
}

impl Query for ListUserStories {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "priority", "status", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let priority = fields.optional("priority");
        let status = fields.optional("status");
        let search = fields.optional::<Search>("search");
        let page = Page::read_from(fields);
        let search = search?.map(|search| search.0);
        Ok(Self { filter: Filter { item_type: None, priority: priority?, status: status?, search }, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Page::parameters();
        parameters.push(query_parameter("priority", "Only items of this priority.", Priority::schema()));
        parameters.push(query_parameter("status", "Only items of this workflow status.", WorkflowStatus::schema()));
        parameters.push(Search::parameter("Only items whose text has this."));
        parameters
    }
}

pub async fn user_stories(
    may: Allowed<Member<Project>, Asked<ListUserStories>>,
    state: Analysis,
) -> Result<Reply<List<UserStory>>, Failure> {
    let Asked(asked) = may.input;
    operations::list(&state, may.by.thing.id, Kind::UserStory, asked.filter, asked.page).await.map(Reply::ok)
}
