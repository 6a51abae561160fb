//! Classification of findings into items with type, category, priority and title; findings that say the same become one
//! item with all their sources.

use std::collections::HashMap;
use std::sync::LazyLock;

use chrono::NaiveDate;
use regex::Regex;

use super::super::glossary::ProjectTerms;
use super::super::loop_control::{Halted, LoopControl};
use super::super::request::ReadySource;
use super::super::result::{
    ActionItemDraft, Citation, DecisionDraft, OpenQuestionDraft, Priority, QualityCategory, RequirementDraft,
    RequirementType, RiskDraft, Severity,
};
use super::corpus::Corpus;
use super::fingerprint::{Fingerprint, RecordedKind, recorded_key};
use super::heads::{TrainedHeads, of_requirement};
use super::index::BlockContext;
use super::lexicon::pattern;
use super::sameness::{fingerprints, originals};
use super::{Embedded, Finding, FindingKind, Items, assignee, dates, kinds, question, risk, wording};

/// The name of a column of dates.
static DUE_COLUMN: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(due( date)?|deadline|by( when)?|until|when|date|target( date)?|finish(ed)? by)$"));

/// Returns all items, each kind in reading order.
pub fn items(
    engine: &Embedded,
    corpus: &Corpus,
    sources: &[ReadySource],
    findings: &[Finding],
    control: &LoopControl,
) -> Result<Items, Halted> {
    let mut items = Items::default();
    let mut merged = 0;
    for kind in [
        FindingKind::Requirement,
        FindingKind::Risk,
        FindingKind::OpenQuestion,
        FindingKind::ActionItem,
        FindingKind::Decision,
    ] {
        let of_kind: Vec<&Finding> = findings.iter().filter(|finding| finding.kind == kind).collect();
        for group in groups(&engine.terms, &of_kind, control)? {
            control.report(merged, findings.len())?;
            merged += group.len();
            items.merged += u32::try_from(group.len().saturating_sub(1)).unwrap_or(0);
            add(engine, &mut items, corpus, sources, kind, &group);
        }
    }
    Ok(items)
}

/// Groups findings that say the same; the first one leads its group. Those with the same words are one whatever the project's
/// terms make of their signs, since the words are an item's key.
fn groups<'a>(
    terms: &ProjectTerms,
    findings: &[&'a Finding],
    control: &LoopControl,
) -> Result<Vec<Vec<&'a Finding>>, Halted> {
    let fingerprints = fingerprints(terms, findings.iter().map(|finding| finding.statement.as_str()), control)?;
    let first = originals(&fingerprints, control)?;
    let mut groups: Vec<Vec<&Finding>> = vec![Vec::new(); findings.len()];
    let mut by_key: HashMap<String, usize> = HashMap::new();
    for (at, finding) in findings.iter().enumerate() {
        let root = first.get(at).copied().flatten().unwrap_or(at);
        let root = if terms.is_empty() {
            root
        } else {
            control.check()?;
            *by_key.entry(Fingerprint::of(&finding.statement).key("")).or_insert(root)
        };
        if let Some(group) = groups.get_mut(root) {
            group.push(finding);
        }
    }
    groups.retain(|group| !group.is_empty());
    Ok(groups)
}

fn add(
    engine: &Embedded,
    items: &mut Items,
    corpus: &Corpus,
    sources: &[ReadySource],
    kind: FindingKind,
    group: &[&Finding],
) {
    let Some(finding) = group.first() else { return };
    let Some(sentence) = corpus.sentence(finding.sentence) else { return };
    let sources = references(corpus, sources, group);
    let statement = if sentence.context == BlockContext::Speech {
        wording::fluent(&finding.statement)
    } else {
        finding.statement.clone()
    };
    let fingerprint = Fingerprint::of(&finding.statement);
    match kind {
        FindingKind::Requirement => {
            let section = corpus.section(finding.sentence).unwrap_or_default().to_lowercase();
            let (kind, category) = requirement_type(engine.heads, corpus, finding, &section);
            items.requirements.push(RequirementDraft {
                key: fingerprint.key("requirement"),
                kind,
                category,
                title: wording::title(&statement),
                statement,
                priority: priority(corpus, finding),
                confidence: finding.confidence,
                quality_issues: Vec::new(),
                sources,
                duplicate_of: None,
                conflicts_with: Vec::new(),
                pattern: None,
            });
        }
        FindingKind::Risk => items.risks.push(RiskDraft {
            key: recorded_key(RecordedKind::Risk, &finding.statement),
            title: wording::title(&statement),
            severity: risk::severity(&sentence.lower),
            likelihood: risk::chance(&sentence.lower).unwrap_or(Severity::Medium),
            mitigation: None,
            description: statement,
            sources,
        }),
        FindingKind::OpenQuestion => items.open_questions.push(OpenQuestionDraft {
            key: recorded_key(RecordedKind::OpenQuestion, &finding.statement),
            question: statement,
            why: question::why(sentence).to_owned(),
            raised_by: corpus.speaker(finding.sentence).map(str::to_owned),
            sources,
        }),
        FindingKind::ActionItem => items.action_items.push(ActionItemDraft {
            key: recorded_key(RecordedKind::ActionItem, &finding.statement),
            assignee: assignee::of(corpus, finding.sentence),
            due_date: due_date(corpus, finding.sentence).map(|date| date.to_string()),
            text: statement,
            sources,
        }),
        FindingKind::Decision => {
            let key = recorded_key(RecordedKind::Decision, &finding.statement);
            items.decisions.push(DecisionDraft { key, text: statement, sources });
        }
    }
}

/// Returns the priority that the source states, or else that a model sees in it.
fn priority(corpus: &Corpus, finding: &Finding) -> Priority {
    let row: Vec<&str> = corpus.row(finding.sentence).map(|(_, cell)| cell.lower.as_str()).collect();
    match (kinds::priority(&finding.statement, &row), finding.judged) {
        (Priority::Unknown, Some(judged)) => judged.priority,
        (stated, _) => stated,
    }
}

/// Returns the day by which a task is due: named in its sentence, or in its row's column of dates.
fn due_date(corpus: &Corpus, at: usize) -> Option<NaiveDate> {
    let base = corpus.date(at);
    let own = dates::due(&corpus.sentence(at)?.lower, base);
    own.or_else(|| {
        let mut in_column = corpus.row(at).filter(|(column, _)| DUE_COLUMN.is_match(column));
        in_column.find_map(|(_, cell)| dates::due(&cell.lower, base))
    })
}

fn requirement_type(
    heads: &TrainedHeads,
    corpus: &Corpus,
    finding: &Finding,
    section: &str,
) -> (RequirementType, Option<QualityCategory>) {
    if let Some(judged) = finding.judged.filter(|judged| judged.kind != RequirementType::Unknown) {
        return (judged.kind, judged.category);
    }
    heads.requirement_type(&of_requirement(&finding.statement, section, corpus.common_words(finding.sentence)))
}

/// Maximum number of source references of an item. A statement that is repeated more often has the first ones.
const MAX_SOURCES: usize = 100;

fn references(corpus: &Corpus, sources: &[ReadySource], group: &[&Finding]) -> Vec<Citation> {
    let quoted = group.iter().flat_map(|finding| std::iter::once(finding.sentence).chain(finding.also.iter().copied()));
    let mut references: Vec<Citation> = Vec::new();
    for reference in quoted.filter_map(|at| corpus.reference(at, sources)) {
        if references.len() >= MAX_SOURCES {
            break;
        }
        if !references.contains(&reference) {
            references.push(reference);
        }
    }
    references
}
