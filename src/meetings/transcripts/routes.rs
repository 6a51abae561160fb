//! HTTP handlers of transcripts, with the bodies they accept.

use actix_web::HttpRequest;
use actors::ids::{self, Id};
use utoipa::ToSchema;

use super::formats::{TranscriptInFormat, TranscriptQuery};
use super::model::{
    ModelName, SegmentText, SpeakerName, SpokenLanguage, TranscriptSegment, TranscriptVersionView, VersionNumber,
};
use super::operations;
use crate::access::policy::{Analyst, Host, Listener};
use crate::api::operation::Authorized;
use crate::http::code::Code;
use crate::http::envelope::{List, Reply};
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Described, Input, Raw, ValidJson, ValidQuery, WithShare};
use crate::http::page::PageQuery;
use crate::http::route_table::path_parameter;
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

/// How to transcribe.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct TranscribeAgain {
    /// The language that is spoken. Absent: it is detected.
    pub language: Option<SpokenLanguage>,
    /// Absent: the model of the server's settings.
    pub model: Option<ModelName>,
}

impl Body for TranscribeAgain {
    const OPTIONAL: bool = true;
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let language = fields.optional("language");
        let model = fields.optional("model");
        Ok(Self { language: language?, model: model? })
    }
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

/// Who speaks: either a participant of the meeting or a name.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CorrectedSpeaker {
    /// A participant of the meeting; null for somebody who is only named.
    pub participant_id: Option<Id<ids::Participant>>,
    pub name: Option<SpeakerName>,
    /// Whether all segments of the same speaker change too. By default this one alone changes.
    #[schema(required = false)]
    pub everywhere: bool,
}

/// A text, a speaker, or both.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct CorrectSegment {
    /// The corrected words; absent: unchanged.
    pub text: Option<SegmentText>,
    pub speaker: Option<CorrectedSpeaker>,
    /// The version that the correction was made for: it is refused once another one is shown. Absent: whichever is shown.
    pub version: Option<VersionNumber>,
}

impl Body for CorrectSegment {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let text = fields.optional("text");
        let speaker = fields.object("speaker", |fields| {
            let participant_id = fields.optional("participantId");
            let name = fields.optional("name");
            let everywhere: Result<Option<bool>, Rejected> = fields.optional("everywhere");
            Ok(CorrectedSpeaker {
                participant_id: participant_id?,
                name: name?,
                everywhere: everywhere?.unwrap_or_default(),
            })
        });
        let version = fields.optional("version");
        let (text, speaker, version) = (text?, speaker?, version?);
        if text.is_none() && speaker.is_none() {
            return Err(fields.reject("Name at least one field to change."));
        }
        Ok(Self { text, speaker, version })
    }
}

/// The index in the path, with the body.
pub struct SegmentCorrection {
    index: u32,
    body: CorrectSegment,
}

impl Input for SegmentCorrection {
    async fn take(request: &HttpRequest, body: Raw) -> Result<Self, ApiError> {
        let text = path_parameter(request, "segmentIndex");
        let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if !is_number {
            return Err(ApiError::with_message(Code::BAD_REQUEST, "The segmentIndex in the path is not a number."));
        }
        // No transcript has so many segments.
        let index = text.parse().unwrap_or(u32::MAX);
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
