//! Checks a result that came over the network: the service may be broken, or somebody else.
//!
//! An item stays only with a quote that stands verbatim at its offsets in a source that was sent. Texts that could not
//! be stored, keys that occur twice and figures out of range make the whole result unacceptable.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use readers::{Cue, SourceText};

use super::super::engine::OpenText;
use super::super::request::SourceKind;
use super::super::result::{Citation, PipelineResult, Warning};

/// The longest title and key, and the longest of all other texts, in characters. A sentence of a source has at most
/// 2,000.
const MAX_TITLE_LENGTH: usize = 500;
const MAX_TEXT_LENGTH: usize = 20_000;
/// The most entries of each list of a summary, and of the warnings.
const MAX_LINES: usize = 10_000;

/// Why a result is not accepted, in words for whoever operates the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct UnacceptableResult(&'static str);

/// A result whose quotes are being looked up, one source after the other.
#[derive(Debug)]
pub struct ResultVerification {
    result: PipelineResult,
    /// The citations of each kind of source that were not found yet, by their place among all.
    open: Vec<usize>,
    found: HashSet<usize>,
}

impl ResultVerification {
    /// # Errors
    /// Something in the result could not be stored or shown.
    pub fn new(mut result: PipelineResult) -> Result<Self, UnacceptableResult> {
        check(&mut result)?;
        let open = (0..result.citations().count()).collect();
        Ok(Self { result, open, found: HashSet::new() })
    }

    /// Looks up the quotes of one source.
    pub fn look_in(&mut self, id: &str, kind: SourceKind, text: Arc<SourceText>) {
        let text = OpenText::new(text);
        let origins = origins(text.source());
        let cited: Vec<&mut Citation> = self.result.citations().collect();
        self.open.retain(|at| {
            let Some(citation) = cited.get(*at).filter(|citation| citation.kind == kind) else { return true };
            let own = citation.source_id == id && is_verbatim(&text, citation, Some(citation.start_offset));
            let woven = origins.get(citation.source_id.as_str());
            let is_found = own || woven.is_some_and(|cues| is_verbatim(&text, citation, woven_offset(cues, citation)));
            if is_found {
                self.found.insert(*at);
            }
            !is_found
        });
    }

    /// Returns the result without what was not found; a warning and the metrics say how much that is.
    #[must_use]
    pub fn finish(self) -> PipelineResult {
        let Self { mut result, open, found } = self;
        if open.is_empty() {
            return result;
        }
        let mut at = 0;
        let mut dropped = 0;
        let mut keep = |sources: &mut Vec<Citation>| {
            sources.retain(|_| {
                at += 1;
                found.contains(&(at - 1))
            });
            dropped += u32::from(sources.is_empty());
            !sources.is_empty()
        };
        // In the order of `PipelineResult::citations`.
        result.requirements.retain_mut(|item| keep(&mut item.sources));
        result.user_stories.retain_mut(|item| keep(&mut item.sources));
        result.risks.retain_mut(|item| keep(&mut item.sources));
        result.open_questions.retain_mut(|item| keep(&mut item.sources));
        result.action_items.retain_mut(|item| keep(&mut item.sources));
        result.decisions.retain_mut(|item| keep(&mut item.sources));
        unlink(&mut result);
        count(&mut result, dropped);
        result
    }
}

/// The cues of a text that was woven from several sources, by the source.
fn origins(text: &SourceText) -> HashMap<&str, Vec<(&Cue, usize)>> {
    let mut origins: HashMap<&str, Vec<(&Cue, usize)>> = HashMap::new();
    for cue in &text.cues {
        if let Some(origin) = &cue.origin {
            origins.entry(origin.source_id.as_str()).or_default().push((cue, origin.start_offset));
        }
    }
    origins.values_mut().for_each(|cues| cues.sort_by_key(|(_, start)| *start));
    origins
}

/// Where in the woven text a citation of one of its sources starts.
fn woven_offset(cues: &[(&Cue, usize)], citation: &Citation) -> Option<usize> {
    let behind = cues.partition_point(|(_, start)| *start <= citation.start_offset);
    let (cue, start) = cues.get(behind.checked_sub(1)?)?;
    cue.start_offset.checked_add(citation.start_offset - start)
}

