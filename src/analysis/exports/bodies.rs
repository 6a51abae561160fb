//! The body of a request for a file.

use utoipa::ToSchema;

use super::model::{DashboardFormat, ExportFilter};
use crate::http::input::Body;

/// The format and the content of a file.
#[derive(Clone, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ExportDashboard {
    pub format: DashboardFormat,
    /// Without them, the whole specification.
    #[body(object)]
    pub filters: Option<ExportFilter>,
}
