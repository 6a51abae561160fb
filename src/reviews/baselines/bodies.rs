//! The bodies and queries of requests about baselines.

use actors::ids::Id;
use utoipa::ToSchema;

use super::model::{Baseline, BaselineName, BaselineNote};
use crate::http::input::{Body, Query};

/// The name of a baseline, and what it is for.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct CreateBaseline {
    pub name: BaselineName,
    pub note: Option<BaselineNote>,
}

/// What a baseline is compared with.
#[derive(Query)]
pub struct ComparedWith {
    /// Another baseline of the project, whose values are `after`; without it, the present items.
    pub with: Option<Id<Baseline>>,
}
