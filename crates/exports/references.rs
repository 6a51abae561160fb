//! How one item of a specification names another, and how it names its sources.

use std::collections::HashMap;

use crate::specification::{QualityNote, SourceEntry, Specification};
use crate::text::{clean_line, minutes_and_seconds};
use crate::words::{Label, TermSet, Words};

/// The codes of requirements by their ids.
#[derive(Debug)]
pub struct RequirementCodes<'a>(HashMap<&'a str, &'a str>);

impl<'a> RequirementCodes<'a> {
    pub fn of(specification: &'a Specification) -> Self {
        Self(specification.requirements.iter().map(|entry| (entry.id.as_str(), entry.code.as_str())).collect())
    }

    /// The code, or the id itself where the requirement is not in the specification.
    pub fn code<'b>(&self, id: &'b str) -> &'b str
    where
        'a: 'b,
    {
        self.0.get(id).copied().unwrap_or(id)
    }

    /// Whether the specification has the requirement, so that a link to it leads somewhere.
    pub fn has(&self, id: &str) -> bool {
        self.0.contains_key(id)
    }

    /// The codes, separated by commas.
    pub fn list(&self, ids: &[String]) -> String {
        ids.iter().map(|id| self.code(id)).collect::<Vec<_>>().join(", ")
    }
}

/// The anchor of an item within a page: only letters, digits and hyphens of its id, so that it cannot end an attribute.
pub fn anchor(id: &str) -> String {
    let id: String = id.chars().filter(|character| character.is_ascii_alphanumeric() || *character == '-').collect();
    format!("item-{id}")
}

/// Where in its source a quote stands, in one line: `Interview.docx, Page 3, Access › Roles` or `Kick-off, 7:05–7:40, Ada`.
pub fn citation(words: Words, source: &SourceEntry) -> String {
    let mut parts = vec![clean_line(&source.name)];
    if let Some(page) = source.page {
        parts.push(format!("{} {page}", words.label(Label::Page)));
    }
    parts.extend(source.section.as_deref().map(clean_line));
    parts.extend(time_span(source));
    parts.extend(source.speaker.as_deref().map(clean_line));
    parts.retain(|part| !part.is_empty());
    parts.join(", ")
}

/// `Interview.docx, Page 3`, with the kind of source before it.
pub(crate) fn source_line(words: Words, source: &SourceEntry) -> String {
    format!("{}: {}", words.term(TermSet::SourceKind, &source.kind), citation(words, source))
}

/// `7:05–7:40`, or only the beginning where no end is known.
pub fn time_span(source: &SourceEntry) -> Option<String> {
    let start = minutes_and_seconds(source.start_ms?);
    Some(match source.end_ms {
        Some(end) => format!("{start}–{}", minutes_and_seconds(end)),
        None => start,
    })
}

/// A quality issue in one line: `Vague word (Low): “fast” can be read in more than one way.`
pub fn quality_line(words: Words, note: &QualityNote) -> String {
    let name = words.term(TermSet::QualityIssue, &note.code);
    let severity = words.term(TermSet::Severity, &note.severity);
    clean_line(&format!("{name} ({severity}): {}", note.message))
}
