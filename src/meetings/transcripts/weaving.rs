//! The transcripts of recordings that were made at the same time, woven into one by time.
//!
//! ```text
//! meeting   |--------------------------------------|  one clock
//! track A      |----------|·pause·|-------|           begins when it was started; its content has no pauses
//! import                                      |----|  made elsewhere: nobody knows when, so it follows
//! ```

use std::collections::HashMap;

use actors::ids::{self, Id};
use actors::meeting::{Meeting, Recording, RecordingBasis, UploadMode};
use readers::{CueText, SourceText, SpokenPart, TrackCue, TrackText, Unreadable, interleaved, woven};

use super::model::{StoredSegment, TranscriptSegment};

/// The transcript of a recording, for weaving.
pub struct RecordingText<'a> {
    pub recording: &'a Recording,
    pub segments: Vec<TranscriptSegment>,
}

impl<'a> RecordingText<'a> {
    #[must_use]
    pub fn of(meeting: &Meeting, recording: &'a Recording, segments: Vec<StoredSegment>) -> Self {
        let segment = |segment| TranscriptSegment::of(meeting, recording, segment);
        Self { recording, segments: segments.into_iter().map(segment).collect() }
    }
}

/// Whether both were recorded while the meeting went on, and partly at the same time.
#[must_use]
pub fn overlap(one: &Recording, other: &Recording) -> bool {
    let begins_before = |one: &Recording, other: &Recording| other.stopped_at().is_none_or(|end| one.started_at < end);
    is_live(one) && is_live(other) && begins_before(one, other) && begins_before(other, one)
}

/// Whether the time at which it was started is the time at which its content begins.
fn is_live(recording: &Recording) -> bool {
    recording.basis == RecordingBasis::Live && recording.upload_mode == UploadMode::Chunked
}

/// Translates times in the content of a recording to a clock that all recordings of its meeting share, in milliseconds.
pub struct RecordingClock {
    starts_at: u64,
    /// When each pause begins on that clock, and how long it lasts.
    pauses: Vec<(u64, u64)>,
}

impl RecordingClock {
    #[must_use]
    pub fn of(recording: &Recording) -> Self {
        let millis = |time: actors::time::Time| u64::try_from(time.millis()).unwrap_or_default();
        let ended = recording.pauses.all.iter().filter_map(|pause| Some((millis(pause.from), millis(pause.to?))));
        Self {
            starts_at: millis(recording.started_at),
            pauses: ended.map(|(from, to)| (from, to.saturating_sub(from))).collect(),
        }
    }

    #[must_use]
    pub fn at(&self, ms: u64) -> u64 {
        let mut at = self.starts_at.saturating_add(ms);
        for (from, lasts) in &self.pauses {
            if *from <= at {
                at = at.saturating_add(*lasts);
            }
        }
        at
    }
}

/// The clocks of recordings, which are given in the order in which they were started.
fn clocks(texts: &[RecordingText<'_>]) -> HashMap<Id<ids::Recording>, RecordingClock> {
    let mut ends_at = 0;
    let clock = |text: &RecordingText<'_>| {
        let mut clock = RecordingClock::of(text.recording);
        if !is_live(text.recording) {
            clock.starts_at = clock.starts_at.max(ends_at);
        }
        ends_at = text.segments.last().map_or(ends_at, |last| ends_at.max(clock.at(last.end_ms)));
        (text.recording.id, clock)
    };
    let (live, imported): (Vec<_>, Vec<_>) = texts.iter().partition(|text| is_live(text.recording));
    live.into_iter().chain(imported).map(clock).collect()
}

/// The participants' own tracks that were recorded at the same time as a recording of everyone: what it has of their
/// speakers is said twice.
struct TracksBeside(Vec<(Id<ids::Participant>, u64, u64)>);

