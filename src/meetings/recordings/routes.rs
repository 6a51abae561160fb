//! HTTP handlers of recordings.

use std::time::Duration;

use actix_web::body::SizedStream;
use actix_web::http::StatusCode;
use actix_web::http::header::{
    ACCEPT_RANGES, CONTENT_RANGE, ContentDisposition, DispositionParam, DispositionType, ETAG,
};
use actix_web::{HttpResponse, HttpResponseBuilder};
use actors::meeting::RecordingMimeType;
use actors::time::Time;
use serde::Serialize;
use sha2::{Digest, Sha256};
use strum::VariantArray;
use utoipa::ToSchema;

use super::bodies::{Filter, StartRecording, StopRecording};
use super::excerpt::{self, ContentRequest};
use super::model::{ChunkUploadResult, RecordingView};
use super::upload::{ChunkUpload, FileUpload};
use super::{MeetingRecording, files, operations};
use crate::access::playback;
use crate::access::policy::{Attendee, Host, Listener, Player};
use crate::api::operation::Authorized;
use crate::http::agent::WithClient;
use crate::http::answer::{Binary, Cached, FileKind, NotReplayable};
use crate::http::envelope::{List, Nothing, Prerendered, Reply, success};
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson, ValidQuery, WithShare};
use crate::http::list::Listing;
use crate::http::range::{ServedRange, not_satisfiable, partial};
use crate::meetings::MeetingSnapshot;
use crate::meetings::state::Meetings;

pub async fn start(
    request: Authorized<Host<MeetingSnapshot>, WithClient<ValidJson<StartRecording>>>,
    state: Meetings,
) -> Result<Reply<RecordingView>, ApiError> {
    let id = request.new_id();
    let WithClient { input: ValidJson(body), agent } = request.input;
    let (caller, meeting) = (request.access.caller, &request.access.resource);
    operations::start(&state, caller, meeting, id, body, agent, request.request_id).await.map(Reply::created)
}

pub async fn list(
    request: Authorized<Attendee<MeetingSnapshot>, ValidQuery<Listing<Filter>>>,
    state: Meetings,
) -> Result<Reply<List<RecordingView>>, ApiError> {
    let ValidQuery(listing) = request.input;
    operations::list(&state, request.access.resource.state.id, listing).await.map(Reply::ok)
}

pub async fn upload_chunk(
    request: Authorized<Host<MeetingRecording>, ChunkUpload>,
    state: Meetings,
) -> Result<Reply<ChunkUploadResult>, ApiError> {
    operations::upload_chunk(&state, &request.access.resource, request.input, request.request_id).await.map(Reply::ok)
}

pub async fn upload_file(
    request: Authorized<Host<MeetingRecording>, FileUpload>,
    state: Meetings,
) -> Result<Reply<RecordingView>, ApiError> {
    operations::upload_file(&state, &request.access.resource, request.input, request.request_id).await.map(Reply::ok)
}

pub async fn stop(
    request: Authorized<Host<MeetingRecording>, ValidJson<StopRecording>>,
    state: Meetings,
) -> Result<Reply<RecordingView>, ApiError> {
    let ValidJson(body) = request.input;
    operations::stop(&state, &request.access.resource, body, request.request_id).await.map(Reply::ok)
}

pub async fn status(
    request: Authorized<Attendee<MeetingRecording>, Empty>,
    _: Meetings,
) -> Result<Prerendered<RecordingView>, ApiError> {
    let resource = request.access.resource;
    let view = RecordingView::of(resource.meeting.state.id, resource.recording()?);
    let body = success(200, request.message, &view)?;
    let etag = format!("\"{}\"", hex::encode(Sha256::digest(&body)));
    Ok(Prerendered { etag, body: body.into(), of: std::marker::PhantomData })
}

/// An address at which a browser's media element plays a recording, without any header.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PlaybackLink {
    /// Path and query of downloadRecording with a signature, relative to the address of this server.
    url: String,
    /// When the link stops to work. It does so earlier if the session ends, or the permission.
    expires_at: Time,
}