fn is_verbatim(text: &OpenText, citation: &Citation, start: Option<usize>) -> bool {
    let length = citation.end_offset.checked_sub(citation.start_offset);
    let end = start.zip(length).and_then(|(start, length)| start.checked_add(length));
    let actual = start.zip(end).and_then(|(start, end)| text.slice(start, end));
    !citation.quote.trim().is_empty() && actual == Some(citation.quote.as_str())
}

/// Removes references to requirements that are not in the result.
fn unlink(result: &mut PipelineResult) {
    let known: HashSet<String> = result.requirements.iter().map(|item| item.key.clone()).collect();
    for item in &mut result.requirements {
        item.duplicate_of = item.duplicate_of.take().filter(|key| known.contains(key));
        item.conflicts_with.retain(|key| known.contains(key));
    }
    for story in &mut result.user_stories {
        story.requirement_keys.retain(|key| known.contains(key));
    }
}

fn count(result: &mut PipelineResult, dropped: u32) {
    let size = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    let (mut by_type, mut by_priority) = (BTreeMap::new(), BTreeMap::new());
    for item in &result.requirements {
        *by_type.entry(item.kind).or_default() += 1;
        *by_priority.entry(item.priority).or_default() += 1;
    }
    let metrics = &mut result.metrics;
    (metrics.by_type, metrics.by_priority) = (by_type, by_priority);
    metrics.requirements = size(result.requirements.len());
    metrics.user_stories = size(result.user_stories.len());
    metrics.acceptance_criteria = size(result.user_stories.iter().map(|story| story.acceptance_criteria.len()).sum());
    metrics.risks = size(result.risks.len());
    metrics.open_questions = size(result.open_questions.len());
    metrics.action_items = size(result.action_items.len());
    metrics.decisions = size(result.decisions.len());
    let all = size(result.requirements.len() + result.user_stories.len());
    metrics.by_status = BTreeMap::from([("NEEDS_REVIEW".to_owned(), all)]);
    metrics.ungrounded = metrics.ungrounded.saturating_add(dropped);
    if dropped > 0 {
        result.warnings.push(Warning {
            code: Warning::UNGROUNDED_ITEMS_DROPPED.to_owned(),
            message: format!("{dropped} items were left out because their quote was not found in the source."),
            source_id: None,
        });
    }
}

