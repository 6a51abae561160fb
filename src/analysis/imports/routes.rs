//! HTTP handlers of imports.

use super::model::ItemImport;
use super::operations;
use super::store::StoredImport;
use super::upload::ImportUpload;
use crate::access::policy::{Analyst, Member};
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidQuery};
use crate::http::page::PageQuery;
use crate::projects::model::Project;

pub async fn create(
    request: Authorized<Analyst<Project>, ImportUpload>,
    state: Analysis,
) -> Result<Reply<ItemImport>, ApiError> {
    let id = request.new_id();
    operations::create(&state, request.access.resource.id, id, request.input, request.request_id)
        .await
        .map(Reply::created)
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<PageQuery>>,
    state: Analysis,
) -> Result<Reply<List<ItemImport>>, ApiError> {
    let ValidQuery(page) = request.input;
    operations::list(&state, request.access.resource.id, page).await.map(Reply::ok)
}

pub async fn details(
    request: Authorized<Member<StoredImport>, Empty>,
    _: Analysis,
) -> Result<Reply<ItemImport>, ApiError> {
    Ok(Reply::ok(request.access.resource.import))
}
