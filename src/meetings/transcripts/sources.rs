//! Transcripts as sources of an analysis: what may be analysed, and the text with its times and speakers.

use actors::ids::{self, Id};
use actors::meeting::{ConsentScope, Meeting, Recording, TranscriptStatus};
use readers::{SourceText, written};

use super::model::{TranscriptVersion, current, to_install};
use super::store;
use super::weaving::{self, RecordingText};
use crate::db::{Conn, Db, DbError};
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::meetings;
use crate::meetings::store::recordings as stored_recordings;

/// A recording of a meeting that is analysed.
pub struct RecordingSource {
    pub id: Id<ids::Recording>,
    /// For people: whose recording of which meeting it is.
    pub name: String,
    /// 0 if it is not known.
    pub duration_ms: u64,
    pub transcript: SourceTranscript,
}

/// The transcript of a recording that is analysed.
pub enum SourceTranscript {
    Ready(Id<ids::Transcript>),
    /// It is being made.
    Unfinished {
        id: Id<ids::Transcript>,
        done_ms: u64,
    },
    /// There is none, with the reason as a sentence for users.
    Missing(String),
}

/// Returns the recordings of a meeting with content, but those that may not be analysed without somebody's consent. In
/// the order in which they were started.
///
/// # Errors
/// Only database errors.
pub async fn of_meeting(conn: &mut Conn, meeting: &Meeting) -> Result<Vec<RecordingSource>, DbError> {
    let mut sources = Vec::new();
    for recording in meeting.recordings.values().filter(|recording| recording.content().is_some()) {
        if may_be_analysed(meeting, recording) {
            let versions = store::versions(conn, recording.id).await?;
            sources.push(source(meeting, recording, &versions));
        }
    }
    Ok(sources)
}

/// Checks that a meeting alone can be analysed: one of its recordings has a transcript, or will have one.
///
/// # Errors
/// 409 with the reason.
pub fn must_have_speech(meeting: &Meeting, sources: &[RecordingSource]) -> Result<(), ApiError> {
    let is_spoken = |source: &RecordingSource| !matches!(source.transcript, SourceTranscript::Missing(_));
    if sources.iter().any(is_spoken) {
        return Ok(());
    }
    if let Some(RecordingSource { transcript: SourceTranscript::Missing(why), .. }) = sources.first() {
        return Err(ApiError::with_message(Code::RECORDING_NOT_READY, why));
    }
    let mut contents = meeting.recordings.values().filter(|recording| recording.content().is_some());
    match contents.next() {
        Some(_) => Err(ApiError::of(Code::CONSENT_WITHDRAWN)),
        None => Err(ApiError::of(Code::RECORDING_NOT_READY)),
    }
}

fn source(meeting: &Meeting, recording: &Recording, versions: &[TranscriptVersion]) -> RecordingSource {
    let speaker = recording.track.and_then(|track| meeting.participants.get(&track));
    let name = match speaker {
        Some(speaker) => format!("{}: {}", meeting.title, speaker.display_name),
        None => meeting.title.clone(),
    };
    let duration_ms = recording.content().and_then(|content| content.duration_ms).unwrap_or_default();
    RecordingSource { id: recording.id, name, duration_ms, transcript: transcript(recording, versions) }
}

fn transcript(recording: &Recording, versions: &[TranscriptVersion]) -> SourceTranscript {
    if let Some(shown) = current(versions) {
        return SourceTranscript::Ready(shown.id);
    }
    let none = || "There is no transcript of this recording.".to_owned();
    let Some(newest) = versions.last() else {
        // Its job inserts the first version.
        return match recording.transcript {
            TranscriptStatus::Queued => {
                SourceTranscript::Unfinished { id: Id::from_uuid(recording.id.uuid()), done_ms: 0 }
            }
            _ => SourceTranscript::Missing(none()),
        };
    };
    match newest.status {
        TranscriptStatus::Queued | TranscriptStatus::Processing => {
            SourceTranscript::Unfinished { id: newest.id, done_ms: newest.done_ms }
        }
        TranscriptStatus::WaitingForModel => SourceTranscript::Missing(to_install(&newest.model)),
        TranscriptStatus::None | TranscriptStatus::Ready | TranscriptStatus::Failed => {
            SourceTranscript::Missing(newest.error_message.clone().unwrap_or_else(none))
        }
    }
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
    /// It has more than a run reads, as a sentence for users.
    TooLong(String),
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
            let Some((meeting_id, recording)) = stored_recordings::find(conn, id).await? else { return Ok(None) };
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
    let text = RecordingText::of(&meeting, &recording, segments);
    let text = written(text.segments.into_iter().map(weaving::cue).collect());
    Ok(text.map_or_else(|why| SpokenText::TooLong(why.message), SpokenText::Text))
}

/// Returns all that is said in a meeting and may be analysed, woven into one text whose cues name their recordings.
///
/// # Errors
/// Only database errors.
pub async fn spoken_in(db: &Db, id: Id<Meeting>) -> Result<SpokenText, DbError> {
    let read = db.read(move |conn| {
        Box::pin(async move {
            let Some(meeting) = meetings::store::find(conn, id).await? else { return Ok(None) };
            let mut said = Vec::new();
            for RecordingSource { id, transcript, .. } in of_meeting(conn, &meeting).await? {
                if let SourceTranscript::Ready(shown) = transcript {
                    said.push((id, store::segments(conn, shown).await?));
                }
            }
            Ok::<_, DbError>(Some((meeting, said)))
        })
    });
    let Some((meeting, said)) = read.await? else { return Ok(SpokenText::Missing) };
    let text = |(id, segments)| meeting.recordings.get(&id).map(|one| RecordingText::of(&meeting, one, segments));
    let texts: Vec<RecordingText<'_>> = said.into_iter().filter_map(text).collect();
    if texts.is_empty() {
        return Ok(SpokenText::Missing);
    }
    Ok(weaving::text(texts).map_or_else(|why| SpokenText::TooLong(why.message), SpokenText::Text))
}
