//! The analysis engine: decides which sentences are relevant, of which kind they are, and what is derived from them.
//!
//! [`Engine`] is the trait of all engines; [`Embedded`] is the one in the binary: rule-based, deterministic and
//! offline; `llm` asks a language model what to find, and shares everything else; `engine_choice` tells them apart. Reading order
//! of the modules: texts (offsets) · split · index (sentences with their positions) · indexer · corpus (their words) ·
//! lexicon · exclusions (near misses) · addressed (orders to a machine) · the finders · classify · stories · llm.

mod action;
mod addressed;
mod assignee;

mod choices;
pub mod claims;
mod classify;
mod columns;
mod corpus;
mod cues;
mod dates;
mod decision;
mod ears;
mod engine_choice;
mod exclusions;
mod extraction;
pub mod find;
mod fingerprint;
pub mod heads;
mod index;
mod indexer;
mod issues;
mod kinds;
mod lexicon;
mod llm;
mod need;
mod persons;
mod quantities;
mod question;
mod regenerate;
mod reviewed;
mod risk;
pub mod sameness;
mod sentence;
mod settled;
mod speakers;
mod split;
mod stories;
mod summary;
mod synonyms;
mod texts;
mod tokens;
mod wording;
mod written;

use std::sync::Arc;

use actors::run::AnalysisType;
use serde::{Deserialize, Serialize};

use super::glossary::ProjectTerms;
use super::loop_control::{Halted, LoopControl};
use super::request::ReadySource;
use super::result::{
    ActionItemDraft, CheckedItems, Citation, DecisionDraft, OpenQuestionDraft, Priority, QualityCategory,
    RequirementDraft, RequirementType, RiskDraft, Summary, UserStoryDraft,
};

#[cfg(test)]
mod gold;

pub use corpus::{Corpus, PreparedSentence};
pub use engine_choice::{EngineChoice, EngineKind, ModelUse};
pub use extraction::{EngineReport, Extraction};
pub use fingerprint::{RecordedKind, recorded_key};
pub use heads::TrainedHeads;
pub use index::{BlockContext, Index, Sentence};
pub use indexer::Indexer;
pub use issues::{conflict_message, quality_score};
pub use regenerate::regenerate;
pub use reviewed::{edited_story_quality, requirement_key, requirement_quality, story_key};
pub use stories::describe;
pub use texts::{OpenText, Texts};

/// The analysis rules of a run. Every method is pure: the same input, and the same answers of a model, give the same output.
pub trait Engine: Send + Sync {
    /// Version of the engine. Change it with every change in the results, so that no older checkpoint is used.
    fn version(&self) -> &str;

    /// Whether a sentence is an order to a machine that reads the document. Nothing is made of it, and a warning says where
    /// it is.
    fn order(&self, sentence: &PreparedSentence) -> Option<Certainty> {
        order_by(TrainedHeads::trained(), sentence)
    }

    /// Returns the relevant sentences in reading order.
    fn find(&self, corpus: &Corpus, control: &LoopControl) -> Result<Vec<Finding>, Halted>;

    /// Returns the relevant sentences for this type of analysis, with what it took to find them. Kinds that are not
    /// wanted may be among them.
    fn extract(&self, corpus: &Corpus, _: AnalysisType, control: &LoopControl) -> Result<Extraction, Halted> {
        Ok(Extraction { findings: self.find(corpus, control)?, report: EngineReport::default() })
    }

    /// Whether the engine knows a language, given by its ISO 639 code in any case; empty is unknown.
    fn covers(&self, language: &str) -> bool {
        ["", "en", "eng"].iter().any(|known| language.eq_ignore_ascii_case(known))
    }

    /// Returns the items of findings; duplicates are merged.
    fn classify(
        &self,
        corpus: &Corpus,
        sources: &[ReadySource],
        findings: &[Finding],
        control: &LoopControl,
    ) -> Result<Items, Halted>;

    /// Returns user stories derived from requirements.
    fn stories(&self, requirements: &[RequirementDraft], control: &LoopControl) -> Result<Vec<UserStoryDraft>, Halted>;

    /// Returns issues, conflicts and scores.
    fn check(
        &self,
        requirements: &[RequirementDraft],
        stories: &[UserStoryDraft],
        control: &LoopControl,
    ) -> Result<CheckedItems, Halted>;

    /// Returns the summary of the run.
    fn summarize(
        &self,
        corpus: &Corpus,
        sources: &[ReadySource],
        items: &Items,
        stories: usize,
        control: &LoopControl,
    ) -> Result<Summary, Halted>;
}

/// How sure a judgement is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Certainty {
    /// By weights.
    Likely,
    /// By its very words.
    Certain,
}

fn order_by(heads: &TrainedHeads, sentence: &PreparedSentence) -> Option<Certainty> {
    if addressed::is_addressed(&sentence.lower) { Some(Certainty::Certain) } else { heads.order(sentence) }
}

