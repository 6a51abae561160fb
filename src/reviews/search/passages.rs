//! What is indexed of an item, a document or a transcript: one passage of an item, and of long texts a passage for each
//! part of about a thousand characters.

use actors::ids::{self, Id};
use pipeline::readers::SourceText;
use serde::{Deserialize, Serialize};

use super::folding::{self, FoldedWord};
use super::model::SearchKind;
use crate::analysis::results::model::{Requirement, UserStory, WorkflowStatus};

/// About how many characters a passage of a long text has.
const PART: usize = 1_000;

/// All passages of one source, in order. None if there is nothing to be found in it.
pub struct SourcePassages {
    pub project_id: Id<ids::Project>,
    pub kind: SearchKind,
    pub passages: Vec<SearchPassage>,
}

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

/// The segments of a transcript, several in a passage.
///
/// # Errors
/// Never in practice: numbers are written as JSON.
pub fn of_transcript(title: &str, segments: Vec<SpokenSegment>) -> Result<Vec<SearchPassage>, serde_json::Error> {
    let mut passages = Vec::new();
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
        if length >= PART || segments.peek().is_none() {
            passages.push(SearchPassage {
                code: None,
                title: title.to_owned(),
                text: std::mem::take(&mut text),
                starts_at: None,
                times: Some(serde_json::to_string(&std::mem::take(&mut times))?),
            });
            length = 0;
        }
    }
    Ok(passages)
}

#[cfg(test)]
mod tests {
    use super::{SaidAt, SpokenSegment, of_transcript};

    #[test]
    fn a_passage_of_a_transcript_knows_when_each_of_its_segments_is_said() {
        let segment =
            |index: u64| SpokenSegment { text: "x".repeat(400), start_ms: index * 1_000, end_ms: index * 1_000 + 900 };
        let passages = of_transcript("Booking", (0..4).map(segment).collect()).unwrap();
        assert_eq!(passages.iter().map(|one| one.text.chars().count()).collect::<Vec<_>>(), [1_202, 400]);
        let times: Vec<SaidAt> = serde_json::from_str(passages[0].times.as_ref().unwrap()).unwrap();
        assert_eq!(times, [SaidAt(400, 0, 900), SaidAt(801, 1_000, 1_900), SaidAt(1_202, 2_000, 2_900)]);
    }
}
