//! The query of the dashboard.

use actors::ids::Id;
use actors::run::Run;

use super::filter::DashboardFilter;
use crate::http::input::Query;

/// Which run's dashboard, and which of its items.
#[derive(Query)]
pub struct DashboardQuery {
    /// A run, for what it found; without it, the specification as it stands.
    pub run_id: Option<Id<Run>>,
    #[query(flatten)]
    pub filter: DashboardFilter,
}
