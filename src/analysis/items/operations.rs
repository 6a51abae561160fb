//! Lists the items of a project.

use actors::ids::{self, Id};
use serde::de::DeserializeOwned;
use uuid::Uuid;

use super::bodies::Filter;
use super::store;
use crate::analysis::state::Analysis;
use crate::db::DbError;
use crate::http::answer::CountedAnswer;
use crate::http::budget::Share;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::list::Listing;
use crate::projects::item_kind::ItemKind;

/// Lists a project's items of one kind, newest first.
///
/// # Errors
/// Only database errors, 503 if the client holds too many bytes already, or 500 for a stored item that cannot be deserialized.
pub async fn list<T: DeserializeOwned>(
    state: &Analysis,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    listing: Listing<Filter>,
    mut share: Share,
) -> Result<CountedAnswer<List<T>>, ApiError> {
    let found = state.db.read(move |conn| {
        Box::pin(async move {
            let page = store::list(conn, project_id, kind, listing, &mut share).await?;
            Ok((page, share))
        })
    });
    let (found, share) = found.await.map_err(|failed: DbError| ApiError::from(failed))?;
    let page = found.try_map(|body| serde_json::from_str(&body)).map_err(ApiError::internal)?;
    Ok(CountedAnswer { reply: Reply::ok(page), share })
}

/// Returns the code of a project's item of one kind; `None` if there is no such item.
///
/// # Errors
/// Only database errors.
pub async fn code_of(
    state: &Analysis,
    project_id: Id<ids::Project>,
    kind: ItemKind,
    id: Uuid,
) -> Result<Option<String>, ApiError> {
    let number = state.db.read(move |conn| Box::pin(store::number(conn, project_id, kind, id))).await;
    Ok(number.map_err(ApiError::from)?.map(|number| kind.code(number)))
}