impl TracksBeside {
    fn of(recording: &Recording, texts: &[RecordingText<'_>]) -> Self {
        let is_mixed = recording.track.is_none();
        let beside = texts.iter().map(|text| text.recording).filter(|other| is_mixed && overlap(other, recording));
        let spans = beside.filter_map(|track| {
            let clock = RecordingClock::of(track);
            let lasts = track.content().and_then(|content| content.duration_ms);
            Some((track.track?, clock.at(0), lasts.map_or(u64::MAX, |lasts| clock.at(lasts))))
        });
        Self(spans.collect())
    }

    fn have(&self, speaker: Option<Id<ids::Participant>>, begins_at: u64) -> bool {
        let is_in = |&(whose, from, to): &(_, u64, u64)| Some(whose) == speaker && (from..to).contains(&begins_at);
        self.0.iter().any(is_in)
    }
}

/// A segment on the clock of the meeting.
pub struct PlacedSegment {
    begins_at: u64,
    ends_at: u64,
    pub segment: TranscriptSegment,
}

impl SpokenPart for PlacedSegment {
    fn begins_at(&self) -> u64 {
        self.begins_at
    }

    fn ends_at(&self) -> u64 {
        self.ends_at
    }

    fn words(&self) -> &str {
        &self.segment.text
    }
}

/// Weaves the transcripts of recordings that were made at the same time; the times become those of the first one.
#[must_use]
pub fn segments(texts: Vec<RecordingText<'_>>) -> Vec<PlacedSegment> {
    let base = texts.first().map(|text| RecordingClock::of(text.recording).at(0)).unwrap_or_default();
    let beside: Vec<TracksBeside> = texts.iter().map(|text| TracksBeside::of(text.recording, &texts)).collect();
    let placed = |(RecordingText { recording, segments }, beside): (RecordingText<'_>, TracksBeside)| {
        let clock = RecordingClock::of(recording);
        let place = |segment: TranscriptSegment| {
            let (begins_at, ends_at) = (clock.at(segment.start_ms), clock.at(segment.end_ms));
            let (start_ms, end_ms) = (begins_at.saturating_sub(base), ends_at.saturating_sub(base));
            let is_double = beside.have(segment.speaker.participant_id, begins_at);
            let segment = TranscriptSegment { start_ms, end_ms, ..segment };
            (!is_double).then_some(PlacedSegment { begins_at, ends_at, segment })
        };
        segments.into_iter().filter_map(place).collect()
    };
    interleaved(texts.into_iter().zip(beside).map(placed).collect())
}

/// Returns what is said in a recording, as the pipeline reads it.
#[must_use]
pub fn cue(segment: TranscriptSegment) -> CueText {
    let TranscriptSegment { start_ms, end_ms, speaker, text, .. } = segment;
    CueText { start_ms, end_ms, speaker: Some(speaker.name), words: text, origin: None }
}

/// Weaves all transcripts of a meeting into one text. They are given in the order in which their recordings were started.
///
/// # Errors
/// `TooLarge` past a limit of a document.
pub fn text(texts: Vec<RecordingText<'_>>) -> Result<SourceText, Unreadable> {
    let (clocks, beside) = (clocks(&texts), texts.iter().map(|text| TracksBeside::of(text.recording, &texts)));
    let beside: Vec<TracksBeside> = beside.collect();
    let track = |(RecordingText { recording, segments }, beside): (RecordingText<'_>, TracksBeside)| {
        let clock = clocks.get(&recording.id);
        let at = |ms: u64| clock.map_or(ms, |clock| clock.at(ms));
        let cue = |segment: TranscriptSegment| {
            let (begins_at, ends_at) = (at(segment.start_ms), at(segment.end_ms));
            let is_double = beside.have(segment.speaker.participant_id, begins_at);
            TrackCue { begins_at, ends_at, cue: cue(segment), is_double }
        };
        TrackText { source_id: recording.id.to_string(), cues: segments.into_iter().map(cue).collect() }
    };
    woven(texts.into_iter().zip(beside).map(track).collect())
}
