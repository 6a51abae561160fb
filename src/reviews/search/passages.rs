//! What is indexed of an item, a document or a transcript: one passage of an item, and of long texts a passage for each
//! part of about a thousand characters.

use readers::SourceText;
use serde::{Deserialize, Serialize};

use super::folding::{self, FoldedWord};
use crate::analysis::items::model::{Requirement, UserStory, WorkflowStatus};

/// About how many characters a passage of a long text has.
const PART: usize = 1_000;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchPassage {
    pub code: Option<String>,
    pub title: String,
    pub text: String,
    /// Where it begins in the document, in Unicode scalar values.
    pub starts_at: Option<i64>,
    /// JSON of [`SaidAt`]s, of a transcript.
    pub times: Option<String>,
}

/// When a segment in a passage is said: where it ends in the passage, and from when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SaidAt(pub usize, pub u64, pub u64);

/// A segment of a transcript.
pub struct SpokenSegment {
    pub position: i64,
    pub text: String,
    pub start_ms: u64,
    pub end_ms: u64,
}

impl SearchPassage {
    /// The words of its title, which count only for the first passage of a source: a word in the name of a document is
    /// not in each of its parts.
    #[must_use]
    pub fn title_words(&self, position: usize) -> Vec<String> {
        let all = folding::words(self.code.as_deref().unwrap_or_default()).into_iter();
        let all = all.chain(folding::words(&self.title)).filter(|_| position == 0);
        all.map(|word| word.text).collect()
    }

    #[must_use]
    pub fn text_words(&self) -> Vec<String> {
        folding::words(&self.text).into_iter().map(|FoldedWord { text, .. }| text).collect()
    }
}

/// The passage of a requirement; none of a rejected one.
///
/// # Errors
/// The body is no requirement.
pub fn of_requirement(body: &str) -> Result<Vec<SearchPassage>, serde_json::Error> {
    let one: Requirement = serde_json::from_str(body)?;
    Ok(of_item(one.workflow_status, one.code, one.title, one.statement))
}

/// The passage of a user story with its acceptance criteria; none of a rejected one.
///
/// # Errors
/// The body is no user story.
pub fn of_story(body: &str) -> Result<Vec<SearchPassage>, serde_json::Error> {
    let one: UserStory = serde_json::from_str(body)?;
    let mut text = one.description;
    for criterion in one.acceptance_criteria {
        text.push('\n');
        text.push_str(&criterion.text);
    }
    Ok(of_item(one.workflow_status, one.code, one.title, text))
}

fn of_item(status: WorkflowStatus, code: String, title: String, text: String) -> Vec<SearchPassage> {
    match status {
        WorkflowStatus::Rejected => Vec::new(),
        WorkflowStatus::NeedsReview | WorkflowStatus::Approved => {
            vec![SearchPassage { code: Some(code), title, text, starts_at: None, times: None }]
        }
    }
}

/// The parts of a document; one without text where it has none, so that its name is found.
///
/// # Errors
/// The text is not what a reader wrote.
pub fn of_document(file_name: &str, source_text: &str) -> Result<Vec<SearchPassage>, serde_json::Error> {
    let source: SourceText = serde_json::from_str(source_text)?;
    let mut parts = Vec::new();
    let mut part = String::new();
    let (mut starts_at, mut length) = (0, 0);
    for (at, sign) in source.text.chars().enumerate() {
        let ends =
            (length >= PART && (sign.is_whitespace() || length >= 2 * PART)) || (length >= PART / 2 && sign == '\n');
        if ends {
            parts.push((starts_at, std::mem::take(&mut part)));
            (starts_at, length) = (at, 0);
        }
        part.push(sign);
        length += 1;
    }
    parts.push((starts_at, part));
    let passage = |(starts_at, text): (usize, String)| SearchPassage {
        code: None,
        title: file_name.to_owned(),
        text,
        starts_at: i64::try_from(starts_at).ok(),
        times: None,
    };
    Ok(parts.into_iter().map(passage).collect())
}

/// Some passages of a transcript, and the position of the first segment that is in none of them.
pub struct SpokenPassages {
    pub passages: Vec<SearchPassage>,
    pub next_position: i64,
}

/// Segments of a transcript, several in a passage. `is_end`: no more follow; otherwise the last ones wait for more, unless
/// there is nothing else.
///
/// # Errors
/// Never in practice: numbers are written as JSON.
pub fn of_transcript(
    title: &str,
    segments: Vec<SpokenSegment>,
    is_end: bool,
) -> Result<SpokenPassages, serde_json::Error> {
    let mut passages = Vec::new();
    let mut next_position = 0;
    let (mut text, mut length, mut times) = (String::new(), 0, Vec::new());
    let mut segments = segments.into_iter().peekable();
    while let Some(segment) = segments.next() {
        if length > 0 {
            text.push(' ');
            length += 1;
        }
        length += segment.text.chars().count();
        text.push_str(&segment.text);
        times.push(SaidAt(length, segment.start_ms, segment.end_ms));
        let is_last = segments.peek().is_none() && (is_end || passages.is_empty());
        if length >= PART || is_last {
            passages.push(SearchPassage {
                code: None,
                title: title.to_owned(),
                text: std::mem::take(&mut text),
                starts_at: None,
                times: Some(serde_json::to_string(&std::mem::take(&mut times))?),
            });
            length = 0;
            next_position = segment.position + 1;
        }
    }
    Ok(SpokenPassages { passages, next_position })
}

#[cfg(test)]
mod tests {
    use super::{SaidAt, SpokenPassages, SpokenSegment, of_transcript};

    fn segments(positions: std::ops::Range<i64>) -> Vec<SpokenSegment> {
        let segment = |position: i64| {
            let start_ms = position.unsigned_abs() * 1_000;
            SpokenSegment { position, text: "x".repeat(400), start_ms, end_ms: start_ms + 900 }
        };
        positions.map(segment).collect()
    }

    #[test]
    fn a_passage_of_a_transcript_knows_when_each_of_its_segments_is_said() {
        let SpokenPassages { passages, next_position } = of_transcript("Booking", segments(0..4), true).unwrap();
        assert_eq!(passages.iter().map(|one| one.text.chars().count()).collect::<Vec<_>>(), [1_202, 400]);
        let times: Vec<SaidAt> = serde_json::from_str(passages[0].times.as_ref().unwrap()).unwrap();
        assert_eq!(times, [SaidAt(400, 0, 900), SaidAt(801, 1_000, 1_900), SaidAt(1_202, 2_000, 2_900)]);
        assert_eq!(next_position, 4);
    }

    #[test]
    fn a_transcript_has_the_same_passages_if_it_is_read_in_parts() {
        let whole = of_transcript("Booking", segments(0..20), true).unwrap().passages;
        for size in 3..=20 {
            let (mut passages, mut from) = (Vec::new(), 0);
            while from < 20 {
                let to = (from + size).min(20);
                let part = of_transcript("Booking", segments(from..to), to == 20).unwrap();
                assert!(part.next_position > from, "it goes on");
                passages.extend(part.passages);
                from = part.next_position;
            }
            assert_eq!(passages, whole, "{size} at once");
        }
        let short = of_transcript("Booking", segments(0..1), false).unwrap();
        assert_eq!((short.passages.len(), short.next_position), (1, 1), "a part is never nothing");
    }
}
