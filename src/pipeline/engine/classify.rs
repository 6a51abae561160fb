//! Classification of findings into items with type, category, priority and title; findings that say the same become one
//! item with all their sources.

use super::super::loop_control::{Halted, LoopControl};
use super::super::request::ReadySource;
use super::super::result::{ActionItem, Decision, OpenQuestion, Requirement, Risk, Severity, SourceReference};
use super::book::{Book, PreparedSentence};
use super::duplicates::{Gist, firsts, gists};
use super::index::BlockContext;
use super::{Finding, FindingKind, Items, action, dates, kinds, question, risk, wording};

/// Returns all items, each kind in reading order.
pub fn items(book: &Book, sources: &[ReadySource], findings: &[Finding], pace: &LoopControl) -> Result<Items, Halted> {
    let mut items = Items::default();
    let mut merged = 0;
    for kind in [
        FindingKind::Requirement,
        FindingKind::Risk,
        FindingKind::OpenQuestion,
        FindingKind::ActionItem,
        FindingKind::Decision,
    ] {
        let said: Vec<&Finding> = findings.iter().filter(|finding| finding.kind == kind).collect();
        for group in groups(&said, pace)? {
            pace.mark(merged, findings.len())?;
            merged += group.len();
            items.merged += u32::try_from(group.len().saturating_sub(1)).unwrap_or(0);
            add(&mut items, book, sources, kind, &group);
        }
    }
    Ok(items)
}

/// Groups findings that say the same; the first one leads its group.
fn groups<'a>(said: &[&'a Finding], pace: &LoopControl) -> Result<Vec<Vec<&'a Finding>>, Halted> {
    let gists = gists(said.iter().map(|finding| finding.statement.as_str()), pace)?;
    let first = firsts(&gists, pace)?;
    let mut groups: Vec<Vec<&Finding>> = vec![Vec::new(); said.len()];
    for (at, finding) in said.iter().enumerate() {
        let root = first.get(at).copied().flatten().unwrap_or(at);
        if let Some(group) = groups.get_mut(root) {
            group.push(finding);
        }
    }
    groups.retain(|group| !group.is_empty());
    Ok(groups)
}

fn add(items: &mut Items, book: &Book, sources: &[ReadySource], kind: FindingKind, group: &[&Finding]) {
    let Some(finding) = group.first() else { return };
    let Some(line) = book.line(finding.sentence) else { return };
    let sources = references(book, sources, group);
    let said = if line.place == BlockContext::Speech {
        wording::fluent(&finding.statement)
    } else {
        finding.statement.clone()
    };
    let gist = Gist::of(&finding.statement);
    match kind {
        FindingKind::Requirement => {
            let section = book.section(finding.sentence).unwrap_or_default().to_lowercase();
            let (kind, category) = kinds::of(&finding.statement, &section);
            items.requirements.push(Requirement {
                key: gist.key("requirement"),
                kind,
                category,
                title: wording::title(&said),
                statement: said,
                priority: kinds::priority(&finding.statement, &row_of(book, finding.sentence, line)),
                confidence: finding.confidence,
                quality_issues: Vec::new(),
                sources,
                duplicate_of: None,
                conflicts_with: Vec::new(),
            });
        }
        FindingKind::Risk => items.risks.push(Risk {
            key: gist.key("risk"),
            title: wording::title(&said),
            severity: risk::severity(&line.lower),
            likelihood: risk::chance(&line.lower).unwrap_or(Severity::Medium),
            mitigation: None,
            description: said,
            sources,
        }),
        FindingKind::OpenQuestion => items.open_questions.push(OpenQuestion {
            key: gist.key("question"),
            question: said,
            why: question::why(line).to_owned(),
            raised_by: book.speaker(finding.sentence).map(str::to_owned),
            sources,
        }),
        FindingKind::ActionItem => items.action_items.push(ActionItem {
            key: gist.key("action"),
            assignee: action::assignee(line, book.speaker(finding.sentence), book.people()),
            due_date: dates::full_date(&line.lower),
            text: said,
            sources,
        }),
        FindingKind::Decision => {
            items.decisions.push(Decision { key: gist.key("decision"), text: said, sources });
        }
    }
}

/// Maximum number of source references of an item. A statement that is repeated more often has the first ones.
const MOST_SOURCES: usize = 100;

fn references(book: &Book, sources: &[ReadySource], group: &[&Finding]) -> Vec<SourceReference> {
    let quoted = group.iter().flat_map(|finding| std::iter::once(finding.sentence).chain(finding.also.iter().copied()));
    let mut references: Vec<SourceReference> = Vec::new();
    for reference in quoted.filter_map(|at| book.reference(at, sources)) {
        if references.len() < MOST_SOURCES && !references.contains(&reference) {
            references.push(reference);
        }
    }
    references
}

/// Returns the other cells of the table row that contains a sentence, in lower case.
fn row_of<'a>(book: &'a Book, at: usize, line: &PreparedSentence) -> Vec<&'a str> {
    if line.place != BlockContext::Cell {
        return Vec::new();
    }
    let from = at.saturating_sub(8);
    let near = (from..at + 9).filter(|&other| other != at).filter_map(|other| book.line(other));
    near.filter(|other| other.block == line.block).map(|other| other.lower.as_str()).collect()
}
