//! Finds a quote again in a text that has changed.

use super::source::{Cue, SourceText};

/// Where a quote stands in a text. Offsets count Unicode scalar values, end exclusive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuotePlace {
    pub start_offset: usize,
    pub end_offset: usize,
    pub start_ms: Option<u64>,
    pub end_ms: Option<u64>,
    pub speaker: Option<String>,
}

impl SourceText {
    /// Returns the place of a quote that stands verbatim in the text, the nearest one to an offset; `None` if there is
    /// none.
    #[must_use]
    pub fn place_of(&self, quote: &str, near: usize) -> Option<QuotePlace> {
        if quote.is_empty() {
            return None;
        }
        let (mut counted, mut start, mut nearest) = (0, 0, None::<usize>);
        for (at, _) in self.text.match_indices(quote) {
            start += self.text.get(counted..at)?.chars().count();
            counted = at;
            if nearest.is_none_or(|known| start.abs_diff(near) < known.abs_diff(near)) {
                nearest = Some(start);
            }
        }
        let start_offset = nearest?;
        let end_offset = start_offset + quote.chars().count();
        let is_in_it = |cue: &&Cue| cue.start_offset < end_offset && cue.end_offset > start_offset;
        let first = self.cues.iter().find(is_in_it);
        let last = self.cues.iter().rfind(is_in_it);
        Some(QuotePlace {
            start_offset,
            end_offset,
            start_ms: first.map(|cue| cue.start_ms),
            end_ms: last.map(|cue| cue.end_ms),
            speaker: first.and_then(|cue| cue.speaker.clone()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{CueText, written};
    use super::*;

    fn spoken(cues: &[(u64, u64, &str, &str)]) -> SourceText {
        let cue = |&(start_ms, end_ms, speaker, words): &(u64, u64, &str, &str)| CueText {
            start_ms,
            end_ms,
            speaker: Some(speaker.to_owned()),
            words: words.to_owned(),
            origin: None,
        };
        written(cues.iter().map(cue).collect()).unwrap()
    }

    #[test]
    fn a_quote_is_found_with_its_times_and_its_speaker() {
        let text = spoken(&[
            (0, 900, "Ada", "Größe zählt."),
            (1_000, 2_000, "Ben", "It must"),
            (2_000, 3_000, "Ben", "be fast. It must be safe."),
        ]);
        let place = text.place_of("It must be fast.", 0).unwrap();
        assert_eq!((place.start_ms, place.end_ms, place.speaker.as_deref()), (Some(1_000), Some(3_000), Some("Ben")));
        let quoted: String = text.text.chars().skip(place.start_offset).take(16).collect();
        assert_eq!((quoted.as_str(), place.end_offset), ("It must be fast.", place.start_offset + 16));
        assert_eq!(text.place_of("It must be slow.", 0), None);
        assert_eq!(text.place_of("", 0), None);
    }

    #[test]
    fn of_several_places_the_nearest_one_is_meant() {
        let text = spoken(&[(0, 1_000, "Ada", "Yes. Yes. Yes."), (9_000, 9_500, "Ben", "Yes.")]);
        let starts: Vec<usize> = [0, 6, 9, 99].map(|near| text.place_of("Yes.", near).unwrap().start_offset).to_vec();
        assert_eq!(starts, [0, 5, 10, 16]);
    }
}
