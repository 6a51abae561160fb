//! The body of a request that gives or refuses consent.

use utoipa::ToSchema;

use super::model::{Scopes, WordingVersion};
use crate::http::fields::{Fields, Rejected};
use crate::http::input::Body;

/// The caller's answer. If `recordingConsent` is true, `scopes` and `wordingVersion` are required; if it is false, both
/// are ignored.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
pub struct SaveRecordingConsent {
    /// True grants the `scopes`; false refuses, or withdraws what was granted.
    pub recording_consent: bool,
    /// `RECORDING` at least.
    pub scopes: Option<Scopes>,
    /// The `version` of the meeting's `consentWording`.
    pub wording_version: Option<WordingVersion>,
}

/// Read by hand, because the first field decides whether the others are required.
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
