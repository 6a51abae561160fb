//! From the cues of a VTT or SRT file to the segments of a transcript.

use std::fs::File;

use actors::ids::{self, Id, User};
use actors::meeting::{Meeting, Participant, TranscriptStatus};
use actors::time::Time;
use readers::{Cue, Format, Reader, SourceText, UnreadableReason};
use tokio::task::spawn_blocking;

use crate::db::{Conn, DbError};
use crate::meetings::transcripts::model::{NamedSpeaker, StoredSegment, TranscriptVersion};
use crate::meetings::transcripts::store;

/// The engine of a version that came as a file.
const ENGINE: &str = "attached";
/// The latest time of a cue: a day, which also covers clocks of the day.
const LONGEST_MS: u64 = 24 * 60 * 60 * 1000;

/// What a file says, in the order of its times.
#[derive(Debug, Clone)]
pub struct AttachedText {
    pub format: Format,
    pub segments: Vec<StoredSegment>,
    /// When the last words end.
    pub duration_ms: u64,
    /// ISO 639-1; `None` unless the text is long and clear enough to tell it by.
    pub language: Option<String>,
}

/// Why a file was not read.
#[derive(Debug)]
pub enum UnreadTranscript {
    /// The file itself is the reason, as a sentence for users.
    Invalid(String),
    /// Nothing is known of the file.
    Interrupted(String),
}

/// Reads a file in a process of its own.
///
/// # Errors
/// Says why there is no transcript in it, or why it is not known.
pub async fn read(reader: &Reader, format: Format, file: File) -> Result<AttachedText, UnreadTranscript> {
    let read = reader.read(format, file).await.map_err(|unreadable| match unreadable.reason {
        UnreadableReason::Interrupted => UnreadTranscript::Interrupted(unreadable.message),
        _ => UnreadTranscript::Invalid(unreadable.message),
    })?;
    let interrupted = |why: String| UnreadTranscript::Interrupted(why);
    let source = spawn_blocking(move || serde_json::from_str::<SourceText>(&read.json)).await;
    let source = source.map_err(|error| interrupted(error.to_string()))?;
    text(format, source.map_err(|error| interrupted(error.to_string()))?)
}

fn text(format: Format, source: SourceText) -> Result<AttachedText, UnreadTranscript> {
    let mut segments = segments(&source);
    let duration_ms = segments.iter().map(|segment| segment.end_ms).max();
    let duration_ms = duration_ms.ok_or_else(|| {
        UnreadTranscript::Invalid("Nothing is said in this file: it has no cue with a time and words.".to_owned())
    })?;
    if duration_ms > LONGEST_MS {
        return Err(UnreadTranscript::Invalid("A transcript may last 24 hours at most.".to_owned()));
    }
    segments.sort_by_key(|segment| segment.start_ms);
    for (position, segment) in (0..).zip(&mut segments) {
        segment.position = position;
    }
    Ok(AttachedText { format, segments, duration_ms, language: source.language })
}

/// The cues with their words, as they stand in the file.
fn segments(source: &SourceText) -> Vec<StoredSegment> {
    let (mut rest, mut at) = (source.text.chars(), 0);
    let mut segment = |cue: &Cue| {
        let (before, length) = (cue.start_offset.saturating_sub(at), cue.end_offset.saturating_sub(cue.start_offset));
        let text = rest.by_ref().skip(before).take(length).collect();
        at = cue.end_offset;
        StoredSegment {
            position: 0,
            start_ms: cue.start_ms,
            end_ms: cue.end_ms.max(cue.start_ms),
            text,
            confidence: 1000,
            speaker: cue.speaker.clone().map(NamedSpeaker::Name),
            correction: None,
        }
    };
    source.cues.iter().map(&mut segment).collect()
}

/// Who attached a file, and when.
#[derive(Debug, Clone, Copy)]
pub struct AttachedBy {
    pub user_id: Id<User>,
    pub at: Time,
}

