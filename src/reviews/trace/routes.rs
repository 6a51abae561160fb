//! The HTTP endpoint of the trace matrix.

use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{ObjectBuilder, Type};

use super::model::TraceMatrix;
use super::operations;
use crate::access::policy::Member;
use crate::api::operation::Authorized;
use crate::http::answer::SpooledAnswer;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Query, QueryFlag, ValidQuery, query_parameter};
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

pub struct TraceQuery {
    gaps_only: bool,
}

impl Query for TraceQuery {
    fn has(key: &str) -> bool {
        key == "gapsOnly"
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let gaps_only: Option<QueryFlag> = fields.optional("gapsOnly")?;
        Ok(Self { gaps_only: gaps_only.is_some_and(|flag| flag.0) })
    }
    fn parameters() -> Vec<Parameter> {
        let flag = ObjectBuilder::new().schema_type(Type::Boolean).default(Some(false.into()));
        vec![query_parameter("gapsOnly", "Whether only the rows with a gap are returned.", flag)]
    }
}

pub async fn matrix(
    request: Authorized<Member<Project>, ValidQuery<TraceQuery>>,
    state: Reviews,
) -> Result<SpooledAnswer<TraceMatrix>, ApiError> {
    let ValidQuery(TraceQuery { gaps_only }) = request.input;
    operations::trace(&state, request.access.resource.id, gaps_only, request.message).await
}
