//! The bodies and queries of requests about projects.

use actors::language::Language;
use utoipa::ToSchema;

use super::model::{Description, Name, ProjectStatus};
use crate::http::input::{Body, Query};
use crate::http::list::Search;

/// A project to create.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct CreateProject {
    pub name: Name,
    pub description: Option<Description>,
    pub language: Option<Language>,
}

/// The filter of the list of projects.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only projects with this status.
    pub status: Option<ProjectStatus>,
    /// Return only projects whose name or description contains this text.
    pub search: Option<Search>,
}

/// The changes to a project; absent keys stay as they are.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase", min_properties = 1)]
pub struct EditProject {
    #[schema(nullable = false)]
    pub name: Option<Name>,
    #[body(or_empty)]
    pub description: Option<Description>,
    #[schema(nullable = false)]
    pub language: Option<Language>,
    #[schema(nullable = false)]
    pub status: Option<ProjectStatus>,
    /// Whether approvals have to be signed from now on.
    #[schema(nullable = false)]
    pub signed_approvals: Option<bool>,
}
