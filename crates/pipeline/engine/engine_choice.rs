//! Which engine a run uses, and how it asks its model.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

use super::super::chat::{Model, NoCompletion, NoModel};
use super::super::glossary::ProjectTerms;
use super::llm::Llm;
use super::{Embedded, Engine};

/// The engines that there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[derive(Display, EnumString, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase", ascii_case_insensitive, const_into_str)]
pub enum EngineKind {
    /// Rules and heads in the binary; works offline.
    #[default]
    Embedded,
    /// A language model finds; what it does not answer is left out.
    Llm,
    /// A language model finds; what it does not answer, the embedded engine finds.
    Fallback,
}

impl EngineKind {
    /// Whether texts are sent to a language model.
    #[must_use]
    pub const fn asks_model(self) -> bool {
        matches!(self, Self::Llm | Self::Fallback)
    }
}

/// The engine of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineChoice {
    pub kind: EngineKind,
    /// `None`: no model may be asked. An engine that wants one is then told so in place of each answer.
    pub model: Option<ModelUse>,
}

/// How a model is asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelUse {
    /// As the service names it.
    pub name: String,
    /// The maximum number of characters of the sources in one question, without the neighbours.
    pub chunk_characters: usize,
    /// The maximum number of tokens of one answer.
    pub answer_tokens: u32,
}

impl EngineChoice {
    /// Returns the engine for a project with these terms. It asks `model` if it may ask one.
    pub fn engine(&self, terms: ProjectTerms, model: impl FnOnce() -> Arc<dyn Model>) -> Arc<dyn Engine> {
        let embedded = Embedded::for_project(Arc::new(terms));
        if !self.kind.asks_model() {
            return Arc::new(embedded);
        }
        let (usage, model) = match &self.model {
            Some(usage) => (usage.clone(), model()),
            None => {
                let usage = ModelUse { name: String::new(), chunk_characters: 4_000, answer_tokens: 1 };
                (usage, Arc::new(NoModel(NoCompletion::NotPermitted)) as Arc<dyn Model>)
            }
        };
        Arc::new(Llm::new(embedded, model, usage, self.kind == EngineKind::Fallback))
    }
}
