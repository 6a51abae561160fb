//! The HTTP endpoints of members, invitations and stakeholders.

use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::Membership;
use super::model::{
    JoinedProject, ProjectInvitation, ProjectInvitationPreview, ProjectMember, Stakeholder, StakeholderOrigin, Viewer,
};
use super::operations::{self, invitations};
use super::store::{Filter, StakeholderFilter};
use crate::access::one_time::OneTimeToken;
use crate::access::policy::{Analyst, Manager, ManagerOrSelf, Member, Public, SignedIn};
use crate::access::role::ProjectRole;
use crate::accounts::model::Email;
use crate::api::operation::Authorized;
use crate::http::answer::NotReplayable;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, Query, ValidJson, ValidQuery, query_parameter};
use crate::http::page::{PageQuery, Search};
use crate::projects::model::Project;
use crate::projects::state::Projects;

pub struct ListMembers {
    filter: Filter,
    page: PageQuery,
}

impl Query for ListMembers {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "role", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let role = fields.optional("role");
        let search = fields.optional::<Search>("search");
        let page = PageQuery::read_from(fields);
        let filter = Filter { role: role?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = PageQuery::parameters();
        parameters.push(query_parameter("role", "Only members with this role.", ProjectRole::schema()));
        parameters.push(Search::parameter("Only members whose name, or address where it is shown, has this."));
        parameters
    }
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<ListMembers>>,
    state: Projects,
) -> Result<Reply<List<ProjectMember>>, ApiError> {
    let ValidQuery(asked) = request.input;
    let role = request.principal.relation.role.unwrap_or(ProjectRole::Stakeholder);
    let viewer = Viewer { user_id: request.principal.caller.user_id, role };
    operations::list(&state, request.principal.resource.id, viewer, asked.filter, asked.page).await.map(Reply::ok)
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AddProjectMember {
    #[schema(value_type = String, format = Email, max_length = 254)]
    email: Email,
    role: ProjectRole,
}

impl Body for AddProjectMember {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let email = fields.required("email");
        let role = fields.required("role");
        Ok(Self { email: email?, role: role? })
    }
}

pub async fn add(
    request: Authorized<Manager<Project>, ValidJson<AddProjectMember>>,
    state: Projects,
) -> Result<Reply<ProjectInvitation>, ApiError> {
    let id = request.new_id();
    let ValidJson(AddProjectMember { email, role }) = request.input;
    let invited = invitations::Invited { id, email, role };
    let invitation =
        invitations::add(&state, request.principal.caller, request.principal.resource.id, invited, request.request_id)
            .await?;
    Ok(Reply::created(invitation))
}

pub async fn preview(
    request: Authorized<Public, OneTimeToken>,
    state: Projects,
) -> Result<Reply<ProjectInvitationPreview>, ApiError> {
    invitations::preview(&state, &request.input).await.map(Reply::ok)
}

pub async fn accept(
    request: Authorized<SignedIn, OneTimeToken>,
    state: Projects,
) -> Result<NotReplayable<JoinedProject>, ApiError> {
    let joined = invitations::accept(&state, request.principal.caller, &request.input, request.request_id).await?;
    Ok(NotReplayable(Reply::ok(joined)))
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ChangeProjectMemberRole {
    role: ProjectRole,
}

impl Body for ChangeProjectMemberRole {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { role: fields.required("role")? })
    }
}

pub async fn change_role(
    request: Authorized<Manager<Membership>, ValidJson<ChangeProjectMemberRole>>,
    state: Projects,
) -> Result<Reply<ProjectMember>, ApiError> {
    let ValidJson(body) = request.input;
    let Membership { project_id, member_id } = request.principal.resource;
    operations::change_role(&state, request.principal.caller, project_id, member_id, body.role, request.request_id)
        .await
        .map(Reply::ok)
}

pub async fn remove(
    request: Authorized<ManagerOrSelf<Membership>, Empty>,
    state: Projects,
) -> Result<Reply<Nothing>, ApiError> {
    let Membership { project_id, member_id } = request.principal.resource;
    operations::remove(&state, request.principal.caller, project_id, member_id, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}

pub struct ListStakeholders {
    filter: StakeholderFilter,
    page: PageQuery,
}

impl Query for ListStakeholders {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "origin", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let origin = fields.optional("origin");
        let search = fields.optional::<Search>("search");
        let page = PageQuery::read_from(fields);
        let filter = StakeholderFilter { origin: origin?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = PageQuery::parameters();
        parameters.push(query_parameter("origin", "Only those who came like this.", StakeholderOrigin::schema()));
        parameters.push(Search::parameter("Only those whose name or address has this."));
        parameters
    }
}

pub async fn stakeholders(
    request: Authorized<Analyst<Project>, ValidQuery<ListStakeholders>>,
    state: Projects,
) -> Result<Reply<List<Stakeholder>>, ApiError> {
    let ValidQuery(asked) = request.input;
    operations::stakeholders(&state, request.principal.resource.id, asked.filter, asked.page).await.map(Reply::ok)
}
