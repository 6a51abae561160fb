//! HTTP handlers of consents, with the bodies they accept.

use utoipa::ToSchema;

use super::model::{ConsentRecord, Scopes, WordingVersion};
use super::operations::{self, ConsentRequest};
use crate::access::policy::{Host, Participant};
use crate::api::operation::Authorized;
use crate::http::agent::WithClient;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, ValidJson};
use crate::meetings::participants::model::{ParticipantViewer, SeenParticipant};
use crate::meetings::participants::{Oneself, operations::seen};
use crate::meetings::state::Meetings;

/// The caller's answer. If `recordingConsent` is true, `scopes` and `wordingVersion` are required; if it is false, both
/// are ignored.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SaveRecordingConsent {
    /// True grants the `scopes`; false refuses, or withdraws what was granted.
    recording_consent: bool,
    /// `RECORDING` at least.
    scopes: Option<Scopes>,
    /// The `version` of the meeting's `consentWording`.
    wording_version: Option<WordingVersion>,
}

impl SaveRecordingConsent {
    fn answer(self) -> ConsentRequest {
        match (self.recording_consent, self.scopes, self.wording_version) {
            (true, Some(scopes), Some(version)) => ConsentRequest::Yes { scopes, version },
            _ => ConsentRequest::No,
        }
    }
}

impl Body for SaveRecordingConsent {
    fn read(fields: &mut Fields) -> Result<Self, Rejected> {
        let recording_consent = fields.required("recordingConsent");
        let (scopes, wording_version) = match recording_consent {
            Ok(true) => (fields.required("scopes").map(Some), fields.required("wordingVersion").map(Some)),
            Ok(false) | Err(_) => (fields.optional("scopes"), fields.optional("wordingVersion")),
        };
        Ok(Self { recording_consent: recording_consent?, scopes: scopes?, wording_version: wording_version? })
    }
}

pub async fn save(
    request: Authorized<Participant<Oneself>, WithClient<ValidJson<SaveRecordingConsent>>>,
    state: Meetings,
) -> Result<Reply<SeenParticipant>, ApiError> {
    let WithClient { input: ValidJson(body), agent } = request.input;
    let viewer = ParticipantViewer { principal: request.access.caller, relation: request.access.relation };
    let meeting = operations::save(&state, &request.access.resource, body.answer(), agent, request.request_id).await?;
    seen(&meeting, request.access.resource.id, viewer).map(Reply::ok)
}

pub async fn export(
    request: Authorized<Host<crate::meetings::MeetingSnapshot>, Empty>,
    state: Meetings,
) -> Result<Reply<ConsentRecord>, ApiError> {
    operations::export(&state, request.access.resource.state.id).await.map(Reply::ok)
}
