//! HTTP handlers of exports.

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::header::ETAG;
use strum::VariantArray;
use tokio_util::io::ReaderStream;

use super::bodies::ExportDashboard;
use super::model::{DashboardExport, DashboardFormat, ExportFormats};
use super::operations;
use super::store::StoredExport;
use crate::access::policy::Member;
use crate::analysis::state::Analysis;
use crate::api::operation::Authorized;
use crate::http::answer::{Binary, FileKind};
use crate::http::attachment::attachment;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson};
use crate::projects::model::Project;

/// How many bytes of a file are read at once.
const PIECE_BYTES: usize = 64 * 1024;

pub async fn formats(_: Authorized<Member<Project>, Empty>, state: Analysis) -> Result<Reply<ExportFormats>, ApiError> {
    Ok(Reply::ok(operations::formats(&state).await))
}

pub async fn create(
    request: Authorized<Member<Project>, ValidJson<ExportDashboard>>,
    state: Analysis,
) -> Result<Reply<DashboardExport>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    let (project_id, caller) = (request.access.resource.id, request.access.caller);
    operations::create(&state, project_id, caller, id, body, request.request_id).await.map(Reply::created)
}

/// The file of an export, in one of the formats.
pub struct ExportedFile;

impl FileKind for ExportedFile {
    fn media_types() -> Vec<&'static str> {
        DashboardFormat::VARIANTS.iter().map(|format| format.mime_type()).collect()
    }
}

/// The response is always an attachment, so that no text of anybody runs in a browser under this server's origin.
pub async fn download(
    request: Authorized<Member<StoredExport>, Empty>,
    state: Analysis,
) -> Result<Binary<ExportedFile>, ApiError> {
    let export = request.access.resource;
    let file = operations::open(&state, &export).await?;
    let size = file.metadata().await.map_err(ApiError::internal)?.len();
    let body = SizedStream::new(size, ReaderStream::with_capacity(file, PIECE_BYTES));
    let mut response = HttpResponse::Ok();
    response.content_type(export.format.mime_type()).insert_header(attachment(&export.file_name));
    if let Some(sha256) = export.sha256 {
        response.insert_header((ETAG, format!("\"{sha256}\"")));
    }
    Ok(Binary::of(response.body(body)))
}
