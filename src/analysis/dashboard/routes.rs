//! The HTTP endpoint of the dashboard.

use actors::ids::Id;
use actors::run::Run;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::model::ResultsDashboard;
use super::operations;
use crate::access::policy::Member;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::envelope::Prerendered;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Query, ValidQuery, query_parameter};
use crate::projects::model::Project;

pub struct OfRun {
    run_id: Option<Id<Run>>,
}

impl Query for OfRun {
    fn has(key: &str) -> bool {
        key == "runId"
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { run_id: fields.optional("runId")? })
    }
    fn parameters() -> Vec<Parameter> {
        let uuid =
            ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)));
        vec![query_parameter("runId", "A run; without it, the newest one that is COMPLETED or PARTIAL.", uuid)]
    }
}

pub async fn dashboard(
    request: Authorized<Member<Project>, ValidQuery<OfRun>>,
    state: Analysis,
) -> Result<Prerendered<ResultsDashboard>, ApiError> {
    let ValidQuery(of) = request.input;
    operations::dashboard(&state, request.access.resource.id, of.run_id, request.message).await
}
