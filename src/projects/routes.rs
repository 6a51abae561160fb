//! The HTTP endpoints of projects.

use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::model::{Description, MyProject, Name, Project, ProjectStatus};
use super::operations::{self, ProjectEdit};
use super::store::Filter;
use crate::access::policy::{Manager, Member, Owner, SignedIn};
use crate::access::role::ProjectRole;
use crate::accounts::model::Language;
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::page::{PageQuery, Search};
use crate::http::version::IfMatch;
use crate::projects::state::Projects;

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateProject {
    #[schema(value_type = String, min_length = 1, max_length = 120, example = "Clinic booking", pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    name: Name,
    #[schema(value_type = Option<String>, max_length = 5000)]
    description: Option<Description>,
    language: Option<Language>,
}

impl Body for CreateProject {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let name = fields.required("name");
        let description = fields.optional("description");
        let language = fields.optional("language");
        Ok(Self { name: name?, description: description?, language: language? })
    }
}

pub async fn create(
    request: Authorized<SignedIn, ValidJson<CreateProject>>,
    state: Projects,
) -> Result<Reply<MyProject>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    let language = body.language.unwrap_or(Language::Auto);
    let description = body.description.unwrap_or_default();
    let made = operations::create(&state, request.principal.caller, id, body.name, description, language).await?;
    let version = made.project.version;
    Ok(Reply::created(made).version(version))
}

pub struct ListProjects {
    filter: Filter,
    page: PageQuery,
}

impl Query for ListProjects {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "status", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let search = fields.optional::<Search>("search");
        let page = PageQuery::read_from(fields);
        let filter = Filter { status: status?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = PageQuery::parameters();
        parameters.push(query_parameter("status", "Only projects of this status.", ProjectStatus::schema()));
        parameters.push(Search::parameter("Only projects whose name or description has this."));
        parameters
    }
}

pub async fn list(
    request: Authorized<SignedIn, ValidQuery<ListProjects>>,
    state: Projects,
) -> Result<Reply<List<MyProject>>, ApiError> {
    let ValidQuery(asked) = request.input;
    operations::list(&state, request.principal.caller, asked.filter, asked.page).await.map(Reply::ok)
}

pub async fn details(
    request: Authorized<Member<Project>, Empty>,
    state: Projects,
) -> Result<Reply<MyProject>, ApiError> {
    let role = request.principal.relation.role.unwrap_or(ProjectRole::Stakeholder);
    let project = operations::details(&state, request.principal.resource, role).await?;
    let version = project.project.version;
    Ok(Reply::ok(project).version(version))
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct EditProject {
    #[schema(value_type = Option<String>, nullable = false, min_length = 1, max_length = 120, pattern = "^[^\\u0000-\\u0008\\u000A-\\u001F\\u007F-\\u009F]*$")]
    name: Option<Name>,
    #[schema(value_type = Option<String>, max_length = 5000)]
    description: Option<Description>,
    #[schema(nullable = false)]
    language: Option<Language>,
    #[schema(nullable = false)]
    status: Option<ProjectStatus>,
}

impl Body for EditProject {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let is_empty = fields.left() == 0;
        let name = fields.replaced("name");
        let description = fields.patch("description");
        let language = fields.replaced("language");
        let status = fields.replaced("status");
        if is_empty {
            return Err(fields.wrong("Name at least one field to change."));
        }
        Ok(Self { name: name?, description: description?.or_empty(), language: language?, status: status? })
    }
}

pub async fn edit(
    request: Authorized<Manager<Project>, IfMatch<ValidJson<EditProject>>>,
    state: Projects,
) -> Result<Reply<MyProject>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let edit =
        ProjectEdit { name: body.name, description: body.description, language: body.language, status: body.status };
    let role = request.principal.relation.role.unwrap_or(ProjectRole::Stakeholder);
    let project =
        operations::edit(&state, request.principal.resource.id, role, edit, version, request.request_id).await?;
    let version = project.project.version;
    Ok(Reply::ok(project).version(version))
}

pub async fn delete(request: Authorized<Owner<Project>, Empty>, state: Projects) -> Result<Reply<Nothing>, ApiError> {
    operations::delete(&state, request.principal.resource, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
