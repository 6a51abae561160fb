//! Transcripts as sources of an analysis: what may be analysed, and the text with its times and speakers.

use actors::ids::{self, Id};
use actors::meeting::{ConsentScope, Meeting, Recording};
use pipeline::readers::{CueText, SourceText, written};

use super::model::{StoredSegment, TranscriptSegment, TranscriptVersion, current};
use super::store;
use crate::db::{Conn, Db, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings;
use crate::meetings::recordings;

/// A recording that can be analysed.
pub struct RecordingSource {
    pub id: Id<ids::Recording>,
    /// The version of the transcript that is read.
    pub transcript: Id<ids::Transcript>,
    /// For people: whose recording of which meeting it is.
    pub name: String,
}

/// Returns the recordings of a meeting that can be analysed now, in the order in which they were started.
///
/// # Errors
/// 409 if none has a transcript, or none may be analysed without somebody's consent.
pub async fn of_meeting(conn: &mut Conn, meeting: &Meeting) -> Result<Vec<RecordingSource>, ApiError> {
    let (mut sources, mut is_held_back) = (Vec::new(), false);
    for recording in meeting.recordings.values() {
        let versions = store::versions(conn, recording.id).await.map_err(ApiError::from)?;
        let Some(shown) = current(&versions) else { continue };
        if may_be_analysed(meeting, recording) {
            sources.push(source(meeting, recording, shown));
        } else {
            is_held_back = true;
        }
    }
    match sources.is_empty() {
        true if is_held_back => Err(ApiError::of(Code::CONSENT_WITHDRAWN)),
        true => Err(ApiError::of(Code::RECORDING_NOT_READY)),
        false => Ok(sources),
    }
}

fn source(meeting: &Meeting, recording: &Recording, shown: &TranscriptVersion) -> RecordingSource {
    let speaker = recording.track.and_then(|track| meeting.participants.get(&track));
    let name = match speaker {
        Some(speaker) => format!("{}: {}", meeting.title, speaker.display_name),
        None => meeting.title.clone(),
    };
    RecordingSource { id: recording.id, transcript: shown.id, name }
}

/// Whether everyone who can be heard consents to all that an analysis does.
#[must_use]
pub fn may_be_analysed(meeting: &Meeting, recording: &Recording) -> bool {
    let scopes = [ConsentScope::Transcript, ConsentScope::AiAnalysis];
    meeting.withheld_for(recording).is_empty()
        && scopes.iter().all(|scope| meeting.held_back(recording, *scope).is_empty())
}

/// The transcript of a recording, as an analysis finds it.
pub enum SpokenText {
    Text(SourceText),
    /// Somebody's consent is missing.
    Withheld,
    /// The recording has no transcript, or does not exist any more.
    Missing,
}

/// Returns the transcript of a recording as the pipeline reads it.
///
/// # Errors
/// Only database errors.
pub async fn spoken(db: &Db, id: Id<ids::Recording>) -> Result<SpokenText, DbError> {
    let read = db.read(move |conn| {
        Box::pin(async move {
            let Some((meeting_id, recording)) = recordings::store::find(conn, id).await? else { return Ok(None) };
            let Some(meeting) = meetings::store::find(conn, meeting_id).await? else { return Ok(None) };
            let versions = store::versions(conn, id).await?;
            let Some(shown) = current(&versions) else { return Ok(None) };
            let segments = store::segments(conn, shown.id).await?;
            Ok::<_, DbError>(Some((meeting, recording, segments)))
        })
    });
    let Some((meeting, recording, segments)) = read.await? else { return Ok(SpokenText::Missing) };
    if !may_be_analysed(&meeting, &recording) {
        return Ok(SpokenText::Withheld);
    }
    let cue = |segment: StoredSegment| {
        let segment = TranscriptSegment::of(&meeting, &recording, segment);
        let speaker = Some(segment.speaker.name);
        CueText { start_ms: segment.start_ms, end_ms: segment.end_ms, speaker, words: segment.text }
    };
    let text = written(segments.into_iter().map(cue).collect());
    let too_long = |why| DbError::Broken(format!("the transcript of {id} is too long: {why}"));
    text.map(SpokenText::Text).map_err(too_long)
}
