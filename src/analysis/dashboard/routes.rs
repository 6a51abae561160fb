//! The dashboard: the query in, the page out.

use actors::ids::Id;
use actors::run::Run;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::model::ResultsDashboard;
use super::operations;
use crate::access::guard::Member;
use crate::analysis::state::Analysis;
use crate::api::operation::Allowed;
use crate::http::envelope::Rendered;
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Asked, Query, query_parameter};
use crate::projects::model::Project;

pub struct OfRun {
    run_id: Option<Id<Run>>,
}

impl Query for OfRun {
    const KEYS: &'static [&'static str] = &["runId"];
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        Ok(Self { run_id: fields.optional("runId")? })
    }
    fn parameters() -> Vec<Parameter> {
        let uuid =
            ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)));
        vec![query_parameter("runId", "A run; without it, the newest one that is COMPLETED or PARTIAL.", uuid)]
    }
}

pub async fn dashboard(
    may: Allowed<Member<Project>, Asked<OfRun>>,
    state: Analysis,
) -> Result<Rendered<ResultsDashboard>, Failure> {
    let Asked(of) = may.input;
    operations::dashboard(&state, may.by.thing.id, of.run_id, may.says).await
}
