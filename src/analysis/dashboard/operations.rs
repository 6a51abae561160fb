//! The dashboard operation.

use std::marker::PhantomData;

use actors::ids::{self, Id};
use actors::run::Run;
use serde_json::value::RawValue;

use super::model::ResultsDashboard;
use crate::analysis::results::store as results;
use crate::analysis::state::Analysis;
use crate::analysis::store;
use crate::db::DbError;
use crate::http::code::Code;
use crate::http::envelope::{Prerendered, success};
use crate::http::error::ApiError;

/// Returns the results of a run; without a run id, those of the newest successful run, or an empty dashboard.
///
/// The stored result is sent without being parsed, because it may be large and is polled.
///
/// # Errors
/// 404 for a run that is not in the project; 409 for a run without a result.
pub async fn dashboard(
    state: &Analysis,
    project_id: Id<ids::Project>,
    run_id: Option<Id<Run>>,
    message: &str,
) -> Result<Prerendered<ResultsDashboard>, ApiError> {
    let found = state
        .db
        .read(move |conn| {
            Box::pin(async move {
                let run = match run_id {
                    Some(id) => store::find(conn, id).await?.filter(|run| run.project_id == project_id),
                    None => store::newest_successful(conn, project_id).await?,
                };
                let Some(run) = run else { return Ok::<_, DbError>(None) };
                Ok(Some((run.id, results::result(conn, run.id).await?)))
            })
        })
        .await?;
    match (found, run_id) {
        (None, Some(_)) => Err(ApiError::of(Code::NOT_FOUND)),
        (None, None) => {
            let empty = ResultsDashboard::empty(project_id, state.now());
            Ok(rendered("\"none\"".to_owned(), success(200, message, &empty)?))
        }
        (Some((_, None)), _) => Err(ApiError::with_message(Code::INVALID_STATE, "The run has no result.")),
        (Some((id, Some((result, at)))), _) => {
            let result = RawValue::from_string(result).map_err(ApiError::internal)?;
            Ok(rendered(format!("\"{id}-{}\"", at.millis()), success(200, message, &result)?))
        }
    }
}

fn rendered(etag: String, body: Vec<u8>) -> Prerendered<ResultsDashboard> {
    Prerendered { etag, body: body.into(), of: PhantomData }
}
