//! The HTTP endpoint of the dashboard.

use actors::ids::Id;
use actors::run::Run;
use pipeline::result::{Priority, RequirementType};
use utoipa::PartialSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::filter::DashboardFilter;
use super::model::ResultsDashboard;
use super::operations;
use crate::access::policy::Member;
use crate::analysis::items::model::WorkflowStatus;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::SpooledAnswer;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected, TEXT_PATTERN};
use crate::http::input::{Query, ValidQuery, query_parameter};
use crate::projects::model::Project;

/// Which run's dashboard, and which of its items.
pub struct DashboardQuery {
    run_id: Option<Id<Run>>,
    filter: DashboardFilter,
}

impl Query for DashboardQuery {
    fn has(key: &str) -> bool {
        key == "runId" || DashboardFilter::KEYS.contains(&key)
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let run_id = fields.optional("runId");
        let filter = DashboardFilter::read(fields);
        Ok(Self { run_id: run_id?, filter: filter? })
    }
    fn parameters() -> Vec<Parameter> {
        let uuid = || {
            ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
        };
        let words = || {
            let words = ObjectBuilder::new().schema_type(Type::String).min_length(Some(1)).max_length(Some(200));
            words.pattern(Some(TEXT_PATTERN))
        };
        let of_type = "Return only requirements of this type, and the stories that cover one of them.";
        let by_speaker = "Return only items that this speaker said, in any letter case.";
        vec![
            query_parameter("runId", "A run; without it, the newest one that is COMPLETED or PARTIAL.", uuid()),
            query_parameter("type", of_type, RequirementType::schema()),
            query_parameter("priority", "Return only requirements and stories with this priority.", Priority::schema()),
            query_parameter(
                "status",
                "Return only requirements and stories with this status.",
                WorkflowStatus::schema(),
            ),
            query_parameter("source", "Return only items from this document or recording.", uuid()),
            query_parameter("speaker", by_speaker, words()),
            query_parameter("search", "Return only items whose text contains this text.", words()),
        ]
    }
}

pub async fn dashboard(
    request: Authorized<Member<Project>, ValidQuery<DashboardQuery>>,
    state: Analysis,
) -> Result<SpooledAnswer<ResultsDashboard>, ApiError> {
    let ValidQuery(DashboardQuery { run_id, filter }) = request.input;
    operations::dashboard(&state, request.access.resource.id, run_id, filter, request.message).await
}
