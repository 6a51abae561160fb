//! Node that assembles the result and computes its metrics. What cites a text that was woven from several sources, cites
//! the source itself from here on.

use std::collections::{BTreeMap, HashMap};

use actors::run::Node;
use readers::{Cue, CueOrigin};
use serde::{Deserialize, Serialize};

use super::super::engine::{EngineReport, Items, Texts};
use super::super::loop_control::Halted;
use super::super::request::ReadySource;
use super::super::result::{
    Citation, Metrics, ModelMetrics, PipelineResult, Quality, ResultStatus, Summary, UserStoryDraft, Warning,
};
use super::{NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FinalParts {
    pub job_id: String,
    pub sources: Vec<ReadySource>,
    pub items: Items,
    pub user_stories: Vec<UserStoryDraft>,
    pub quality: Quality,
    pub summary: Summary,
    pub dropped: u32,
    /// Warnings about sources that were left out, wholly or in part.
    pub warnings: Vec<Warning>,
    pub report: EngineReport,
}

pub(in super::super) struct Finalize;

impl Step for Finalize {
    const NODE: Node = Node::Finalize;
    type Input = FinalParts;
    type Output = PipelineResult;

    fn work(parts: &FinalParts, context: &NodeContext) -> Result<PipelineResult, Halted> {
        context.control.report(0, 1)?;
        let items = parts.items.clone();
        let mut warnings = parts.warnings.clone();
        warnings.extend(left_out(items.left_out));
        warnings.extend(parts.report.warnings.iter().cloned());
        let is_covered = |source: &ReadySource| context.engine.covers(&source.language);
        warnings.extend(parts.sources.iter().filter(|source| !is_covered(source)).map(other_language));
        let status = if warnings.is_empty() { ResultStatus::Completed } else { ResultStatus::Partial };
        if parts.dropped > 0 {
            warnings.push(Warning {
                code: Warning::UNGROUNDED_ITEMS_DROPPED.to_owned(),
                message: format!(
                    "{} items were left out because their quote was not found in the source.",
                    parts.dropped
                ),
                source_id: None,
            });
        }
        warnings.extend(parts.report.model.as_ref().and_then(dropped_items));
        let mut result = PipelineResult {
            job_id: parts.job_id.clone(),
            status,
            metrics: metrics(parts),
            requirements: items.requirements,
            user_stories: parts.user_stories.clone(),
            risks: items.risks,
            open_questions: items.open_questions,
            action_items: items.action_items,
            decisions: items.decisions,
            summary: parts.summary.clone(),
            quality: parts.quality.clone(),
            warnings,
        };
        let origins = Origins::of(&parts.sources, &context.texts);
        result.citations().for_each(|citation| origins.restore(citation));
        Ok(result)
    }
}

/// The texts that were woven from several sources, by the id under which they were analysed.
struct Origins<'a>(HashMap<&'a str, &'a [Cue]>);

impl<'a> Origins<'a> {
    fn of(sources: &'a [ReadySource], texts: &'a Texts) -> Self {
        let woven = sources.iter().filter_map(|source| {
            let cues = texts.get(source.slot)?.source().cues.as_slice();
            cues.iter().any(|cue| cue.origin.is_some()).then_some((source.id.as_str(), cues))
        });
        Self(woven.collect())
    }

    /// Makes a citation of a woven text one of the source that it came from. No sentence crosses from one source into
    /// another.
    fn restore(&self, citation: &mut Citation) {
        let Some(cues) = self.0.get(citation.source_id.as_str()) else { return };
        let behind = cues.partition_point(|cue| cue.start_offset <= citation.start_offset);
        let Some(cue) = behind.checked_sub(1).and_then(|at| cues.get(at)) else { return };
        let Some(CueOrigin { source_id, start_offset }) = &cue.origin else { return };
        let moved = |offset: usize| offset.saturating_sub(cue.start_offset) + start_offset;
        citation.source_id.clone_from(source_id);
        citation.start_offset = moved(citation.start_offset);
        citation.end_offset = moved(citation.end_offset);
    }
}

fn left_out(items: usize) -> Option<Warning> {
    (items > 0).then(|| Warning {
        code: Warning::TOO_MANY_ITEMS.to_owned(),
        message: format!("More was found than a run keeps: {items} sentences or items were left out."),
        source_id: None,
    })
}

/// Warns about a source in a language that the engine does not cover: what it says is as good as left out.
fn other_language(source: &ReadySource) -> Warning {
    Warning {
        code: Warning::LANGUAGE_NOT_COVERED.to_owned(),
        message: format!("{}: its language is {}; the embedded engine knows English.", source.name, source.language),
        source_id: Some(source.id.clone()),
    }
}

/// Says how many items of a model were dropped by the checks.
fn dropped_items(model: &ModelMetrics) -> Option<Warning> {
    let (quotes, unsupported) = (model.quotes.dropped, model.unsupported);
    (quotes + unsupported > 0).then(|| Warning {
        code: Warning::MODEL_ITEMS_DROPPED.to_owned(),
        message: format!(
            "Of what the language model found, {quotes} items were left out because their quote is not in the source, \
             and {unsupported} because their quote does not support them."
        ),
        source_id: None,
    })
}

fn metrics(parts: &FinalParts) -> Metrics {
    let items = &parts.items;
    let mut metrics = Metrics {
        requirements: count(items.requirements.len()),
        user_stories: count(parts.user_stories.len()),
        acceptance_criteria: count(parts.user_stories.iter().map(|story| story.acceptance_criteria.len()).sum()),
        risks: count(items.risks.len()),
        open_questions: count(items.open_questions.len()),
        action_items: count(items.action_items.len()),
        decisions: count(items.decisions.len()),
        sources: count(parts.sources.len()),
        words: parts.sources.iter().map(|source| source.words).sum(),
        minutes: parts.sources.iter().map(|source| source.spoken_ms).sum::<u64>().div_ceil(60_000),
        ungrounded: parts.dropped,
        tokens: parts.report.tokens,
        model: parts.report.model.clone(),
        by_status: BTreeMap::from([(
            "NEEDS_REVIEW".to_owned(),
            count(items.requirements.len() + parts.user_stories.len()),
        )]),
        ..Metrics::default()
    };
    for requirement in &items.requirements {
        *metrics.by_type.entry(requirement.kind).or_default() += 1;
        *metrics.by_priority.entry(requirement.priority).or_default() += 1;
    }
    metrics
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
