//! The patterns of the rules as cues: which of them a sentence, a heading or a requirement meets, as bits.

use std::sync::LazyLock;

use regex::Regex;

use super::corpus::PreparedSentence;
use super::{action, decision, exclusions, kinds, lexicon, question, risk};

type Cues = &'static [&'static LazyLock<Regex>];

/// The cues of sentences, in the order of their bits. A new one goes to the end of its group; the heads have to be
/// trained again after any change.
static OF_SENTENCES: [Cues; 6] =
    [&lexicon::CUES, &exclusions::CUES, &action::CUES, &decision::CUES, &question::CUES, &risk::CUES];
static OF_HEADINGS: [Cues; 4] =
    [&action::HEADING_CUES, &decision::HEADING_CUES, &question::HEADING_CUES, &risk::HEADING_CUES];

/// Returns the cues of a sentence.
pub fn of(sentence: &PreparedSentence) -> u64 {
    bits(&OF_SENTENCES, &sentence.lower)
}

/// Returns the cues of a heading in lower case.
pub fn of_heading(heading: &str) -> u64 {
    if heading.is_empty() {
        0
    } else {
        bits(&OF_HEADINGS, heading) | (kinds::heading_cues(heading) << OF_HEADINGS.len())
    }
}

/// Whether a sentence has a binding verb.
pub const fn is_binding(cues: u64) -> bool {
    cues & 1 != 0
}

fn bits(groups: &[Cues], lower: &str) -> u64 {
    let patterns = groups.iter().copied().flatten().take(64);
    patterns.enumerate().fold(0, |bits, (at, pattern)| bits | (u64::from(pattern.is_match(lower)) << at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cue_has_a_bit() {
        for groups in [OF_SENTENCES.as_slice(), &OF_HEADINGS] {
            assert!(groups.iter().map(|group| group.len()).sum::<usize>() <= 64);
        }
        assert!(is_binding(bits(&OF_SENTENCES, "the system shall print")));
        assert!(!is_binding(bits(&OF_SENTENCES, "the weather is fine")));
    }
}
