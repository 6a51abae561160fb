//! A glossary, prepared to be asked while texts are analysed.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

use sha2::{Digest, Sha256};

use super::speller::Speller;
use super::{GlossaryEntry, fold};

/// The terms of a project. Without any, nothing changes.
#[derive(Debug, Default)]
pub struct ProjectTerms {
    entries: Vec<GlossaryEntry>,
    phrases: Speller,
    /// The entry of each term, folded.
    by_term: HashMap<String, usize>,
}

impl ProjectTerms {
    #[must_use]
    pub fn new(entries: Vec<GlossaryEntry>) -> Self {
        let phrases = Speller::of_every_term(&entries);
        let by_term = entries.iter().enumerate().map(|(at, entry)| (fold(&entry.term), at)).collect();
        Self { entries, phrases, by_term }
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns 16 hex digits that change with the glossary.
    #[must_use]
    pub fn digest(&self) -> String {
        let mut hasher = Sha256::new();
        for GlossaryEntry { term, definition, spellings } in &self.entries {
            let fields = [Some(term.as_str()), definition.as_deref()]
                .into_iter()
                .chain(spellings.iter().map(|text| Some(text.as_str())));
            for field in fields {
                // The length tells where a field ends, and an absent one from an empty one.
                hasher.update(field.map_or(u64::MAX, |text| text.len() as u64).to_be_bytes());
                hasher.update(field.unwrap_or_default());
            }
            hasher.update([0]);
        }
        hex::encode(hasher.finalize()).chars().take(16).collect()
    }

    /// Returns a text with the project's own terms in place of what they are mistaken for.
    #[must_use]
    pub fn respelled<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(self.phrases.respell(text)) }
    }

    /// Returns where terms stand in a text, in bytes.
    #[must_use]
    pub fn places(&self, text: &str) -> Vec<Range<usize>> {
        if self.is_empty() {
            return Vec::new();
        }
        self.phrases.occurrences(text).into_iter().map(|(place, _)| place).collect()
    }

    /// Returns what a term, or one of its spellings, means, if the glossary says so.
    #[must_use]
    pub fn definition(&self, name: &str) -> Option<&str> {
        let term = self.respelled(name);
        let entry = self.by_term.get(&fold(&term)).and_then(|at| self.entries.get(*at))?;
        entry.definition.as_deref().filter(|definition| !definition.trim().is_empty())
    }

    /// Returns the entries whose term or spelling stands in one of these texts, in the order of the glossary.
    #[must_use]
    pub fn used_in(&self, texts: &[&str]) -> Vec<&GlossaryEntry> {
        if self.is_empty() {
            return Vec::new();
        }
        let found = texts.iter().flat_map(|text| self.phrases.occurrences(text));
        let used: BTreeSet<usize> = found.filter_map(|(_, term)| self.by_term.get(&fold(term)).copied()).collect();
        used.into_iter().filter_map(|at| self.entries.get(at)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(entries: &[(&str, Option<&str>, &[&str])]) -> ProjectTerms {
        let entry = |(term, definition, spellings): &(&str, Option<&str>, &[&str])| GlossaryEntry {
            term: (*term).to_owned(),
            definition: definition.map(str::to_owned),
            spellings: spellings.iter().map(|spelling| (*spelling).to_owned()).collect(),
        };
        ProjectTerms::new(entries.iter().map(entry).collect())
    }

    #[test]
    fn a_term_is_found_by_each_of_its_names() {
        let terms = terms(&[("fast lane", Some("The belt for parcels."), &["quick line"]), ("tour", None, &["round"])]);
        assert_eq!(terms.respelled("Each Round has a quick line."), "Each tour has a fast lane.");
        assert_eq!(terms.definition("Quick Line"), Some("The belt for parcels."));
        assert_eq!((terms.definition("round"), terms.definition("lane")), (None, None));
        assert_eq!(terms.places("a fast lane").as_slice(), std::slice::from_ref(&(2..11)));
        let used: Vec<&str> =
            terms.used_in(&["no", "the round of a tour"]).iter().map(|entry| entry.term.as_str()).collect();
        assert_eq!(used, ["tour"]);
    }

    #[test]
    fn every_change_of_a_glossary_changes_its_digest() {
        let digests = [
            terms(&[]),
            terms(&[("a", None, &[])]),
            terms(&[("a", Some(""), &[])]),
            terms(&[("a", Some("b"), &[])]),
            terms(&[("a", None, &["b"])]),
            terms(&[("a", None, &[]), ("b", None, &[])]),
            terms(&[("b", None, &[]), ("a", None, &[])]),
        ];
        let different: BTreeSet<String> = digests.iter().map(ProjectTerms::digest).collect();
        assert_eq!(different.len(), digests.len());
    }
}
