//! Tells a meeting what became of the transcript of one of its recordings.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Command, Meeting, RecordingCommand};
use actors::shell::CommandError;

use super::model::overall;
use super::store;
use crate::jobs::JobError;
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as stored_recordings;

/// Tells the meeting the state of a recording's transcript.
///
/// # Errors
/// The meeting, or the database, is not available now.
pub async fn report_transcript_status(
    state: &Meetings,
    meeting_id: Id<Meeting>,
    id: Id<ids::Recording>,
    request: RequestId,
) -> Result<(), JobError> {
    let read = state.db.read(move |conn| Box::pin(store::versions(conn, id))).await;
    let versions = read?;
    send(state, meeting_id, id, RecordingCommand::Transcribe { transcript: overall(&versions) }, request).await
}

/// Tells whoever listens to the meeting of a recording that its transcript says something else now.
///
/// # Errors
/// The meeting, or the database, is not available now.
pub async fn tell_changed(state: &Meetings, id: Id<ids::Recording>, request: RequestId) -> Result<(), JobError> {
    let found = state.db.read(move |conn| Box::pin(stored_recordings::find(conn, id))).await;
    match found? {
        Some((meeting_id, _)) => send(state, meeting_id, id, RecordingCommand::TellTranscript, request).await,
        None => Ok(()),
    }
}

/// Sends a command about a recording to its meeting. A meeting, or a recording, that is gone needs none.
///
/// # Errors
/// The meeting is not available now.
pub(super) async fn send(
    state: &Meetings,
    meeting_id: Id<Meeting>,
    id: Id<ids::Recording>,
    command: RecordingCommand,
    request: RequestId,
) -> Result<(), JobError> {
    let command = Command::Recording { recording: id, command, limits: state.recording_limits() };
    match state.registry.ask(meeting_id, command, request).await {
        Ok(_) | Err(CommandError::Missing | CommandError::Refused(_)) => Ok(()),
        Err(failure) => Err(JobError::Again(format!("the meeting could not be told: {failure:?}"))),
    }
}
