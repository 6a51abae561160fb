//! The bodies and queries of requests about recordings.

use actors::ids::{self, Id};
use actors::meeting::{RecordingStatus, UploadMode};
use utoipa::ToSchema;

use super::model::{AttestationText, ChunkIndex, DeclaredMimeType, DurationMillis};
use crate::http::input::{Body, Query};

/// The host's declaration that everyone who can be heard has consented.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct ConsentAttestation {
    pub text: AttestationText,
}

/// How a recording will be uploaded.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct StartRecording {
    pub upload_mode: UploadMode,
    pub mime_type: DeclaredMimeType,
    /// The participant whose voice alone is recorded. Absent: a recording of everyone.
    pub track_participant_id: Option<Id<ids::Participant>>,
    /// Required for an import into a meeting that nobody ever joined.
    #[body(object)]
    pub consent_attestation: Option<ConsentAttestation>,
}

/// Which recordings of a meeting are listed.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only recordings with this status.
    pub status: Option<RecordingStatus>,
}

/// What is known at the end of a recording.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct StopRecording {
    /// Used if the content itself does not tell its duration.
    pub duration_seconds: Option<DurationMillis>,
    /// The last chunk: once all chunks up to it are stored, the recording is assembled. Without it, that begins a minute
    /// after the last chunk, with those that are there without a gap.
    pub last_chunk_index: Option<ChunkIndex>,
}
