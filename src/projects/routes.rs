//! The HTTP endpoints of projects.

use actors::language::Language;
use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::model::{Description, MyProject, Name, Project, ProjectStatus};
use super::operations;
use super::store::Filter;
use crate::access::policy::{Manager, Member, Owner, SignedIn};
use crate::access::role::ProjectRole;
use crate::api::operation::Authorized;
use crate::http::answer::Versioned;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::list::{Listing, Search};
use crate::http::version::IfMatch;
use crate::projects::state::Projects;

/// A project to create.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateProject {
    pub name: Name,
    pub description: Option<Description>,
    pub language: Option<Language>,
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
) -> Result<Versioned<MyProject>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    let made = operations::create(&state, request.access.caller, id, body).await?;
    let version = made.project.version;
    Ok(Reply::created(made).version(version))
}

impl Query for Filter {
    fn has(key: &str) -> bool {
        matches!(key, "status" | "search")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let search = fields.optional("search");
        Ok(Self { status: status?, search: search? })
    }
    fn parameters() -> Vec<Parameter> {
        vec![
            query_parameter("status", "Return only projects with this status.", ProjectStatus::schema()),
            Search::parameter("Return only projects whose name or description contains this text."),
        ]
    }
}

pub async fn list(
    request: Authorized<SignedIn, ValidQuery<Listing<Filter>>>,
    state: Projects,
) -> Result<Reply<List<MyProject>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::list(&state, request.access.caller, listing).await.map(Reply::ok)
}

pub async fn details(
    request: Authorized<Member<Project>, Empty>,
    state: Projects,
) -> Result<Versioned<MyProject>, ApiError> {
    let role = request.access.relation.role.unwrap_or(ProjectRole::Stakeholder);
    let project = operations::details(&state, request.access.resource, role).await?;
    let version = project.project.version;
    Ok(Reply::ok(project).version(version))
}

/// The changes to a project; absent keys stay as they are.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct EditProject {
    #[schema(nullable = false)]
    pub name: Option<Name>,
    pub description: Option<Description>,
    #[schema(nullable = false)]
    pub language: Option<Language>,
    #[schema(nullable = false)]
    pub status: Option<ProjectStatus>,
    /// Whether approvals have to be signed from now on.
    #[schema(nullable = false)]
    pub signed_approvals: Option<bool>,
}

impl Body for EditProject {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let is_empty = fields.left() == 0;
        let name = fields.replaced("name");
        let description = fields.patch("description");
        let language = fields.replaced("language");
        let status = fields.replaced("status");
        let signed_approvals = fields.replaced("signedApprovals");
        if is_empty {
            return Err(fields.reject("Name at least one field to change."));
        }
        Ok(Self {
            name: name?,
            description: description?.or_empty(),
            language: language?,
            status: status?,
            signed_approvals: signed_approvals?,
        })
    }
}

pub async fn edit(
    request: Authorized<Manager<Project>, IfMatch<ValidJson<EditProject>>>,
    state: Projects,
) -> Result<Versioned<MyProject>, ApiError> {
    let IfMatch { input: ValidJson(body), version } = request.input;
    let role = request.access.relation.role.unwrap_or(ProjectRole::Stakeholder);
    let project = operations::edit(&state, request.access.resource.id, role, body, version, request.request_id).await?;
    let version = project.project.version;
    Ok(Reply::ok(project).version(version))
}

pub async fn delete(request: Authorized<Owner<Project>, Empty>, state: Projects) -> Result<Reply<Nothing>, ApiError> {
    operations::delete(&state, request.access.resource, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
