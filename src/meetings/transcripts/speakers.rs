//! Who speaks when in a recording of everyone: known by the tracks that were recorded beside it, otherwise told by the voices.
//!
//! ```text
//! heard     "We ship in May. Does that include the app?"      one segment, with its times
//! turns     |--Ada---------||--Ben--------------------|       from tracks or voices
//! assigned  Ada: We ship in May.  Ben: Does that include the app?
//! ```
//! The time of a word is estimated from its place in the segment, and turns are known to some tenths of a second; so a turn
//! ends at the end of a sentence nearby, and no word or two at an edge of a segment are somebody else's.

use std::time::Duration;

use actors::meeting::{Meeting, Recording, RecordingStatus, TranscriptStatus};
use actors::time::Time;
use speech::{HeardSegment, VoiceTurn};

use super::model::{NamedSpeaker, current};
use super::store;
use super::weaving::{RecordingClock, overlap};
use crate::db::{Conn, DbError};

/// How long after a recording the tracks beside it are expected to stop too.
const STOP_TOGETHER: Duration = Duration::from_secs(60);
/// How far a turn may reach to end at the end of a sentence, or at that of the segment, in words.
const NEARBY: usize = 3;
const NEARBY_EDGE: usize = 2;

/// When each of the people in a recording speaks.
pub struct SpeakerTurns {
    clock: Option<RecordingClock>,
    speakers: Vec<SpeakerTimes>,
}

/// When somebody speaks: on the clock of the meeting or, without one, in the content.
struct SpeakerTimes {
    /// `None`: the one whom nobody named.
    name: Option<NamedSpeaker>,
    /// In order.
    times: Vec<(u64, u64)>,
}

/// What is known of the speakers of a recording before it is transcribed.
pub enum KnownTurns {
    Turns(SpeakerTurns),
    /// Tracks that were recorded beside it are still being transcribed.
    NotYet,
    /// No track was recorded beside it.
    Unknown,
}

impl KnownTurns {
    /// Looks for the tracks that were recorded beside a recording of everyone.
    ///
    /// # Errors
    /// Only database errors.
    pub async fn of_tracks(
        conn: &mut Conn,
        meeting: &Meeting,
        recording: &Recording,
        now: Time,
    ) -> Result<Self, DbError> {
        if recording.track.is_some() {
            return Ok(Self::Unknown);
        }
        let mut speakers: Vec<SpeakerTimes> = Vec::new();
        for track in meeting.recordings.values().filter(|other| overlap(other, recording)) {
            let Some(participant) = track.track else { continue };
            if is_awaited(track, recording, now) {
                return Ok(Self::NotYet);
            }
            let versions = store::versions(conn, track.id).await?;
            let Some(shown) = current(&versions) else { continue };
            let clock = RecordingClock::of(track);
            let segments = store::segments(conn, shown.id).await?;
            let times = segments.iter().map(|segment| (clock.at(segment.start_ms), clock.at(segment.end_ms)));
            let name = Some(NamedSpeaker::Participant(participant));
            speakers.push(SpeakerTimes { name, times: times.collect() });
        }
        if speakers.is_empty() {
            return Ok(Self::Unknown);
        }
        Ok(Self::Turns(SpeakerTurns { clock: Some(RecordingClock::of(recording)), speakers }))
    }
}

/// Whether a track beside a recording will have a transcript soon.
fn is_awaited(track: &Recording, recording: &Recording, now: Time) -> bool {
    match track.status() {
        RecordingStatus::Active => recording.stopped_at().is_some_and(|stopped| now.since(stopped) < STOP_TOGETHER),
        RecordingStatus::Stopped | RecordingStatus::Finalizing => true,
        RecordingStatus::Ready => {
            matches!(track.transcript, TranscriptStatus::Queued | TranscriptStatus::Processing)
        }
        RecordingStatus::Failed | RecordingStatus::Expired => false,
    }
}

impl SpeakerTurns {
    /// Names the voices of a recording: the first one is that of whom nobody named.
    #[must_use]
    pub fn of_voices(turns: Vec<VoiceTurn>) -> Self {
        let mut speakers: Vec<SpeakerTimes> = Vec::new();
        for VoiceTurn { start_ms, end_ms, voice } in turns {
            let name = (voice > 1).then(|| NamedSpeaker::Name(format!("Speaker {voice}")));
            match speakers.iter_mut().find(|one| one.name == name) {
                Some(known) => known.times.push((start_ms, end_ms)),
                None => speakers.push(SpeakerTimes { name, times: vec![(start_ms, end_ms)] }),
            }
        }
        Self { clock: None, speakers }
    }

