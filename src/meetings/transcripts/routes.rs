//! HTTP handlers of transcripts.

use actix_web::HttpRequest;

use super::bodies::{CorrectSegment, TranscribeAgain, TranscriptQuery};
use super::formats::TranscriptInFormat;
use super::model::{TranscriptSegment, TranscriptVersionView};
use super::operations;
use crate::access::policy::{Analyst, Host, Listener, PathIds};
use crate::api::operation::Authorized;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::input::{Described, Input, Raw, ValidJson, ValidQuery, WithShare};
use crate::http::page::PageQuery;
use crate::meetings::recordings::MeetingRecording;
use crate::meetings::state::Meetings;

pub async fn read(
    request: Authorized<Listener<MeetingRecording>, WithShare<ValidQuery<TranscriptQuery>>>,
    state: Meetings,
) -> Result<TranscriptInFormat, ApiError> {
    let WithShare { input: ValidQuery(query), mut share } = request.input;
    let transcript = operations::read(&state, &request.access.resource, query, &mut share).await?;
    Ok(TranscriptInFormat { transcript, format: query.format, share })
}

pub async fn versions(
    request: Authorized<Listener<MeetingRecording>, ValidQuery<PageQuery>>,
    state: Meetings,
) -> Result<Reply<List<TranscriptVersionView>>, ApiError> {
    let ValidQuery(page) = request.input;
    operations::versions(&state, request.access.resource.id, page).await.map(Reply::ok)
}

pub async fn begin(
    request: Authorized<Host<MeetingRecording>, ValidJson<TranscribeAgain>>,
    state: Meetings,
) -> Result<Reply<TranscriptVersionView>, ApiError> {
    let id = request.new_id();
    let ValidJson(body) = request.input;
    let (caller, resource) = (request.access.caller, &request.access.resource);
    operations::begin(&state, caller, resource, id, body, request.request_id).await.map(Reply::accepted)
}

/// The index in the path, with the body.
pub struct SegmentCorrection {
    index: u32,
    body: CorrectSegment,
}

impl Input for SegmentCorrection {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        // No transcript has as many segments as the largest number.
        let index = PathIds::of(request).number("segmentIndex")?;
        let ValidJson(body) = ValidJson::take(request, body).await?;
        Ok(Self { index, body })
    }

    fn describe() -> Described {
        ValidJson::<CorrectSegment>::describe()
    }
}

pub async fn correct(
    request: Authorized<Analyst<MeetingRecording>, SegmentCorrection>,
    state: Meetings,
) -> Result<Reply<TranscriptSegment>, ApiError> {
    let SegmentCorrection { index, body } = request.input;
    let (caller, resource) = (request.access.caller, &request.access.resource);
    operations::correct(&state, caller, resource, index, body, request.request_id).await.map(Reply::ok)
}
