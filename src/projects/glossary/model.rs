//! Types of glossaries, and the rule that no name in them is ambiguous.

use std::collections::HashSet;

pub use pipeline::glossary::{GlossaryEntry, MAX_ENTRIES, MAX_SPELLINGS, fold};
use serde::Serialize;
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use utoipa::ToSchema;

use crate::http::error::cut;
use crate::http::fields::{Field, InvalidValue, line, text};
use crate::http::reason::Reason;

/// The most characters of a name that an error message repeats.
const MAX_SHOWN_NAME_LENGTH: usize = 40;
/// What stands between two terms of a prompt.
const SEPARATOR: &str = ", ";

/// A term or a spelling: 1–100 characters after trimming, without control characters. Normalized to NFC, so that texts
/// that look the same are the same.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 100, pattern = "^[^\\u0000-\\u001F\\u007F-\\u009F]*$", example = "OAuth")]
pub struct GlossaryName(pub String);

impl Field for GlossaryName {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        if value.as_str().is_some_and(|text| text.contains('\t')) {
            return Err(InvalidValue::value("Control characters are not allowed."));
        }
        let normalized = value.as_str().map(|text| Value::String(text.nfc().collect()));
        line(normalized.as_ref().unwrap_or(value), 1, 100).map(Self)
    }
}

/// 0–1,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(max_length = 1000)]
pub struct Definition(pub String);

impl Field for Definition {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 0, 1000).map(Self)
    }
}

/// The terms of a project, in the order in which they were given.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Glossary {
    /// The version, which is also the ETag; it increases with each change. 0 before the first one.
    #[schema(minimum = 0)]
    pub version: i64,
    /// All entries, ordered by term.
    #[schema(max_items = 1000)]
    pub entries: Vec<GlossaryEntry>,
}

impl Glossary {
    /// Returns the terms as a hint for a recognizer, in their order and separated by commas. Terms that would make it
    /// longer than `most_chars` characters are left out.
    #[must_use]
    pub fn prompt(&self, most_chars: usize) -> String {
        let mut prompt = String::new();
        let mut left = most_chars;
        for GlossaryEntry { term, .. } in &self.entries {
            let separator = if prompt.is_empty() { "" } else { SEPARATOR };
            if let Some(rest) = left.checked_sub(separator.len() + term.chars().count()) {
                prompt.extend([separator, term]);
                left = rest;
            }
        }
        prompt
    }
}

/// The terms and spellings of the entries read so far. A name occurs once, in any letter case: a text that contains it
/// could not be corrected otherwise.
#[derive(Debug, Default)]
pub struct TakenNames(HashSet<String>);

impl TakenNames {
    /// # Errors
    /// The name is taken.
    pub fn take(&mut self, name: &GlossaryName) -> Result<(), InvalidValue> {
        if self.0.insert(fold(&name.0)) {
            return Ok(());
        }
        let name = cut(&name.0, MAX_SHOWN_NAME_LENGTH);
        Err(InvalidValue::of(Reason::Repeated, format!("“{name}” occurs before, as a term or as a spelling.")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn glossary(terms: &[&str]) -> Glossary {
        let entry = |term: &&str| GlossaryEntry { term: (*term).to_owned(), definition: None, spellings: Vec::new() };
        Glossary { version: 1, entries: terms.iter().map(entry).collect() }
    }

    fn name(text: &str) -> Result<String, Reason> {
        GlossaryName::parse(&Value::from(text)).map(|name| name.0).map_err(|fault| fault.reason)
    }

    #[test]
    fn a_prompt_has_the_terms_in_order_and_is_bounded() {
        let terms = glossary(&["OAuth", "Überweisung", "Kanban board", "CI"]);
        assert_eq!(terms.prompt(usize::MAX), "OAuth, Überweisung, Kanban board, CI");
        assert_eq!(terms.prompt(18), "OAuth, Überweisung");
        assert_eq!(terms.prompt(17), "OAuth, CI");
        assert_eq!((terms.prompt(0), glossary(&[]).prompt(100)), (String::new(), String::new()));
        for most in 0..50 {
            assert!(terms.prompt(most).chars().count() <= most);
        }
    }

    #[test]
    fn a_name_is_trimmed_and_normalized_before_it_is_measured() {
        assert_eq!(name("  Cafe\u{301} "), Ok("Café".to_owned()));
        assert_eq!(name(&"e\u{301}".repeat(100)), Ok("é".repeat(100)));
        assert_eq!(name(&"é".repeat(101)), Err(Reason::TooLong));
        assert_eq!(name(" \u{a0}"), Err(Reason::TooShort));
        for control in ["a\u{0}b", "a\tb", "a\nb", "a\u{85}b", "\ta"] {
            assert_eq!(name(control), Err(Reason::InvalidValue), "{control:?}");
        }
    }

    #[test]
    fn a_name_is_taken_in_every_letter_case_and_normalization() {
        let mut taken = TakenNames::default();
        let mut take = |text: &str| taken.take(&GlossaryName(text.to_owned())).is_ok();
        assert!(take("Café ΟΔΟΣ"));
        assert!(!take("CAFE\u{301} οδος"));
        assert!(!take("café οδοσ"));
        assert!(take("cafe οδος"));
    }
}
