//! Lists the items of a project.

use actors::ids::{self, Id};
use serde::de::DeserializeOwned;

use super::store::{self, Filter, Kind};
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::http::envelope::List;
use crate::http::error::ApiError;
use crate::http::page::PageQuery;

/// Lists a project's items of one kind, newest first.
///
/// # Errors
/// Only database errors, or 500 for a stored item that cannot be deserialized.
pub async fn list<T: DeserializeOwned>(
    state: &Analysis,
    project_id: Id<ids::Project>,
    kind: Kind,
    filter: Filter,
    page: PageQuery,
) -> Result<List<T>, ApiError> {
    let found =
        state.db.read(move |conn| Box::pin(async move { store::list(conn, project_id, kind, &filter, &page).await }));
    let (found, total_count) = found.await.map_err(|failed: DbError| ApiError::from(failed))?;
    let (found, next_cursor) = page.cut(found, |(id, _)| *id);
    let items = found.iter().map(|(_, body)| serde_json::from_str(body));
    Ok(List { items: items.collect::<Result<_, _>>().map_err(ApiError::internal)?, next_cursor, total_count })
}