fn check(result: &mut PipelineResult) -> Result<(), UnacceptableResult> {
    let need = |holds: bool, what| if holds { Ok(()) } else { Err(UnacceptableResult(what)) };
    let mut is_storable = true;
    let mut see = |text: &str, most: usize| {
        is_storable &= text.len() <= 4 * most && text.chars().count() <= most && !text.contains('\0');
    };
    let mut keys = (HashSet::new(), HashSet::new());
    let mut are_unique = true;
    let mut are_scores = true;
    for item in &result.requirements {
        [&item.key, &item.title].into_iter().for_each(|text| see(text, MAX_TITLE_LENGTH));
        see(&item.statement, MAX_TEXT_LENGTH);
        item.quality_issues.iter().for_each(|issue| see(&issue.message, MAX_TEXT_LENGTH));
        item.duplicate_of.iter().chain(&item.conflicts_with).for_each(|key| see(key, MAX_TITLE_LENGTH));
        are_unique &= !item.key.is_empty() && keys.0.insert(item.key.as_str());
        are_scores &= (0.0..=1.0).contains(&item.confidence);
    }
    for story in &result.user_stories {
        [&story.key, &story.title].into_iter().for_each(|text| see(text, MAX_TITLE_LENGTH));
        [&story.goal, &story.description].into_iter().for_each(|text| see(text, MAX_TEXT_LENGTH));
        story.role.iter().chain(&story.benefit).for_each(|text| see(text, MAX_TEXT_LENGTH));
        story.quality_issues.iter().for_each(|issue| see(&issue.message, MAX_TEXT_LENGTH));
        story.requirement_keys.iter().for_each(|key| see(key, MAX_TITLE_LENGTH));
        for criterion in &story.acceptance_criteria {
            [&criterion.key, &criterion.text].into_iter().for_each(|text| see(text, MAX_TEXT_LENGTH));
            let clauses = criterion.given.iter().chain(&criterion.when).chain(&criterion.then);
            clauses.for_each(|text| see(text, MAX_TEXT_LENGTH));
        }
        are_unique &= !story.key.is_empty() && keys.1.insert(story.key.as_str());
        are_scores &= (0.0..=1.0).contains(&story.quality_score);
    }
    for risk in &result.risks {
        [&risk.key, &risk.title, &risk.description].into_iter().chain(&risk.mitigation).for_each(|text| {
            see(text, MAX_TEXT_LENGTH);
        });
    }
    for item in &result.open_questions {
        [&item.key, &item.question, &item.why].into_iter().chain(&item.raised_by).for_each(|text| {
            see(text, MAX_TEXT_LENGTH);
        });
    }
    for item in &result.action_items {
        [&item.key, &item.text].into_iter().chain(&item.assignee).for_each(|text| see(text, MAX_TEXT_LENGTH));
        let is_day = |day: &String| chrono::NaiveDate::parse_from_str(day, "%Y-%m-%d").is_ok() && day.len() == 10;
        need(item.due_date.iter().all(is_day), "a due date is no day")?;
    }
    result.decisions.iter().for_each(|item| {
        see(&item.key, MAX_TEXT_LENGTH);
        see(&item.text, MAX_TEXT_LENGTH);
    });
    let summary = &result.summary;
    let lines = [&summary.key_decisions, &summary.scope, &summary.out_of_scope, &summary.assumptions];
    need(lines.iter().all(|lines| lines.len() <= MAX_LINES), "the summary is too long")?;
    need(result.warnings.len() <= MAX_LINES, "there are too many warnings")?;
    see(&summary.text, MAX_TEXT_LENGTH);
    lines.into_iter().flatten().for_each(|line| see(line, MAX_TEXT_LENGTH));
    for warning in &result.warnings {
        [&warning.code, &warning.message].into_iter().chain(&warning.source_id).for_each(|text| {
            see(text, MAX_TEXT_LENGTH);
        });
    }
    are_scores &= [result.quality.score, result.quality.coverage].iter().all(|score| (0.0..=1.0).contains(score));
    drop(keys);
    for citation in result.citations() {
        see(&citation.quote, MAX_TEXT_LENGTH);
        citation.section.iter().chain(&citation.speaker).for_each(|text| see(text, MAX_TEXT_LENGTH));
    }
    need(is_storable, "a text is too long, or holds a character that can't be stored")?;
    need(are_unique, "a key is empty or occurs twice")?;
    need(are_scores, "a score is not between 0 and 1")
}

#[cfg(test)]
mod tests {
    use actors::language::Language;
    use actors::run::AnalysisType;
    use readers::{CueOrigin, CueText, Format, read, written};

    use super::*;
    use crate::request::{Bounds, CancelToken, Request, Source};
    use crate::run::PipelineOutcome;
    use crate::{NoCheckpoints, NoProgressSink, Workers, run};

    const NOTE: &str = "The system must let a patient cancel an appointment.\n\nThe system shall answer within two seconds.\n\n\
                        As a clerk, I want to see the list, so that I can fill slots.\n";

    async fn result_of(source: Source) -> PipelineResult {
        let request = Request {
            job_id: "job".to_owned(),
            attempt: 1,
            analysis_type: AnalysisType::Full,
            language: Language::Auto,
            sources: vec![source],
            bounds: Bounds::default(),
        };
        let outcome = run(request, &NoCheckpoints, &NoProgressSink, CancelToken::new(), &Workers::new(1)).await;
        match outcome {
            PipelineOutcome::Completed(result) | PipelineOutcome::Partial(result, _) => *result,
            other => panic!("{other:?}"),
        }
    }

    async fn analysed() -> (PipelineResult, Arc<SourceText>) {
        let text = Arc::new(read(Format::Text, NOTE.as_bytes()).unwrap());
        (result_of(Source::document("a", "a.txt", Arc::clone(&text))).await, text)
    }

    #[tokio::test]
    async fn what_is_true_stays_as_it_is() {
        let (result, text) = analysed().await;
        assert_eq!(result.requirements.len(), 3);
        let mut verification = ResultVerification::new(result.clone()).unwrap();
        verification.look_in("a", SourceKind::Document, text);
        assert_eq!(verification.finish(), result);
    }

