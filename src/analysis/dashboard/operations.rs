//! The dashboard, one function an operation.

use std::marker::PhantomData;

use actors::ids::{self, Id};
use actors::run::Run;
use serde_json::value::RawValue;

use super::model::ResultsDashboard;
use crate::analysis::results::store as results;
use crate::analysis::state::Analysis;
use crate::analysis::store;
use crate::db::Failed;
use crate::http::code::Code;
use crate::http::envelope::{Rendered, success};
use crate::http::failure::Failure;

/// What a run found; without one, what the newest successful run found, or an empty dashboard.
///
/// The result goes out as it was kept, unread: it may be large and is polled.
///
/// # Errors
/// 404 for a run that the project does not have; 409 for one without a result.
pub async fn dashboard(
    state: &Analysis,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    says: &str,
) -> Result<Rendered<ResultsDashboard>, Failure> {
    let found = state
        .db
        .read(move |conn| {
            Box::pin(async move {
                let run = match run_id {
                    Some(id) => store::find(conn, id).await?.filter(|run| run.project_id == project_id),
                    None => store::newest_successful(conn, project_id).await?,
                };
                let Some(run) = run else { return Ok::<_, Failed>(None) };
                Ok(Some((run.id, results::result(conn, run.id).await?)))
            })
        })
        .await?;
    match (found, run_id) {
        (None, Some(_)) => Err(Failure::of(Code::NOT_FOUND)),
        (None, None) => {
            let empty = ResultsDashboard::empty(project_id, state.now());
            Ok(rendered("\"none\"".to_owned(), success(200, says, &empty)?))
        }
        (Some((_, None)), _) => Err(Failure::saying(Code::INVALID_STATE, "The run has no result.")),
        (Some((id, Some((result, at)))), _) => {
            let result = RawValue::from_string(result).map_err(Failure::internal)?;
            Ok(rendered(format!("\"{id}-{}\"", at.millis()), success(200, says, &result)?))
        }
    }
}

fn rendered(etag: String, body: Vec<u8>) -> Rendered<ResultsDashboard> {
    Rendered { etag, body: body.into(), of: PhantomData }
}