pub async fn link(
    request: Authorized<Listener<MeetingRecording>, Empty>,
    state: Meetings,
) -> Result<NotReplayable<PlaybackLink>, ApiError> {
    let Listener { caller, resource, .. } = request.access;
    operations::audible(&resource)?;
    let expires_at = state.now() + Duration::from_secs(state.config.accounts.access_token_seconds);
    let signature = playback::sign(&state.secret, resource.id, caller, expires_at);
    let url = format!("/api/recordings/{}/content?{}={signature}", resource.id, playback::PARAMETER);
    Ok(NotReplayable(Reply::created(PlaybackLink { url, expires_at })))
}

/// The content of a recording, or an excerpt of it as audio/wav.
pub struct RecordingFile;

impl FileKind for RecordingFile {
    const HEADERS: &'static [&'static str] = &["Content-Disposition", "ETag", "Accept-Ranges"];

    fn media_types() -> Vec<&'static str> {
        RecordingMimeType::VARIANTS.iter().map(|kind| kind.into_str()).collect()
    }
}

/// The response is always an attachment, so that an uploaded file never runs in a browser under this server's origin.
pub async fn download(
    request: Authorized<Player<MeetingRecording>, WithShare<ContentRequest>>,
    state: Meetings,
) -> Result<Cached<RecordingFile>, ApiError> {
    let resource = request.access.resource;
    let WithShare { input: ContentRequest { range, excerpt }, mut share } = request.input;
    if let Some(excerpt) = excerpt {
        let content = operations::audible(&resource)?;
        // Reserves memory before any work is done, so that a refused request costs nothing.
        share.grow_to(usize::try_from((excerpt.end_ms - excerpt.start_ms) * 32).unwrap_or(usize::MAX))?;
        let wav = excerpt::cut(&state, resource.id, content, excerpt).await?;
        let name = format!("excerpt-{}-{}-{}.wav", resource.id, excerpt.start_ms, excerpt.end_ms);
        let mut response = HttpResponse::Ok();
        response.content_type("audio/wav").insert_header(attachment(name));
        return Ok(Cached(Binary::of(response.body(share.with(wav)))));
    }
    let content = operations::readable(&resource)?;
    let (recording, size) = (resource.recording()?, content.bytes);
    let etag = format!("\"{}\"", content.sha256);
    let (status, range, content_range) = match range.of(size, &etag) {
        ServedRange::Whole => (StatusCode::OK, 0..size, None),
        ServedRange::Part(range) => {
            let (status, content_range) = partial(&range, size);
            (status, range, Some(content_range))
        }
        ServedRange::Nothing => return Ok(Cached(Binary::of(not_satisfiable(size)))),
    };
    let path = files::content(resource.id, content.sha256);
    let length = range.end - range.start;
    let stream = state.recordings.open(&path, &content.sha256.to_string(), range).await;
    let stream = stream.map_err(|error| ApiError::of_stored_file(&error))?;
    let mut response: HttpResponseBuilder = HttpResponse::build(status);
    response
        .content_type(recording.mime_type.into_str())
        .insert_header(attachment(operations::file_name(recording)))
        .insert_header((ACCEPT_RANGES, "bytes"))
        .insert_header((ETAG, etag));
    if let Some(content_range) = content_range {
        response.insert_header((CONTENT_RANGE, content_range));
    }
    Ok(Cached(Binary::of(response.body(SizedStream::new(length, stream)))))
}

fn attachment(name: String) -> ContentDisposition {
    let parameters = vec![DispositionParam::Filename(name)];
    ContentDisposition { disposition: DispositionType::Attachment, parameters }
}

pub async fn delete(
    request: Authorized<Host<MeetingRecording>, Empty>,
    state: Meetings,
) -> Result<Reply<Nothing>, ApiError> {
    operations::delete(&state, &request.access.resource, request.request_id).await?;
    Ok(Reply::ok(Nothing {}))
}
