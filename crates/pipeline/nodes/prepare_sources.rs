//! Node that determines which sources are readable, with language, word count and duration of speech. The others become
//! warnings.

use actors::language::Language;
use actors::run::Node;
use serde::{Deserialize, Serialize};

use super::super::loop_control::Halted;
use super::super::request::{ReadySource, SourceKind, UnreadableSource};
use super::super::result::Warning;
use super::{NodeContext, Step};

/// A source of the request with its text replaced by a digest.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OfferedSource {
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
    /// SHA-256 over text and structure, or the reason why there is no text.
    pub digest: Result<String, UnreadableSource>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Offered {
    pub language: Language,
    pub sources: Vec<OfferedSource>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Prepared {
    pub sources: Vec<ReadySource>,
    /// One for every source that was left out, and for every one with hidden text.
    pub warnings: Vec<Warning>,
}

pub(in super::super) struct PrepareSources;

impl Step for PrepareSources {
    const NODE: Node = Node::PrepareSources;
    type Input = Offered;
    type Output = Prepared;

    fn work(input: &Offered, context: &NodeContext) -> Result<Prepared, Halted> {
        let mut prepared = Prepared { sources: Vec::new(), warnings: Vec::new() };
        for (slot, offered) in input.sources.iter().enumerate() {
            context.control.report(slot, input.sources.len())?;
            match (&offered.digest, context.texts.get(slot)) {
                (Ok(digest), Some(text)) if text.has_words() => {
                    prepared.warnings.extend(hidden(offered, text.source().hidden_characters));
                    prepared.sources.push(ReadySource {
                        slot,
                        id: offered.id.clone(),
                        kind: offered.kind,
                        name: offered.name.clone(),
                        digest: digest.clone(),
                        language: text.language(),
                        words: text.words(),
                        spoken_ms: text.spoken_ms(),
                    });
                }
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

/// Warns about text that whoever opens the source is not shown.
fn hidden(source: &OfferedSource, characters: usize) -> Option<Warning> {
    (characters > 0).then(|| Warning {
        code: Warning::HIDDEN_TEXT.to_owned(),
        message: format!(
            "{}: whoever opens it is not shown {characters} of its characters. Hidden text was left out.",
            source.name
        ),
        source_id: Some(source.id.clone()),
    })
}
