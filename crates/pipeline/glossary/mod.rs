//! The words of a project: how it writes its terms, what they mean, and what they are mistaken for.
//!
//! [`speller::Speller`] corrects what a recognizer wrote; [`ProjectTerms`] is what an engine asks while it analyses: whether
//! two statements mean the same term, whether a word is a term rather than vague, whether a role is that of a person, and
//! what the terms of a text mean.

mod speller;
mod terms;

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use utoipa::ToSchema;

pub use speller::Speller;
pub use terms::ProjectTerms;

/// The most entries of a glossary.
pub const MAX_ENTRIES: usize = 1_000;
/// The most spellings of an entry.
pub const MAX_SPELLINGS: usize = 20;

/// A term as the project writes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GlossaryEntry {
    /// The term as the project spells it.
    #[schema(example = "OAuth")]
    pub term: String,
    /// What the term means; null if nothing was said.
    #[schema(required)]
    pub definition: Option<String>,
    /// What the term is mistaken for: where one of these is heard, the term is meant.
    #[schema(max_items = 20)]
    pub spellings: Vec<String>,
}

/// Returns the key under which texts that differ only in letter case or normalization are the same. A Greek sigma has
/// two small letters, which are one here.
#[must_use]
pub fn fold(text: &str) -> String {
    let sigma = |sign: char| if sign == 'ς' { 'σ' } else { sign };
    text.nfc().flat_map(char::to_lowercase).map(sigma).collect()
}