    /// Gives the words of a segment to who speaks then. The segment is divided where the speaker changes.
    #[must_use]
    pub fn assigned(&self, heard: HeardSegment) -> Vec<(Option<NamedSpeaker>, HeardSegment)> {
        let at = |ms: u64| self.clock.as_ref().map_or(ms, |clock| clock.at(ms));
        let (from, to) = (at(heard.start_ms), at(heard.end_ms));
        let beside: Vec<Spoken<'_>> = self.speakers.iter().filter_map(|one| Spoken::between(one, from, to)).collect();
        let words = Word::all(&heard);
        let mut owners: Vec<Option<usize>> =
            words.iter().map(|word| loudest(&beside, at(word.start_ms), at(word.end_ms))).collect();
        inherit(&mut owners);
        smooth(&words, &mut owners);
        let mut parts: Vec<(Option<usize>, HeardSegment)> = Vec::new();
        for (word, owner) in words.iter().zip(owners) {
            match parts.last_mut() {
                Some((last, part)) if *last == owner => {
                    part.text.push(' ');
                    part.text.push_str(word.text);
                    part.end_ms = word.end_ms;
                }
                _ => {
                    let (start_ms, end_ms, text) = (word.start_ms, word.end_ms, word.text.to_owned());
                    parts.push((owner, HeardSegment { start_ms, end_ms, text, confidence: heard.confidence }));
                }
            }
        }
        match parts.as_mut_slice() {
            // The words stay as they were heard.
            [(_, whole)] => whole.text = heard.text,
            [] => parts.push((None, heard)),
            _ => {}
        }
        let name = |owner: Option<usize>| owner.and_then(|at| beside.get(at)).and_then(|one| one.name.cloned());
        parts.into_iter().map(|(owner, part)| (name(owner), part)).collect()
    }
}

/// When somebody speaks during a segment.
struct Spoken<'a> {
    name: Option<&'a NamedSpeaker>,
    times: &'a [(u64, u64)],
}

impl<'a> Spoken<'a> {
    fn between(SpeakerTimes { name, times }: &'a SpeakerTimes, from: u64, to: u64) -> Option<Self> {
        let first = times.partition_point(|(_, end)| *end <= from);
        let behind = times.partition_point(|(start, _)| *start < to);
        let times = times.get(first..behind).filter(|times| !times.is_empty())?;
        Some(Self { name: name.as_ref(), times })
    }
}

/// Returns who speaks most between two times.
fn loudest(beside: &[Spoken<'_>], from: u64, to: u64) -> Option<usize> {
    let spoken = |one: &Spoken<'_>| -> u64 {
        one.times.iter().map(|&(start, end)| end.min(to).saturating_sub(start.max(from))).sum()
    };
    let mut best = None;
    for (at, one) in beside.iter().enumerate() {
        let lasts = spoken(one);
        if lasts > best.map_or(0, |(_, most)| most) {
            best = Some((at, lasts));
        }
    }
    best.map(|(at, _)| at)
}

/// Words in nobody's turn are of who spoke before, at the beginning of who speaks next.
fn inherit(owners: &mut [Option<usize>]) {
    let mut last = owners.iter().flatten().next().copied();
    for owner in owners {
        *owner = owner.or(last);
        last = *owner;
    }
}

/// Lets a turn end at the end of a sentence, or of the segment, nearby.
fn smooth(words: &[Word<'_>], owners: &mut [Option<usize>]) {
    let mut at = 1;
    while at < owners.len() {
        let (Some(before), Some(after)) = (owners.get(at - 1).copied(), owners.get(at).copied()) else { return };
        if before == after {
            at += 1;
            continue;
        }
        let is_end = |end: usize| match end {
            0 => at <= NEARBY_EDGE,
            _ if end == owners.len() => end - at <= NEARBY_EDGE,
            _ => words.get(end - 1).is_some_and(Word::ends_sentence),
        };
        let near = (0..=NEARBY).flat_map(|away| [at.checked_sub(away), Some(at + away)]).flatten();
        let end = near.filter(|end| *end <= owners.len()).find(|end| is_end(*end)).unwrap_or(at);
        let (from, to, owner) = if end < at { (end, at, after) } else { (at, end, before) };
        owners.get_mut(from..to).unwrap_or_default().fill(owner);
        at = end.max(at) + 1;
    }
}

/// A word of a segment, with its estimated times.
struct Word<'a> {
    text: &'a str,
    start_ms: u64,
    end_ms: u64,
}

impl<'a> Word<'a> {
    fn all(heard: &'a HeardSegment) -> Vec<Self> {
        let length = |word: &str| u64::try_from(word.chars().count()).unwrap_or(u64::MAX).saturating_add(1);
        let total = heard.text.split_whitespace().map(length).sum::<u64>().max(1);
        let lasts = heard.end_ms.saturating_sub(heard.start_ms);
        let at = |passed: u64| heard.start_ms + lasts.saturating_mul(passed) / total;
        let mut passed = 0;
        let words = heard.text.split_whitespace().map(|text| {
            let start_ms = at(passed);
            passed += length(text);
            Self { text, start_ms, end_ms: at(passed) }
        });
        words.collect()
    }

