//! The bodies and queries of requests about destinations.

use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use super::model::{FieldDefaults, Label};
use crate::http::input::{Body, Query};
use crate::http::list::Search;
use crate::http::page::PageQuery;
use crate::trackers::connections::model::TrackerId;

/// The filter of the list of a tracker's projects, and the page.
#[derive(Query)]
pub struct ProjectsQuery {
    /// The site, if the connected account may use several.
    #[query(schema = id_of_site())]
    pub site_id: Option<TrackerId>,
    /// Return only projects whose name or key contains this text.
    pub search: Option<Search>,
    #[query(flatten)]
    pub page: PageQuery,
}

/// Where a tracker's project is.
#[derive(Query)]
pub struct SiteQuery {
    /// The site, if the connected account may use several.
    #[query(schema = id_of_site())]
    pub site_id: Option<TrackerId>,
}

/// As in an address, without the pattern of [`TrackerId`].
fn id_of_site() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(300)).into()
}

/// Where exported stories are to go.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct SaveTrackerDestination {
    /// The site, if the connected account may use several.
    pub site_id: Option<TrackerId>,
    pub tracker_project_id: TrackerId,
    pub issue_type_id: TrackerId,
    /// Values of fields that are not filled from the story, by the field's id: a text, a number, a date, the id or name of a
    /// value or a list of those, as `missingRequiredFields` of the issue type shows.
    pub field_defaults: Option<FieldDefaults>,
    /// Labels that each issue gets.
    #[schema(max_items = 10)]
    #[body(values)]
    pub labels: Option<Vec<Label>>,
}
