//! Project Lookup: bodies in, answers out.

use utoipa::openapi::path::Parameter;
use utoipa::{PartialSchema, ToSchema};

use super::Membership;
use super::model::{
    JoinedProject, ProjectInvitation, ProjectInvitationPreview, ProjectMember, Stakeholder, StakeholderOrigin, Viewer,
};
use super::operations::{self, invitations};
use super::store::{Filter, StakeholderFilter};
use crate::access::guard::{Analyst, Manager, ManagerOrSelf, Member, Public, SignedIn};
use crate::access::one_time::OneTimeToken;
use crate::access::role::ProjectRole;
use crate::accounts::model::Email;
use crate::api::operation::Allowed;
use crate::http::answer::Unkept;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Body, Empty, Query, Valid, query_parameter};
use crate::http::page::{Page, Search};
use crate::projects::model::Project;
use crate::projects::state::Projects;

pub struct ListMembers {
    filter: Filter,
    page: Page,
}

impl Query for ListMembers {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "role", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let role = fields.optional("role");
        let search = fields.optional::<Search>("search");
        let page = Page::read_from(fields);
        let filter = Filter { role: role?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Page::parameters();
        parameters.push(query_parameter("role", "Only members with this role.", ProjectRole::schema()));
        parameters.push(Search::parameter("Only members whose name, or address where it is shown, has this."));
        parameters
    }
}

pub async fn list(
    may: Allowed<Member<Project>, Asked<ListMembers>>,
    state: Projects,
) -> Result<Reply<List<ProjectMember>>, Failure> {
    let Asked(asked) = may.input;
    let role = may.by.standing.role.unwrap_or(ProjectRole::Stakeholder);
    let viewer = Viewer { user_id: may.by.caller.user_id, role };
    operations::list(&state, may.by.thing.id, viewer, asked.filter, asked.page).await.map(Reply::ok)
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct AddProjectMember {
    #[schema(value_type = String, format = Email, max_length = 254)]
    email: Email,
    role: ProjectRole,
}

impl Body for AddProjectMember {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let email = fields.required("email");
        let role = fields.required("role");
        Ok(Self { email: email?, role: role? })
    }
}

pub async fn add(
    may: Allowed<Manager<Project>, Valid<AddProjectMember>>,
    state: Projects,
) -> Result<Reply<ProjectInvitation>, Failure> {
    let id = may.drawn();
    let Valid(AddProjectMember { email, role }) = may.input;
    let invited = invitations::Invited { id, email, role };
    let invitation = invitations::add(&state, may.by.caller, may.by.thing.id, invited, may.request).await?;
    Ok(Reply::created(invitation))
}

pub async fn preview(
    may: Allowed<Public, OneTimeToken>,
    state: Projects,
) -> Result<Reply<ProjectInvitationPreview>, Failure> {
    invitations::preview(&state, &may.input).await.map(Reply::ok)
}

pub async fn accept(may: Allowed<SignedIn, OneTimeToken>, state: Projects) -> Result<Unkept<JoinedProject>, Failure> {
    let joined = invitations::accept(&state, may.by.caller, &may.input, may.request).await?;
    Ok(Unkept(Reply::ok(joined)))
}

#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct ChangeProjectMemberRole {
    role: ProjectRole,
}

impl Body for ChangeProjectMemberRole {
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { role: fields.required("role")? })
    }
}

pub async fn change_role(
    may: Allowed<Manager<Membership>, Valid<ChangeProjectMemberRole>>,
    state: Projects,
) -> Result<Reply<ProjectMember>, Failure> {
    let Valid(body) = may.input;
    let Membership { project_id, member_id } = may.by.thing;
    operations::change_role(&state, may.by.caller, project_id, member_id, body.role, may.request).await.map(Reply::ok)
}

pub async fn remove(
    may: Allowed<ManagerOrSelf<Membership>, Empty>,
    state: Projects,
) -> Result<Reply<Nothing>, Failure> {
    let Membership { project_id, member_id } = may.by.thing;
    operations::remove(&state, may.by.caller, project_id, member_id, may.request).await?;
    Ok(Reply::ok(Nothing {}))
}

pub struct ListStakeholders {
    filter: StakeholderFilter,
    page: Page,
}

impl Query for ListStakeholders {
    const KEYS: &'static [&'static str] = &["limit", "cursor", "origin", "search"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let origin = fields.optional("origin");
        let search = fields.optional::<Search>("search");
        let page = Page::read_from(fields);
        let filter = StakeholderFilter { origin: origin?, search: search?.map(|search| search.0) };
        Ok(Self { filter, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let mut parameters = Page::parameters();
        parameters.push(query_parameter("origin", "Only those who came like this.", StakeholderOrigin::schema()));
        parameters.push(Search::parameter("Only those whose name or address has this."));
        parameters
    }
}

pub async fn stakeholders(
    may: Allowed<Analyst<Project>, Asked<ListStakeholders>>,
    state: Projects,
) -> Result<Reply<List<Stakeholder>>, Failure> {
    let Asked(asked) = may.input;
    operations::stakeholders(&state, may.by.thing.id, asked.filter, asked.page).await.map(Reply::ok)
}