    fn ends_sentence(&self) -> bool {
        self.text.ends_with(['.', '!', '?', '…', '؟', '。', '！', '？', '।'])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(start_ms: u64, end_ms: u64, text: &str) -> HeardSegment {
        HeardSegment { start_ms, end_ms, text: text.to_owned(), confidence: 0.9 }
    }

    fn voices(turns: &[(u64, u64, u32)]) -> SpeakerTurns {
        let turn = |&(start_ms, end_ms, voice): &(u64, u64, u32)| VoiceTurn { start_ms, end_ms, voice };
        SpeakerTurns::of_voices(turns.iter().map(turn).collect())
    }

    fn said(turns: &SpeakerTurns, heard: HeardSegment) -> Vec<(String, u64, u64, String)> {
        let name = |speaker: Option<NamedSpeaker>| match speaker {
            None => "-".to_owned(),
            Some(NamedSpeaker::Name(name)) => name,
            Some(NamedSpeaker::Participant(id)) => id.to_string(),
        };
        let parts = turns.assigned(heard).into_iter();
        parts.map(|(speaker, part)| (name(speaker), part.start_ms, part.end_ms, part.text)).collect()
    }

    #[test]
    fn a_segment_is_divided_where_the_speaker_changes_at_the_end_of_a_sentence() {
        let turns = voices(&[(0, 1_900, 1), (1_900, 5_000, 2)]);
        let parts = said(&turns, heard(0, 4_000, "We ship in May. Does that include the app?"));
        let [(first, from, middle, ship), (second, again, to, app)] = parts.as_slice() else { panic!("{parts:?}") };
        assert_eq!((first.as_str(), ship.as_str()), ("-", "We ship in May."));
        assert_eq!((second.as_str(), app.as_str()), ("Speaker 2", "Does that include the app?"));
        assert_eq!((*from, middle, *to), (0, again, 4_000));
    }

    #[test]
    fn without_turns_a_segment_stays_as_it_was_heard() {
        let parts = said(&voices(&[]), heard(100, 900, "Two  spaces"));
        assert_eq!(parts, [("-".to_owned(), 100, 900, "Two  spaces".to_owned())]);
        let parts = said(&voices(&[(0, 50, 2)]), heard(100, 900, ""));
        assert_eq!(parts, [("-".to_owned(), 100, 900, String::new())]);
    }

    #[test]
    fn words_between_turns_are_of_who_spoke_before() {
        let turns = voices(&[(1_000, 2_000, 2), (3_000, 4_000, 3)]);
        let parts = said(&turns, heard(0, 4_000, "aa bb cc dd ee ff gg hh ii jj kk ll"));
        let short: Vec<_> = parts.iter().map(|(name, _, _, text)| (name.as_str(), text.as_str())).collect();
        assert_eq!(short, [("Speaker 2", "aa bb cc dd ee ff gg hh ii"), ("Speaker 3", "jj kk ll")]);
    }

    #[test]
    fn a_turn_that_ends_a_word_too_late_takes_nothing_from_the_next_segment() {
        let turns = voices(&[(0, 11_000, 2), (11_000, 16_500, 1), (16_500, 20_000, 2)]);
        let parts = said(&turns, heard(10_500, 17_000, "Yes, and a patient must be able to cancel before it begins."));
        assert_eq!(parts.len(), 1, "{parts:?}");
        assert_eq!(parts[0].0, "-");
        // But a short answer is one.
        let parts = said(&turns, heard(10_500, 17_000, "Yes. And a patient must be able to cancel before it begins."));
        let names: Vec<&str> = parts.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["Speaker 2", "-"]);
    }

    #[test]
    fn no_word_is_lost_or_said_twice_whatever_the_turns() {
        let text = "One two. Three four five? Six, seven eight nine. Ten eleven twelve!";
        for step in 1..40_u64 {
            let turns: Vec<(u64, u64, u32)> = (0..20_u64)
                .map(|at| (at * step * 30, (at + 1) * step * 30, u32::try_from(at % 3).unwrap() + 1))
                .collect();
            let parts = said(&voices(&turns), heard(0, 6_000, text));
            let all: Vec<&str> = parts.iter().map(|(_, _, _, text)| text.as_str()).collect();
            assert_eq!(all.join(" "), text);
            assert!(parts.windows(2).all(|pair| pair[0].2 == pair[1].1 && pair[0].0 != pair[1].0), "{parts:?}");
        }
    }
}
