//! The HTTP endpoints of baselines.

use actors::ids::Id;
use utoipa::ToSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::ProjectBaseline;
use super::model::{Baseline, BaselineComparison, BaselineName, BaselineNote};
use super::operations;
use crate::access::policy::{Manager, Member};
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Query, ValidJson, ValidQuery, WithShare, query_parameter};
use crate::http::page::PageQuery;
use crate::projects::model::Project;
use crate::reviews::state::Reviews;

/// The name of a baseline, and what it is for.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CreateBaseline {
    pub name: BaselineName,
    pub note: Option<BaselineNote>,
}

impl Body for CreateBaseline {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let name = fields.required("name");
        let note = fields.optional("note");
        Ok(Self { name: name?, note: note? })
    }
}

pub async fn create(
    request: Authorized<Manager<Project>, ValidJson<CreateBaseline>>,
    state: Reviews,
) -> Result<Reply<Baseline>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    operations::create(&state, request.access.caller, request.access.resource.id, id, body).await.map(Reply::created)
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<PageQuery>>,
    state: Reviews,
) -> Result<Reply<List<Baseline>>, ApiError> {
    let ValidQuery(page) = request.input;
    operations::list(&state, request.access.resource.id, page).await.map(Reply::ok)
}

pub struct ComparedWith {
    with: Option<Id<Baseline>>,
}

impl Query for ComparedWith {
    fn has(key: &str) -> bool {
        key == "with"
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        Ok(Self { with: fields.optional("with")? })
    }
    fn parameters() -> Vec<Parameter> {
        let uuid =
            ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)));
        let with = "Another baseline of the project, whose values are `after`; without it, the present items.";
        vec![query_parameter("with", with, uuid)]
    }
}

pub async fn compare(
    request: Authorized<Member<ProjectBaseline>, WithShare<ValidQuery<ComparedWith>>>,
    state: Reviews,
) -> Result<CountedAnswer<BaselineComparison>, ApiError> {
    let WithShare { input: ValidQuery(ComparedWith { with }), share } = request.input;
    let comparison = operations::compare(&state, request.access.resource, with).await?;
    Ok(CountedAnswer { reply: Reply::ok(comparison), share })
}
