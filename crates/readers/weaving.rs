//! Weaves what was said at the same time, recorded apart, into one text by time.
//!
//! ```text
//! Ada's track   It must ring. ············ And stop. ──┐
//! Ben's track   ·············  How often?  ··········  ┴─► Ada: It must ring. Ben: How often? Ada: And stop.
//! ```
//! A sentence that somebody begins is ended before another one speaks, as long as they make no longer pause in it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::iter::Peekable;
use std::vec::IntoIter;

use super::source::{CueOrigin, SourceText, Unreadable};
use super::transcript::{CueText, PAUSE_MS, written};

/// What was said without a pause, with its times on a clock that all sources share, in milliseconds.
pub trait SpokenPart {
    fn begins_at(&self) -> u64;
    fn ends_at(&self) -> u64;
    fn words(&self) -> &str;
}

/// Orders the parts of several sources by time. The parts of each source stay in their order.
pub fn interleaved<T: SpokenPart>(sources: Vec<Vec<T>>) -> Vec<T> {
    let mut woven = Vec::with_capacity(sources.iter().map(Vec::len).sum());
    let mut sources: Vec<Peekable<IntoIter<T>>> =
        sources.into_iter().map(|parts| parts.into_iter().peekable()).collect();
    let mut next = BinaryHeap::new();
    for (at, source) in sources.iter_mut().enumerate() {
        next.extend(source.peek().map(|part| Reverse((part.begins_at(), at))));
    }
    while let Some(Reverse((_, at))) = next.pop() {
        let Some(source) = sources.get_mut(at) else { continue };
        let mut last = source.next();
        while let Some(said) = last.take() {
            last = source.next_if(|part| is_within_a_sentence(&said, part));
            woven.push(said);
        }
        next.extend(source.peek().map(|part| Reverse((part.begins_at(), at))));
    }
    woven
}

/// Whether the second part goes on with a sentence of the first one.
fn is_within_a_sentence<T: SpokenPart>(said: &T, part: &T) -> bool {
    let is_ended = said.words().trim_end().ends_with(['.', '!', '?', '…', '؟', '。', '！', '？', '।']);
    !is_ended && part.begins_at().saturating_sub(said.ends_at()) < PAUSE_MS
}

/// A source of a woven text.
pub struct TrackText {
    pub source_id: String,
    /// What is said in it, in its order.
    pub cues: Vec<TrackCue>,
}

/// A cue with its times on the clock that all sources share, in milliseconds; those of `cue` are the source's own.
pub struct TrackCue {
    pub begins_at: u64,
    pub ends_at: u64,
    pub cue: CueText,
    /// Whether another source has it too: it is left out of the woven text.
    pub is_double: bool,
}

impl SpokenPart for TrackCue {
    fn begins_at(&self) -> u64 {
        self.begins_at
    }

    fn ends_at(&self) -> u64 {
        self.ends_at
    }

    fn words(&self) -> &str {
        &self.cue.words
    }
}

/// Weaves the texts of several sources into one. Its cues know where they stand in the text that [`written`] makes of
/// their source alone.
///
/// # Errors
/// `TooLarge` past a limit of a document.
pub fn woven(sources: Vec<TrackText>) -> Result<SourceText, Unreadable> {
    let mut tracks = Vec::with_capacity(sources.len());
    for TrackText { source_id, cues } in sources {
        let alone = written(cues.iter().map(|track| track.cue.clone()).collect())?;
        let track = cues.into_iter().zip(alone.cues).map(|(track, placed)| {
            let origin = CueOrigin { source_id: source_id.clone(), start_offset: placed.start_offset };
            TrackCue { cue: CueText { origin: Some(origin), ..track.cue }, ..track }
        });
        tracks.push(track.filter(|track| !track.is_double).collect());
    }
    written(interleaved::<TrackCue>(tracks).into_iter().map(|track| track.cue).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slice;

    fn track(name: &str, cues: &[(u64, u64, &str)]) -> TrackText {
        let cue = |&(begins_at, ends_at, words): &(u64, u64, &str)| TrackCue {
            begins_at,
            ends_at,
            is_double: false,
            cue: CueText {
                start_ms: begins_at - cues[0].0,
                end_ms: ends_at - cues[0].0,
                speaker: Some(name.to_owned()),
                words: words.to_owned(),
                origin: None,
            },
        };
        TrackText { source_id: format!("track of {name}"), cues: cues.iter().map(cue).collect() }
    }

    const ADA: [(u64, u64, &str); 4] =
        [(0, 900, "It must ring."), (2_000, 2_500, "And it must"), (2_700, 3_000, "stop."), (9_000, 9_500, "Good.")];
    const BEN: [(u64, u64, &str); 2] = [(1_000, 1_500, "Größe zählt."), (2_600, 2_650, "Mhm.")];

    #[test]
    fn speech_is_woven_by_time_and_no_sentence_is_torn() {
        let text = woven(vec![track("Ada", &ADA), track("Ben", &BEN)]).unwrap();
        assert_eq!(text.text, "It must ring.\n\nGröße zählt.\n\nAnd it must stop.\n\nMhm.\n\nGood.");
    }

    #[test]
    fn each_cue_stands_in_the_text_of_its_own_source() {
        let text = woven(vec![track("Ada", &ADA), track("Ben", &BEN)]).unwrap();
        let alone = [("Ada", &ADA[..]), ("Ben", &BEN[..])].map(|(name, cues)| {
            let own = track(name, cues);
            (own.source_id.clone(), written(own.cues.into_iter().map(|cue| cue.cue).collect()).unwrap())
        });
        assert_eq!(text.cues.len(), 6);
        for cue in &text.cues {
            let origin = cue.origin.as_ref().unwrap();
            let (_, own) = alone.iter().find(|(id, _)| *id == origin.source_id).unwrap();
            let words = slice(&text.text, cue.start_offset, cue.end_offset).unwrap();
            let length = cue.end_offset - cue.start_offset;
            assert_eq!(slice(&own.text, origin.start_offset, origin.start_offset + length), Some(words));
        }
    }

    #[test]
    fn what_was_apart_in_its_source_is_no_one_paragraph() {
        let mut ada = track("Ada", &[(0, 500, "It must"), (600, 900, "not"), (1_000, 1_400, "ring.")]);
        ada.cues[1].is_double = true;
        let text = woven(vec![ada]).unwrap();
        assert_eq!(text.text, "It must\n\nring.");
        assert_eq!(text.cues[1].origin.as_ref().unwrap().start_offset, 12);
    }
}