    #[tokio::test]
    async fn quotes_of_a_woven_text_are_found_in_what_it_was_woven_from() {
        let said = |source_id: &str, start_offset: usize, start_ms: u64, words: &str| CueText {
            start_ms,
            end_ms: start_ms + 900,
            speaker: Some(source_id.to_owned()),
            words: words.to_owned(),
            origin: Some(CueOrigin { source_id: source_id.to_owned(), start_offset }),
        };
        let text = written(vec![
            said("ada", 40, 0, "The system must ring when a guest arrives."),
            said("ben", 7, 1_000, "The system shall print a badge for each guest."),
            said("ada", 90, 2_000, "And the system must stop after ten seconds."),
        ]);
        let text = Arc::new(text.unwrap());
        let result = result_of(Source::recording("meeting", "Meeting", Arc::clone(&text))).await;
        let cited: HashSet<&str> =
            result.requirements.iter().flat_map(|item| &item.sources).map(|source| source.source_id.as_str()).collect();
        assert_eq!(cited, HashSet::from(["ada", "ben"]), "{result:?}");
        let verify = |result: PipelineResult| {
            let mut verification = ResultVerification::new(result).unwrap();
            verification.look_in("meeting", SourceKind::Recording, Arc::clone(&text));
            verification.finish()
        };
        assert_eq!(verify(result.clone()), result);
        let mut moved = result.clone();
        moved.requirements[0].sources[0].start_offset += 1;
        moved.requirements[0].sources[0].end_offset += 1;
        assert_eq!(verify(moved).metrics.ungrounded, 1);
    }

    #[tokio::test]
    async fn what_is_not_in_the_sources_goes_and_is_counted() {
        let lies: [fn(&mut Citation); 7] = [
            |citation| citation.quote.push('x'),
            |citation| citation.quote = " ".to_owned(),
            |citation| citation.start_offset += 1,
            |citation| citation.end_offset = usize::MAX,
            |citation| (citation.start_offset, citation.end_offset) = (usize::MAX, 0),
            |citation| citation.source_id = "b".to_owned(),
            |citation| citation.kind = SourceKind::Recording,
        ];
        let (result, text) = analysed().await;
        for lie in lies {
            let mut lying = result.clone();
            let key = lying.requirements[0].key.clone();
            lying.requirements[1].conflicts_with = vec![key.clone()];
            lying.requirements[2].duplicate_of = Some(key);
            lie(&mut lying.requirements[0].sources[0]);
            let mut verification = ResultVerification::new(lying).unwrap();
            verification.look_in("a", SourceKind::Document, Arc::clone(&text));
            let left = verification.finish();
            assert_eq!((left.requirements.len(), left.metrics.requirements, left.metrics.ungrounded), (2, 2, 1));
            assert!(left.requirements.iter().all(|item| item.conflicts_with.is_empty() && item.duplicate_of.is_none()));
            assert_eq!(left.warnings.last().unwrap().code, Warning::UNGROUNDED_ITEMS_DROPPED);
        }
        let nothing = ResultVerification::new(result).unwrap().finish();
        assert!(nothing.requirements.is_empty() && nothing.user_stories.is_empty(), "no source was looked at");
    }

    #[tokio::test]
    async fn what_could_not_be_stored_is_not_accepted() {
        let breaks: [fn(&mut PipelineResult); 7] = [
            |result| result.requirements[1].key = result.requirements[0].key.clone(),
            |result| result.requirements[0].key.clear(),
            |result| result.requirements[0].statement.push('\0'),
            |result| result.requirements[0].title = "x".repeat(MAX_TITLE_LENGTH + 1),
            |result| result.requirements[0].confidence = 1.5,
            |result| result.summary.text = "x".repeat(MAX_TEXT_LENGTH + 1),
            |result| result.summary.scope = vec![String::new(); MAX_LINES + 1],
        ];
        let (result, _) = analysed().await;
        for broken in breaks {
            let mut result = result.clone();
            broken(&mut result);
            assert!(ResultVerification::new(result).is_err());
        }
    }
}
