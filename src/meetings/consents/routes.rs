//! HTTP handlers of consents, with the bodies they accept.

use utoipa::ToSchema;

use super::model::{ConsentRecord, ConsentScope, Scopes, WordingVersion};
use super::operations::{self, Said};
use crate::access::policy::{Host, Participant};
use crate::api::operation::Authorized;
use crate::http::agent::WithClient;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::fields::{Fields, Rejected};
use crate::http::input::{Body, Empty, ValidJson};
use crate::meetings::participants::model::{SeenParticipant, Viewer};
use crate::meetings::participants::{Oneself, operations::seen};
use crate::meetings::state::Meetings;

/// The caller's answer. If `recordingConsent` is true, `scopes` and `wordingVersion` are required; if it is false, both
/// are ignored.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SaveRecordingConsent {
    recording_consent: bool,
    /// `RECORDING` at least.
    #[schema(value_type = Option<Vec<ConsentScope>>)]
    scopes: Option<Scopes>,
    /// The `version` of the meeting's `consentWording`.
    #[schema(value_type = Option<String>, min_length = 1, max_length = 100)]
    wording_version: Option<WordingVersion>,
}

impl SaveRecordingConsent {
    fn said(self) -> Said {
        match (self.recording_consent, self.scopes, self.wording_version) {
            (true, Some(scopes), Some(version)) => Said::Yes { scopes, version },
            _ => Said::No,
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
    let viewer = Viewer { principal: request.principal.caller, relation: request.principal.relation };
    let meeting = operations::save(&state, &request.principal.resource, body.said(), agent, request.request_id).await?;
    seen(&meeting, request.principal.resource.id, viewer).map(Reply::ok)
}

pub async fn export(
    request: Authorized<Host<crate::meetings::Meeting>, Empty>,
    state: Meetings,
) -> Result<Reply<ConsentRecord>, ApiError> {
    operations::export(&state, request.principal.resource.state.id).await.map(Reply::ok)
}