impl AttachedText {
    /// The version that it is of the transcript of a recording.
    #[must_use]
    pub fn version(
        &self,
        id: Id<ids::Transcript>,
        recording_id: Id<ids::Recording>,
        number: u32,
        by: AttachedBy,
    ) -> TranscriptVersion {
        TranscriptVersion {
            id,
            recording_id,
            number,
            status: TranscriptStatus::Ready,
            engine: ENGINE.to_owned(),
            model: self.format.name().to_owned(),
            asked_language: None,
            language: self.language.clone(),
            done_ms: self.duration_ms,
            segment_count: u32::try_from(self.segments.len()).unwrap_or(u32::MAX),
            crashes: 0,
            error_message: None,
            created_by: Some(by.user_id),
            created_at: by.at,
            attached_bytes: None,
        }
    }

    /// Inserts a version with its segments. A speaker whose name one participant of the meeting has is that participant.
    ///
    /// # Errors
    /// `Violated(Unique)` when there is one with that number; `Violated(ForeignKey)` when the recording was deleted.
    pub async fn insert(
        mut self,
        conn: &mut Conn,
        meeting: &Meeting,
        version: &TranscriptVersion,
    ) -> Result<(), DbError> {
        for segment in &mut self.segments {
            segment.speaker = segment.speaker.take().map(|speaker| known(meeting, speaker));
        }
        store::insert(conn, version).await?;
        store::insert_segments(conn, meeting.id, version.id, &self.segments).await
    }
}

fn known(meeting: &Meeting, speaker: NamedSpeaker) -> NamedSpeaker {
    let NamedSpeaker::Name(name) = &speaker else { return speaker };
    let mut found = meeting.participants.values().filter(|one: &&Participant| one.display_name == *name);
    match (found.next(), found.next()) {
        (Some(one), None) => NamedSpeaker::Participant(one.id),
        _ => speaker,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(format: Format, file: &str) -> Result<AttachedText, UnreadTranscript> {
        text(format, readers::read(format, file.as_bytes()).unwrap())
    }

    #[test]
    fn segments_are_the_cues_in_the_order_of_their_times() {
        let file = "WEBVTT\n\n00:05.000 --> 00:09.000\n<v Ben>Größe: 5 m². Each door opens.\n\n\
                    00:01.000 --> 00:04.000\n<v Ada>The gate shall close\nwithin four seconds.\n\n\
                    00:09.500 --> 00:09.000\n<v Ben>Yes.\n";
        let read = read(Format::Vtt, file).unwrap();
        let told = read.segments.iter().map(|one| (one.position, one.start_ms, one.end_ms, one.text.as_str()));
        let expected = [
            (0, 1_000, 4_000, "The gate shall close within four seconds."),
            (1, 5_000, 9_000, "Größe: 5 m². Each door opens."),
            (2, 9_500, 9_500, "Yes."),
        ];
        assert_eq!(told.collect::<Vec<_>>(), expected);
        let ada = NamedSpeaker::Name("Ada".to_owned());
        assert_eq!(read.segments.first().unwrap().speaker, Some(ada));
        assert_eq!(read.duration_ms, 9_500);
    }

    #[test]
    fn a_file_without_words_or_with_times_beyond_a_day_is_none() {
        let why = |file: &str| match read(Format::Vtt, file) {
            Err(UnreadTranscript::Invalid(why)) => why,
            other => unreachable!("{other:?}"),
        };
        assert!(why("WEBVTT\n\n").contains("no cue"));
        assert!(why("WEBVTT\n\n00:01.000 --> 00:02.000\n\n").contains("no cue"));
        assert!(why("WEBVTT\n\n23:59:59.000 --> 24:00:00.001\nGoodbye.\n").contains("24 hours"));
        assert!(read(Format::Vtt, "WEBVTT\n\n23:59:59.000 --> 24:00:00.000\nGoodbye.\n").is_ok());
    }
}
