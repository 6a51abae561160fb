//! The operation that attaches a transcript.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{
    AttachedTranscript, Attestation, Command, ConsentScope, Digest, Meeting, Recording, RecordingContent,
};

use super::cues::{self, AttachedBy, AttachedText, UnreadTranscript};
use super::upload::TranscriptUpload;
use crate::access::principal::Caller;
use crate::clients::files::Received;
use crate::http::agent::Agent;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::http::reason::Reason;
use crate::meetings::MeetingSnapshot;
use crate::meetings::commands::{active, ask};
use crate::meetings::recordings::files;
use crate::meetings::recordings::model::RecordingView;
use crate::meetings::recordings::operations::{consent_required, discard, view};
use crate::meetings::state::Meetings;
use crate::meetings::transcripts::model::TranscriptVersion;
use crate::meetings::transcripts::operations::{must_be_agreed, next_number, transcribed_already};
use crate::meetings::transcripts::{grounding, store, telling};

/// Attaches a transcript to a meeting: as a recording without sound, or as another version of the transcript of a recording.
///
/// # Errors
/// 422 for a file in which nothing is said, a recording of another meeting, and where a declaration of consent is needed;
/// 409 while the meeting is SCHEDULED or CANCELLED, in an archived project, if somebody's consent is missing, and beyond the
/// recordings of a meeting or the versions of a transcript.
pub async fn attach(
    state: &Meetings,
    caller: Caller,
    meeting: &MeetingSnapshot,
    id: Id<ids::Recording>,
    upload: TranscriptUpload,
    agent: Agent,
    request: RequestId,
) -> Result<RecordingView, ApiError> {
    let recording = upload.recording_id.map(|of| recording(&meeting.state, of)).transpose()?;
    let file = upload.file.open().await.map_err(ApiError::unavailable)?.into_std().await;
    let text = cues::read(&state.transcript_reader, upload.format, file).await.map_err(|unread| match unread {
        UnreadTranscript::Invalid(why) => ApiError::field("file", Reason::InvalidValue, why),
        UnreadTranscript::Interrupted(why) => ApiError::unavailable(why),
    })?;
    active(state, meeting).await?;
    let TranscriptUpload { file, mime_type, attestation, permit, .. } = upload;
    let done = match recording {
        Some(recording) => {
            let by = AttachedBy { user_id: caller.user_id, at: state.now() };
            let version = AttachedVersion { id: Id::from_uuid(id.uuid()), text, bytes: file.size, by };
            add_version(state, &meeting.state, recording, version, request).await
        }
        None => {
            let sha256: Digest = file.sha256.parse().map_err(|_| ApiError::internal("a hash has no 64 digits"))?;
            let content = RecordingContent { sha256, bytes: file.size, duration_ms: Some(text.duration_ms) };
            let attestation = attestation.map(|text| Attestation {
                text: text.0,
                language: state.wordings.in_one_of(&agent.languages).language,
                user_agent: agent.name,
            });
            let attached = AttachedTranscript { id, mime_type, content, by: caller.user_id, attestation };
            add_recording(state, &meeting.state, attached, file, request).await
        }
    };
    // Held until the row is saved.
    drop(permit);
    done
}

/// The recording whose transcript it is.
fn recording(meeting: &Meeting, id: Id<ids::Recording>) -> Result<&Recording, ApiError> {
    meeting
        .recordings
        .get(&id)
        .ok_or_else(|| ApiError::field("recordingId", Reason::InvalidValue, "This must be a recording of the meeting."))
}

/// Stores the file, and has the meeting add it as a recording.
async fn add_recording(
    state: &Meetings,
    meeting: &Meeting,
    attached: AttachedTranscript,
    file: Received,
    request: RequestId,
) -> Result<RecordingView, ApiError> {
    let (id, path) = (attached.id, files::content(attached.id, attached.content.sha256));
    state.recordings.put(&path, file).await.map_err(|error| ApiError::of_write(&error))?;
    let command = Command::AttachTranscript { attached, limits: state.recording_limits() };
    match ask(state, meeting.id, command, request).await {
        Ok(meeting) => view(&meeting.state, id),
        // The row may have been written: then the file is needed.
        Err(failed) if failed.code.status >= 500 => Err(failed),
        Err(refused) => {
            discard(state, &path).await;
            match refused.code {
                Code::CONSENT_REQUIRED => Err(consent_required(state, meeting.id, ConsentScope::Transcript).await),
                _ => Err(refused),
            }
        }
    }
}

/// A file that is to be a version of the transcript of a recording.
struct AttachedVersion {
    id: Id<ids::Transcript>,
    text: AttachedText,
    /// The size of the file.
    bytes: u64,
    by: AttachedBy,
}

/// Makes a text the newest version of the transcript of a recording. Its file is not kept: what it says is.
async fn add_version(
    state: &Meetings,
    meeting: &Meeting,
    recording: &Recording,
    attached: AttachedVersion,
    request: RequestId,
) -> Result<RecordingView, ApiError> {
    if recording.content().is_none() {
        return Err(ApiError::with_message(Code::RECORDING_NOT_READY, "The recording is not complete yet."));
    }
    must_be_agreed(meeting, recording)?;
    let (known, recording_id, cause) = (meeting.clone(), recording.id, request.clone());
    let AttachedVersion { id, text, bytes, by } = attached;
    let written = state.db.write(move |conn| {
        Box::pin(async move {
            let versions = store::versions(conn, recording_id).await?;
            if versions.iter().any(|version| version.id == id) {
                return Ok(());
            }
            let version = text.version(id, recording_id, next_number(&versions)?, by);
            let version = TranscriptVersion { attached_bytes: Some(bytes), ..version };
            match text.insert(conn, &known, &version).await {
                Err(taken) if taken.is_taken() => return Err(transcribed_already()),
                done => done?,
            }
            // What rests on the former version may not be said in this one.
            grounding::enqueue(conn, known.project_id, recording_id, by.at, &cause).await?;
            Ok::<_, ApiError>(())
        })
    });
    written.await?;
    state.jobs.wake();
    let told = telling::report_transcript_status(state, meeting.id, recording_id, request).await;
    told.map_err(|away| ApiError::unavailable(away.why()))?;
    let now = state.registry.snapshot(meeting.id).await.map_err(|away| ApiError::unavailable(away.0))?;
    view(&now.ok_or_else(|| ApiError::of(Code::MEETING_NOT_FOUND))?.state, recording_id)
}
