//! Consent: bodies in, answers out.

use utoipa::ToSchema;

use super::model::{ConsentRecord, ConsentScope, Scopes, WordingVersion};
use super::operations::{self, Said};
use crate::access::guard::{Host, Participant};
use crate::api::operation::Allowed;
use crate::http::agent::Sent;
use crate::http::envelope::Reply;
use crate::http::failure::Failure;
use crate::http::fields::{Faulty, Fields};
use crate::http::input::{Body, Empty, Valid};
use crate::meetings::participants::model::{SeenParticipant, Viewer};
use crate::meetings::participants::{Oneself, operations::seen};
use crate::meetings::state::Meetings;

/// With `recordingConsent` true also `scopes` and `wordingVersion`, with false neither counts.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SaveRecordingConsent {
    recording_consent: bool,
    /// RECORDING at least.
    #[schema(value_type = Option<Vec<ConsentScope>>)]
    scopes: Option<Scopes>,
    /// The version of the meeting's consentWording.
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
    fn read(fields: &mut Fields) -> Result<Self, Faulty> {
        let recording_consent = fields.required("recordingConsent");
        let (scopes, wording_version) = match recording_consent {
            Ok(true) => (fields.required("scopes").map(Some), fields.required("wordingVersion").map(Some)),
            Ok(false) | Err(_) => (fields.optional("scopes"), fields.optional("wordingVersion")),
        };
        Ok(Self { recording_consent: recording_consent?, scopes: scopes?, wording_version: wording_version? })
    }
}

pub async fn save(
    may: Allowed<Participant<Oneself>, Sent<Valid<SaveRecordingConsent>>>,
    state: Meetings,
) -> Result<Reply<SeenParticipant>, Failure> {
    let Sent { input: Valid(body), agent } = may.input;
    let viewer = Viewer { visitor: may.by.caller, standing: may.by.standing };
    let meeting = operations::save(&state, &may.by.thing, body.said(), agent, may.request).await?;
    seen(&meeting, may.by.thing.id, viewer).map(Reply::ok)
}

pub async fn export(
    may: Allowed<Host<crate::meetings::Meeting>, Empty>,
    state: Meetings,
) -> Result<Reply<ConsentRecord>, Failure> {
    operations::export(&state, may.by.thing.state.id).await.map(Reply::ok)
}
