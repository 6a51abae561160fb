//! HTTP handlers of members, invitations and stakeholders.

use super::Membership;
use super::bodies::{AddProjectMember, ChangeProjectMemberRole, Filter, StakeholderFilter};
use super::model::{
    InvitationToProject, JoinedProject, MemberViewer, ProjectInvitation, ProjectInvitationPreview, ProjectMember,
    Stakeholder,
};
use super::operations::{self, invitations, open_invitations};
use crate::access::one_time::OneTimeToken;
use crate::access::policy::{Analyst, Manager, ManagerOrSelf, Member, Public, SignedIn};
use crate::access::role::ProjectRole;
use crate::api::operation::Authorized;
use crate::http::answer::NotReplayable;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery};
use crate::http::list::Listing;
use crate::http::page::PageQuery;
use crate::projects::model::Project;
use crate::projects::state::Projects;

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<Listing<Filter>>>,
    state: Projects,
) -> Result<Reply<List<ProjectMember>>, ApiError> {
    let ValidQuery(listing) = request.input;
    let role = request.access.relation.role.unwrap_or(ProjectRole::Stakeholder);
    let viewer = MemberViewer { user_id: request.access.caller.user_id, role };
    operations::list(&state, request.access.resource.id, viewer, listing).await.map(Reply::ok)
}

pub async fn add(
    request: Authorized<Manager<Project>, ValidJson<AddProjectMember>>,
    state: Projects,
) -> Result<Reply<ProjectInvitation>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    invitations::add(&state, request.access.caller, request.access.resource.id, id, body, request.request_id)
        .await
        .map(Reply::created)
}

pub async fn list_invitations(
    request: Authorized<Manager<Project>, ValidQuery<PageQuery>>,
    state: Projects,
) -> Result<Reply<List<ProjectInvitation>>, ApiError> {
    let ValidQuery(page) = request.input;
    open_invitations::list(&state, request.access.resource.id, page).await.map(Reply::ok)
}

pub async fn resend_invitation(
    request: Authorized<Manager<InvitationToProject>, Empty>,
    state: Projects,
) -> Result<Reply<ProjectInvitation>, ApiError> {
    let id = request.new_id();
    let Manager { caller, resource: former, .. } = request.access;
    invitations::resend(&state, caller, id, former, request.request_id).await.map(Reply::ok)
}

pub async fn revoke_invitation(
    request: Authorized<Manager<InvitationToProject>, Empty>,
    state: Projects,
) -> Result<Reply<Nothing>, ApiError> {
    let Manager { caller, resource: invitation, .. } = request.access;
    open_invitations::revoke(&state, caller, invitation).await?;
    Ok(Reply::ok(Nothing {}))
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
    let joined = invitations::accept(&state, request.access.caller, &request.input, request.request_id).await?;
    Ok(NotReplayable(Reply::ok(joined)))
}

pub async fn change_role(
    request: Authorized<Manager<Membership>, ValidJson<ChangeProjectMemberRole>>,
    state: Projects,
) -> Result<Reply<ProjectMember>, ApiError> {
    let ValidJson(body) = request.input;
    let Membership { project_id, member_id } = request.access.resource;
    operations::change_role(&state, request.access.caller, project_id, member_id, body.role, request.request_id)
        .await
        .map(Reply::ok)
}

pub async fn remove(
    request: Authorized<ManagerOrSelf<Membership>, Empty>,
    state: Projects,
) -> Result<Reply<Nothing>, ApiError> {
    let Membership { project_id, member_id } = request.access.resource;
    operations::remove(&state, request.access.caller, project_id, member_id, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}

pub async fn stakeholders(
    request: Authorized<Analyst<Project>, ValidQuery<Listing<StakeholderFilter>>>,
    state: Projects,
) -> Result<Reply<List<Stakeholder>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::stakeholders(&state, request.access.resource.id, listing).await.map(Reply::ok)
}
