//! The bodies and queries of requests about members and stakeholders.

use utoipa::ToSchema;

use super::model::StakeholderOrigin;
use crate::access::role::ProjectRole;
use crate::accounts::model::Email;
use crate::http::input::{Body, Query};
use crate::http::list::Search;

/// The filter of the list of members.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only members with this role.
    pub role: Option<ProjectRole>,
    /// Return only members whose name, or e-mail address if visible to the caller, contains this text.
    pub search: Option<Search>,
}

/// Whom to invite to a project, and in which role.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct AddProjectMember {
    pub email: Email,
    pub role: ProjectRole,
}

/// The new role of a member.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ChangeProjectMemberRole {
    pub role: ProjectRole,
}

/// The filter of the list of stakeholders.
#[derive(Debug, Clone, Query)]
pub struct StakeholderFilter {
    /// Return only stakeholders of this origin.
    pub origin: Option<StakeholderOrigin>,
    /// Return only stakeholders whose name or e-mail address contains this text.
    pub search: Option<Search>,
}