/// One relevant sentence, or a few that belong together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub kind: FindingKind,
    /// Position in the index of the sentence to quote.
    pub sentence: usize,
    /// Further sentences that support it, e.g. a list's lead-in.
    pub also: Vec<usize>,
    /// The item in one sentence, white space collapsed.
    pub statement: String,
    /// 0–1: the share of findings like this one that were right, see [`heads::Calibration`]; of a model's, how sure it says it is.
    pub confidence: f64,
    /// What a model says of it; `None` where the rules decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judgement>,
}

/// A model's judgement of a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    pub kind: RequirementType,
    pub category: Option<QualityCategory>,
    /// Counts where the words of the source state none.
    pub priority: Priority,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FindingKind {
    Requirement,
    Risk,
    OpenQuestion,
    ActionItem,
    Decision,
}

impl FindingKind {
    /// Whether an analysis of this type includes findings of this kind.
    pub fn is_wanted(self, analysis: AnalysisType) -> bool {
        match self {
            Self::Requirement => analysis.wants_requirements(),
            Self::Risk | Self::OpenQuestion => analysis.wants_risks(),
            Self::ActionItem | Self::Decision => analysis.wants_minutes(),
        }
    }
}

/// All items found, by kind, in reading order.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Items {
    pub requirements: Vec<RequirementDraft>,
    pub risks: Vec<RiskDraft>,
    pub open_questions: Vec<OpenQuestionDraft>,
    pub action_items: Vec<ActionItemDraft>,
    pub decisions: Vec<DecisionDraft>,
    /// How many findings were merged into another.
    pub merged: u32,
    /// How many findings and items were left out because of the bounds.
    pub left_out: usize,
}

impl Items {
    /// Truncates each kind to `most` items; returns how many were removed.
    pub fn keep(&mut self, most: usize) -> usize {
        fn cut<T>(items: &mut Vec<T>, most: usize) -> usize {
            let gone = items.len().saturating_sub(most);
            items.truncate(most);
            gone
        }
        cut(&mut self.requirements, most)
            + cut(&mut self.risks, most)
            + cut(&mut self.open_questions, most)
            + cut(&mut self.action_items, most)
            + cut(&mut self.decisions, most)
    }

    /// Returns every source reference of every item.
    pub fn all_sources(&self) -> impl Iterator<Item = &Citation> {
        let requirements = self.requirements.iter().flat_map(|item| &item.sources);
        let risks = self.risks.iter().flat_map(|item| &item.sources);
        let questions = self.open_questions.iter().flat_map(|item| &item.sources);
        let actions = self.action_items.iter().flat_map(|item| &item.sources);
        let decisions = self.decisions.iter().flat_map(|item| &item.sources);
        requirements.chain(risks).chain(questions).chain(actions).chain(decisions)
    }
}

/// A rule-based engine over sentences with their headings and neighbours. Its rules are for English; it accepts text in
/// any language.
#[derive(Debug, Clone)]
pub struct Embedded {
    heads: &'static TrainedHeads,
    /// How the project names things.
    terms: Arc<ProjectTerms>,
    version: String,
}

/// Changes with the results, so that no older checkpoint is used.
const VERSION: &str = "embedded-7";

impl Default for Embedded {
    fn default() -> Self {
        Self::with(TrainedHeads::trained())
    }
}

impl Embedded {
    /// Returns the engine with other heads than those of this program, to measure them.
    pub fn with(heads: &'static TrainedHeads) -> Self {
        Self { heads, terms: Arc::default(), version: VERSION.to_owned() }
    }

    /// Returns the engine for a project with these terms.
    #[must_use]
    pub fn for_project(terms: Arc<ProjectTerms>) -> Self {
        let version = if terms.is_empty() { VERSION.to_owned() } else { format!("{VERSION} {}", terms.digest()) };
        Self { terms, version, ..Self::default() }
    }
}

impl Engine for Embedded {
    fn version(&self) -> &str {
        &self.version
    }

    fn order(&self, sentence: &PreparedSentence) -> Option<Certainty> {
        order_by(self.heads, sentence)
    }

    fn find(&self, corpus: &Corpus, control: &LoopControl) -> Result<Vec<Finding>, Halted> {
        let mut findings = find::findings(self.heads, corpus, control)?;
        settled::apply_later_decisions(&self.terms, corpus, &mut findings, control)?;
        Ok(findings)
    }

    fn classify(
        &self,
        corpus: &Corpus,
        sources: &[ReadySource],
        findings: &[Finding],
        control: &LoopControl,
    ) -> Result<Items, Halted> {
        classify::items(self, corpus, sources, findings, control)
    }

    fn stories(&self, requirements: &[RequirementDraft], control: &LoopControl) -> Result<Vec<UserStoryDraft>, Halted> {
        stories::stories(&self.terms, requirements, control)
    }

    fn check(
        &self,
        requirements: &[RequirementDraft],
        stories: &[UserStoryDraft],
        control: &LoopControl,
    ) -> Result<CheckedItems, Halted> {
        issues::check(self, requirements, stories, control)
    }

    fn summarize(
        &self,
        corpus: &Corpus,
        sources: &[ReadySource],
        items: &Items,
        stories: usize,
        control: &LoopControl,
    ) -> Result<Summary, Halted> {
        summary::summary(corpus, sources, items, stories, control)
    }
}
