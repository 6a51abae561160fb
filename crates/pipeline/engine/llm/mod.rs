//! The engine that asks a language model what the sources state. The model proposes; code decides.
//!
//! ```text
//!  sentences ─► chunks ─► prompts ─► model ─► answer (repaired, validated) ─► quotes (found in the chunk, or asked once
//!                                                                                      more, or dropped)
//!  findings ◄── own words where the model's don't hold ◄── verify (does the quote support it?) ◄── statement (by code)
//! ```
//! What is found has the same form as what the rules find, so classification, grounding, duplicates, stories, quality and
//! metrics are shared. What addresses a machine is never sent, and no item comes from it, whatever a model answers. A
//! model has no tools, and nothing it says is executed, followed or shown as more than text.

mod answer;
mod chunks;
#[cfg(test)]
mod contract_tests;
mod extract;
mod prompts;
mod quotes;
mod schema;
mod statement;
mod tally;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod verdict_tests;
mod verify;

use std::sync::Arc;

use actors::run::AnalysisType;

use super::super::chat::Model;
use super::super::loop_control::{Halted, LoopControl};
use super::super::request::ReadySource;
use super::super::result::{CheckedItems, RequirementDraft, Summary, UserStoryDraft};
use super::{Corpus, Embedded, Engine, Extraction, Finding, Items, ModelUse};

/// Changes with the prompts, the schemas and the checks, so that no older checkpoint is used.
const VERSION: u32 = 2;

/// Finds with a language model, and does everything else as the embedded engine does.
pub struct Llm {
    model: Arc<dyn Model>,
    usage: ModelUse,
    /// What the model does not answer, the embedded engine finds.
    falls_back: bool,
    embedded: Embedded,
    version: String,
}

impl Llm {
    pub fn new(embedded: Embedded, model: Arc<dyn Model>, usage: ModelUse, falls_back: bool) -> Self {
        let kind = if falls_back { "fallback" } else { "llm" };
        let ModelUse { name, chunk_characters, answer_tokens } = &usage;
        let version = format!("{kind}-{VERSION} {} {name} {chunk_characters} {answer_tokens}", embedded.version());
        Self { model, usage, falls_back, embedded, version }
    }
}

impl Engine for Llm {
    fn version(&self) -> &str {
        &self.version
    }

    fn find(&self, corpus: &Corpus, control: &LoopControl) -> Result<Vec<Finding>, Halted> {
        Ok(self.extract(corpus, AnalysisType::Full, control)?.findings)
    }

    fn extract(&self, corpus: &Corpus, analysis: AnalysisType, control: &LoopControl) -> Result<Extraction, Halted> {
        extract::extract(self, corpus, analysis, control)
    }

    fn covers(&self, _: &str) -> bool {
        true
    }

    fn classify(
        &self,
        corpus: &Corpus,
        sources: &[ReadySource],
        findings: &[Finding],
        control: &LoopControl,
    ) -> Result<Items, Halted> {
        self.embedded.classify(corpus, sources, findings, control)
    }

    fn stories(&self, requirements: &[RequirementDraft], control: &LoopControl) -> Result<Vec<UserStoryDraft>, Halted> {
        self.embedded.stories(requirements, control)
    }

    fn check(
        &self,
        requirements: &[RequirementDraft],
        stories: &[UserStoryDraft],
        control: &LoopControl,
    ) -> Result<CheckedItems, Halted> {
        self.embedded.check(requirements, stories, control)
    }

    fn summarize(
        &self,
        corpus: &Corpus,
        sources: &[ReadySource],
        items: &Items,
        stories: usize,
        control: &LoopControl,
    ) -> Result<Summary, Halted> {
        self.embedded.summarize(corpus, sources, items, stories, control)
    }
}
