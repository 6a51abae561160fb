//! Results: listing a project's items.

use actors::ids::{self, Id};
use serde::de::DeserializeOwned;

use super::store::{self, Filter, Kind};
use crate::analysis::state::Analysis;
use crate::db::Failed;
use crate::http::envelope::List;
use crate::http::failure::Failure;
use crate::http::page::Page;

/// A project's items of a kind, newest first.
///
/// # Errors
/// The database's own.
pub async fn list<T: DeserializeOwned>(
    state: &Analysis,
    project_id: Id<ids::Project>,
    kind: Kind,
    filter: Filter,
    page: Page,
) -> Result<List<T>, Failure> {
    let found =
        state.db.read(move |conn| Box::pin(async move { store::list(conn, project_id, kind, &filter, &page).await }));
    let (found, total_count) = found.await.map_err(|failed: Failed| Failure::from(failed))?;
    let (found, next_cursor) = page.cut(found, |(id, _)| *id);
    let items = found.iter().map(|(_, body)| serde_json::from_str(body));
    Ok(List { items: items.collect::<Result<_, _>>().map_err(Failure::internal)?, next_cursor, total_count })
}
