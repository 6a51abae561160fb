//! The HTTP endpoints of destinations.

use actix_web::HttpRequest;
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::model::{FieldDefaults, Label, MOST_LABELS, TrackerDestination, TrackerIssueType};
use super::operations::{self, WishedDestination};
use crate::access::policy::Manager;
use crate::api::operation::Authorized;
use crate::clients::trackers::model::TrackerProjectOption;
use crate::http::code::Code;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Described, Input, Query, Raw, ValidJson, ValidQuery, query_parameter};
use crate::http::list::Search;
use crate::http::page::PageQuery;
use crate::http::route_table::path_parameter;
use crate::projects::model::Project;
use crate::trackers::connections::model::TrackerId;
use crate::trackers::state::Trackers;

fn site_parameter() -> Parameter {
    let site = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(300));
    query_parameter("siteId", "The site, if the connected account may use several.", site)
}

pub struct ProjectsQuery {
    site_id: Option<TrackerId>,
    search: Option<Search>,
    page: PageQuery,
}

impl Query for ProjectsQuery {
    fn has(key: &str) -> bool {
        matches!(key, "siteId" | "search") || PageQuery::has(key)
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let site_id = fields.optional("siteId");
        let search = fields.optional("search");
        let page = PageQuery::read(fields);
        Ok(Self { site_id: site_id?, search: search?, page: page? })
    }
    fn parameters() -> Vec<Parameter> {
        let own = [site_parameter(), Search::parameter("Return only projects whose name or key contains this text.")];
        own.into_iter().chain(PageQuery::parameters()).collect()
    }
}

pub async fn projects(
    request: Authorized<Manager<Project>, ValidQuery<ProjectsQuery>>,
    state: Trackers,
) -> Result<Reply<List<TrackerProjectOption>>, ApiError> {
    let ValidQuery(ProjectsQuery { site_id, search, page }) = request.input;
    let search = search.map(|search| search.0);
    operations::projects(&state, request.access.resource.id, site_id, search, page, request.request_id)
        .await
        .map(Reply::ok)
}

pub struct SiteQuery {
    site_id: Option<TrackerId>,
}

impl Query for SiteQuery {
    fn has(key: &str) -> bool {
        key == "siteId"
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { site_id: fields.optional("siteId")? })
    }
    fn parameters() -> Vec<Parameter> {
        vec![site_parameter()]
    }
}

/// The tracker's project in the path, with the query.
pub struct OfTrackerProject {
    id: TrackerId,
    query: SiteQuery,
}

impl Input for OfTrackerProject {
    async fn take(request: &HttpRequest, raw: Raw) -> Result<Self, ApiError> {
        let text = path_parameter(request, "trackerProjectId");
        // An id that no tracker gives names nothing.
        let id = TrackerId::read(text).map_err(|_| ApiError::of(Code::NOT_FOUND))?;
        let ValidQuery(query) = ValidQuery::take(request, raw).await?;
        Ok(Self { id, query })
    }
    fn describe() -> Described {
        ValidQuery::<SiteQuery>::describe()
    }
}

pub async fn issue_types(
    request: Authorized<Manager<Project>, OfTrackerProject>,
    state: Trackers,
) -> Result<Reply<List<TrackerIssueType>>, ApiError> {
    let OfTrackerProject { id, query } = request.input;
    operations::issue_types(&state, request.access.resource.id, query.site_id, id, request.request_id)
        .await
        .map(Reply::ok)
}

/// Where exported stories are to go.
#[derive(ToSchema)]
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
    pub labels: Option<Vec<Label>>,
}

impl Body for SaveTrackerDestination {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let site_id = fields.optional("siteId");
        let tracker_project_id = fields.required("trackerProjectId");
        let issue_type_id = fields.required("issueTypeId");
        let field_defaults = fields.optional("fieldDefaults");
        let labels = fields.values("labels", MOST_LABELS, |_| Ok(()));
        Ok(Self {
            site_id: site_id?,
            tracker_project_id: tracker_project_id?,
            issue_type_id: issue_type_id?,
            field_defaults: field_defaults?,
            labels: Some(labels?),
        })
    }
}

pub async fn save(
    request: Authorized<Manager<Project>, ValidJson<SaveTrackerDestination>>,
    state: Trackers,
) -> Result<Reply<TrackerDestination>, ApiError> {
    let ValidJson(body) = request.input;
    let wished = WishedDestination {
        site_id: body.site_id,
        tracker_project_id: body.tracker_project_id,
        issue_type_id: body.issue_type_id,
        field_defaults: body.field_defaults.unwrap_or_default().0,
        labels: body.labels.unwrap_or_default(),
    };
    operations::save(&state, request.access.resource.id, wished, request.request_id).await.map(Reply::ok)
}
