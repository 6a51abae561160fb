//! HTTP handlers of documents.

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::header::ETAG;
use readers::Format;
use tokio_util::io::ReaderStream;

use super::bodies::{Filter, VersionQuery};
use super::model::{Document, DocumentText};
use super::upload::DocumentUpload;
use super::{operations, versions};
use crate::access::policy::{Analyst, Member};
use crate::api::operation::Authorized;
use crate::http::answer::{Binary, CountedAnswer, FileKind};
use crate::http::attachment::attachment;
use crate::http::envelope::{List, Nothing, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidQuery, WithShare};
use crate::http::list::Listing;
use crate::projects::model::Project;
use crate::projects::state::Projects;

/// How many bytes of a file are read at once.
const PIECE_BYTES: usize = 64 * 1024;

pub async fn upload(
    request: Authorized<Analyst<Project>, DocumentUpload>,
    state: Projects,
) -> Result<Reply<Document>, ApiError> {
    let id = request.new_id();
    operations::upload(&state, request.access.caller, &request.access.resource, id, request.input, request.request_id)
        .await
        .map(Reply::created)
}

pub async fn list(
    request: Authorized<Member<Project>, ValidQuery<Listing<Filter>>>,
    state: Projects,
) -> Result<Reply<List<Document>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::list(&state, request.access.resource.id, listing).await.map(Reply::ok)
}

pub async fn details(request: Authorized<Member<Document>, Empty>, _: Projects) -> Result<Reply<Document>, ApiError> {
    Ok(Reply::ok(request.access.resource))
}

pub async fn text(
    request: Authorized<Member<Document>, WithShare<ValidQuery<VersionQuery>>>,
    state: Projects,
) -> Result<CountedAnswer<DocumentText>, ApiError> {
    let WithShare { input: ValidQuery(query), mut share } = request.input;
    let document = versions::operations::in_version(&state, request.access.resource, query.version).await?;
    // Reserves memory before any work is done, so that a refused request costs nothing. A character has at least one
    // byte.
    share.grow_to(document.character_count.and_then(|count| count.try_into().ok()).unwrap_or_default())?;
    let text = operations::text(&state, &document).await?;
    Ok(CountedAnswer { reply: Reply::ok(text), share })
}

/// The file of a document, in one of the formats that can be read.
pub struct UploadedDocument;

impl FileKind for UploadedDocument {
    fn media_types() -> Vec<&'static str> {
        Format::ALL.iter().map(|(format, _)| format.mime_type()).collect()
    }
}

/// The response is always an attachment, so that an uploaded file never runs in a browser under this server's origin.
pub async fn download(
    request: Authorized<Analyst<Document>, ValidQuery<VersionQuery>>,
    state: Projects,
) -> Result<Binary<UploadedDocument>, ApiError> {
    let ValidQuery(query) = request.input;
    let document = versions::operations::in_version(&state, request.access.resource, query.version).await?;
    let file = state.files.open(&document.sha256).await.map_err(|error| ApiError::of_stored_file(&error))?;
    let size = file.metadata().await.map_err(ApiError::internal)?.len();
    let body = SizedStream::new(size, ReaderStream::with_capacity(file, PIECE_BYTES));
    Ok(Binary::of(
        HttpResponse::Ok()
            .content_type(document.mime_type)
            .insert_header(attachment(&document.file_name))
            .insert_header((ETAG, format!("\"{}\"", document.sha256)))
            .body(body),
    ))
}

pub async fn delete(
    request: Authorized<Analyst<Document>, Empty>,
    state: Projects,
) -> Result<Reply<Nothing>, ApiError> {
    operations::delete(&state, request.access.resource, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
