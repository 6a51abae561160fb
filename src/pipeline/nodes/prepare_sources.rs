//! Which sources can be read, and what they are: language, words, minutes. The others become warnings.

use serde::{Deserialize, Serialize};

use super::super::pace::Halted;
use super::super::request::{Language, ReadySource, SourceKind, Unreadable};
use super::super::result::Warning;
use super::{Desk, Node, Step};

/// A source as the request gave it, its text standing in by its digest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfferedSource {
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
    /// SHA-256 over text and structure, or why there is none.
    pub digest: Result<String, Unreadable>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Offered {
    pub language: Language,
    pub sources: Vec<OfferedSource>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Prepared {
    pub sources: Vec<ReadySource>,
    /// One for every source that was left out.
    pub warnings: Vec<Warning>,
}

pub(in super::super) struct PrepareSources;

impl Step for PrepareSources {
    const NODE: Node = Node::PrepareSources;
    type Input = Offered;
    type Output = Prepared;

    fn work(input: &Offered, desk: &Desk) -> Result<Prepared, Halted> {
        let mut prepared = Prepared { sources: Vec::new(), warnings: Vec::new() };
        for (slot, offered) in input.sources.iter().enumerate() {
            desk.pace.mark(slot, input.sources.len())?;
            match (&offered.digest, desk.texts.get(slot)) {
                (Ok(digest), Some(text)) if text.has_words() => prepared.sources.push(ReadySource {
                    slot,
                    id: offered.id.clone(),
                    kind: offered.kind,
                    name: offered.name.clone(),
                    digest: digest.clone(),
                    language: text.language(),
                    words: text.words(),
                    spoken_ms: text.spoken_ms(),
                }),
                (Err(unreadable), _) => prepared.warnings.push(Warning {
                    code: unreadable.code.clone(),
                    message: format!("{}: {}", offered.name, unreadable.message),
                    source_id: Some(offered.id.clone()),
                }),
                _ => prepared.warnings.push(Warning {
                    code: "EmptySource".to_owned(),
                    message: format!("{}: there is no text in it.", offered.name),
                    source_id: Some(offered.id.clone()),
                }),
            }
        }
        Ok(prepared)
    }
}
