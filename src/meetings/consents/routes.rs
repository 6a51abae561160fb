//! HTTP handlers of consents.

use super::bodies::SaveRecordingConsent;
use super::model::ConsentRecord;
use super::operations::{self, ConsentRequest};
use crate::access::policy::{Host, Participant};
use crate::api::operation::Authorized;
use crate::http::agent::WithClient;
use crate::http::envelope::Reply;
use crate::http::error::ApiError;
use crate::http::input::{Empty, ValidJson};
use crate::meetings::participants::model::{ParticipantViewer, SeenParticipant};
use crate::meetings::participants::{Oneself, operations::seen};
use crate::meetings::state::Meetings;

impl SaveRecordingConsent {
    fn answer(self) -> ConsentRequest {
        match (self.recording_consent, self.scopes, self.wording_version) {
            (true, Some(scopes), Some(version)) => ConsentRequest::Yes { scopes, version },
            _ => ConsentRequest::No,
        }
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
