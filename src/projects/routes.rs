//! HTTP handlers of projects.

use super::bodies::{CreateProject, EditProject, Filter};
use super::model::{MyProject, Project};
use super::operations;
use crate::access::policy::{Manager, Member, Owner, SignedIn};
use crate::access::role::ProjectRole;
use crate::api::operation::Authorized;
use crate::http::answer::Versioned;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::http::version::IfMatch;
use crate::projects::state::Projects;

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
