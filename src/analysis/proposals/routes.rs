//! The HTTP endpoints of proposals.

use utoipa::PartialSchema;
use utoipa::openapi::path::Parameter;
use utoipa::openapi::schema::{KnownFormat, ObjectBuilder, SchemaFormat, Type};

use super::ProjectProposal;
use super::model::{Proposal, ProposalKind, ProposalStatus};
use super::operations;
use super::store::Filter;
use crate::access::policy::{Analyst, Member};
use crate::analysis::items::model::ProposalTarget;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::CountedAnswer;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Empty, Query, ValidQuery, WithShare, query_parameter};
use crate::http::list::Listing;
use crate::http::version::IfMatch;
use crate::projects::model::Project;

impl Query for Filter {
    fn has(key: &str) -> bool {
        matches!(key, "status" | "kind" | "targetType" | "runId" | "importId")
    }
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let status = fields.optional("status");
        let kind = fields.optional("kind");
        let target = fields.optional("targetType");
        let run_id = fields.optional("runId");
        let import_id = fields.optional("importId");
        Ok(Self { status: status?, kind: kind?, target: target?, run_id: run_id?, import_id: import_id? })
    }
    fn parameters() -> Vec<Parameter> {
        let uuid = || {
            ObjectBuilder::new().schema_type(Type::String).format(Some(SchemaFormat::KnownFormat(KnownFormat::Uuid)))
        };
        vec![
            query_parameter("status", "Return only proposals with this status.", ProposalStatus::schema()),
            query_parameter("kind", "Return only proposals of this kind.", ProposalKind::schema()),
            query_parameter("targetType", "Return only proposals about this kind of items.", ProposalTarget::schema()),
            query_parameter("runId", "Return only proposals of this run.", uuid()),
            query_parameter("importId", "Return only proposals of this import.", uuid()),
        ]
    }
}

pub async fn list(
    request: Authorized<Member<Project>, WithShare<ValidQuery<Listing<Filter>>>>,
    state: Analysis,
) -> Result<CountedAnswer<List<Proposal>>, ApiError> {
    let WithShare { input: ValidQuery(listing), share } = request.input;
    operations::list(&state, request.access.resource.id, listing, share).await
}

/// `If-Match` is the version of the item that the proposal is about.
pub async fn accept(
    request: Authorized<Analyst<ProjectProposal>, IfMatch<Empty>>,
    state: Analysis,
) -> Result<Reply<Proposal>, ApiError> {
    let IfMatch { version, .. } = request.input;
    let (caller, proposal) = (request.access.caller, request.access.resource);
    operations::accept(&state, proposal, caller, version, request.request_id).await.map(Reply::ok)
}

pub async fn dismiss(
    request: Authorized<Analyst<ProjectProposal>, Empty>,
    state: Analysis,
) -> Result<Reply<Proposal>, ApiError> {
    operations::dismiss(&state, request.access.resource).await.map(Reply::ok)
}
