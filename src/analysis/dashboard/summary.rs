//! The summary of the specification: sentences of items, each with the code of its item.

use std::collections::HashMap;
use std::convert::Infallible;

use pipeline::result::{Priority, Summary};
use serde::Deserialize;
use uuid::Uuid;

use super::model::ResultsDashboard;
use super::shares::RunShare;
use crate::analysis::items::model::SourceReference;
use crate::projects::item_kind::ItemKind;

/// How many demands, decisions and open questions are in the text.
const MAX_DEMANDS: usize = 10;
const MAX_DECIDED: usize = 5;
const MAX_OPEN: usize = 5;
/// Maximum number of entries of each list.
const MAX_ENTRIES: usize = 100;

/// An item that is not rejected, by its place among all.
#[derive(Debug, Clone, Copy)]
pub struct StatedItem {
    pub at: usize,
    pub kind: ItemKind,
    pub priority: Option<Priority>,
    /// The document or recording that it rests on first.
    pub source: Option<Uuid>,
}

/// What an item says, of whichever kind.
#[derive(Deserialize)]
pub struct StatedText {
    code: String,
    statement: Option<String>,
    question: Option<String>,
    text: Option<String>,
}

impl StatedText {
    /// The item in a sentence, with its code.
    fn sentence(self) -> String {
        let said = self.statement.or(self.question).or(self.text).unwrap_or_default();
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        let (words, end) = match said.char_indices().next_back() {
            Some((at, end)) if ['.', '?', '!', '。'].contains(&end) => (said.get(..at).unwrap_or_default(), end),
            _ => (said.as_str(), '.'),
        };
        format!("{words} ({}){end}", self.code)
    }
}

/// Summarizes the items that are not rejected. `latest` is what the newest of several runs did; `text` reads an item by its place.
///
/// # Errors
/// Those of `text`.
pub fn of<E>(
    runs: &[RunShare],
    latest: Option<&str>,
    items: &[StatedItem],
    mut text: impl FnMut(usize) -> Result<StatedText, E>,
) -> Result<Summary, E> {
    let mut sentences = |places: Vec<usize>| -> Result<Vec<String>, E> {
        places.into_iter().map(|at| text(at).map(StatedText::sentence)).collect()
    };
    // What came last is what people ask about.
    let newest = |kind: ItemKind, most: usize| -> Vec<usize> {
        items.iter().rev().filter(|item| item.kind == kind).take(most).map(|item| item.at).collect()
    };
    let demands = sentences(most_important(items))?;
    let key_decisions = sentences(newest(ItemKind::Decision, MAX_ENTRIES))?;
    let open = sentences(newest(ItemKind::OpenQuestion, MAX_OPEN))?;
    let paragraph = |head: &str, said: &[String]| match said {
        [] => None,
        said => Some(format!("{head} {}", said.join(" "))),
    };
    let decided = key_decisions.get(..MAX_DECIDED.min(key_decisions.len())).unwrap_or_default();
    let latest = latest.map(|did| format!("Latest analysis: {did}"));
    let parts =
        [paragraph("Most important:", &demands), paragraph("Decided:", decided), paragraph("Open:", &open), latest];
    Ok(Summary {
        text: parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"),
        key_decisions,
        scope: of_runs(runs, |summary| &summary.scope),
        out_of_scope: of_runs(runs, |summary| &summary.out_of_scope),
        assumptions: of_runs(runs, |summary| &summary.assumptions),
    })
}

/// Summarizes the items of a dashboard alone, without what its runs did.
#[must_use]
pub fn of_items(dashboard: &ResultsDashboard) -> Summary {
    let mut stated = Vec::new();
    let mut texts = Vec::new();
    let mut add = |kind, priority, source: Option<&SourceReference>, code: &str, said: &str| {
        let source = source.and_then(|source| source.document_id.or(source.recording_id));
        stated.push(StatedItem { at: texts.len(), kind, priority, source });
        texts.push((code.to_owned(), said.to_owned()));
    };
    for one in &dashboard.requirements {
        add(ItemKind::Requirement, Some(one.priority), one.sources.first(), &one.code, &one.statement);
    }
    for one in &dashboard.decisions {
        add(ItemKind::Decision, None, None, &one.code, &one.text);
    }
    for one in &dashboard.open_questions {
        add(ItemKind::OpenQuestion, None, None, &one.code, &one.question);
    }
    let Ok(summary) = of::<Infallible>(&[], None, &stated, |at| {
        let (code, text) = texts.get(at).cloned().unwrap_or_default();
        Ok(StatedText { code, statement: None, question: None, text: Some(text) })
    });
    summary
}

/// What the runs say, the newest first, each sentence once.
fn of_runs(runs: &[RunShare], list: fn(&Summary) -> &Vec<String>) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for said in runs.iter().rev().flat_map(|run| list(&run.summary)) {
        if all.len() < MAX_ENTRIES && !all.contains(said) {
            all.push(said.clone());
        }
    }
    all
}

/// The requirements of the highest priorities, spread over their sources: of each source some, before one has more.
fn most_important(items: &[StatedItem]) -> Vec<usize> {
    let rank = |item: &StatedItem| match item.priority {
        Some(Priority::High) => 0,
        Some(Priority::Medium) => 1,
        Some(Priority::Low) => 2,
        _ => 3,
    };
    let mut demands: Vec<&StatedItem> = items.iter().filter(|item| item.kind == ItemKind::Requirement).collect();
    demands.sort_by_key(|item| rank(item));
    let mut turns: HashMap<Option<Uuid>, usize> = HashMap::new();
    let mut ranked: Vec<(usize, usize, usize)> = Vec::with_capacity(demands.len());
    for item in demands {
        let turn = turns.entry(item.source).or_default();
        ranked.push((rank(item), *turn, item.at));
        *turn += 1;
    }
    ranked.sort_unstable();
    ranked.into_iter().take(MAX_DEMANDS).map(|(.., at)| at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn demand(at: usize, priority: Priority, source: u128) -> StatedItem {
        let source = Some(Uuid::from_u128(source));
        StatedItem { at, kind: ItemKind::Requirement, priority: Some(priority), source }
    }

    #[test]
    fn what_matters_most_comes_from_all_sources() {
        let mut items: Vec<StatedItem> = (0..20).map(|at| demand(at, Priority::High, 1)).collect();
        items.extend((20..23).map(|at| demand(at, Priority::High, 2)));
        items.push(demand(23, Priority::Low, 3));
        assert_eq!(most_important(&items), [0, 20, 1, 21, 2, 22, 3, 4, 5, 6]);
    }

    #[test]
    fn each_sentence_names_its_item() {
        let texts = ["The desk must ring.", "Who rings?", "No desk"];
        let kinds = [ItemKind::Requirement, ItemKind::OpenQuestion, ItemKind::Decision];
        let item = |(at, kind): (usize, ItemKind)| StatedItem { at, kind, priority: None, source: None };
        let items: Vec<StatedItem> = kinds.into_iter().enumerate().map(item).collect();
        let text = |at: usize| {
            let code = kinds[at].code(1);
            Ok(StatedText { code, statement: None, question: None, text: Some(texts[at].to_owned()) })
        };
        let Ok(summary) = of::<Infallible>(&[], Some("Added 1 decision."), &items, text);
        let said = "Most important: The desk must ring (REQ-001).\n\nDecided: No desk (DEC-001).\n\nOpen: Who rings (Q-001)?\n\n\
             Latest analysis: Added 1 decision.";
        assert_eq!((summary.text.as_str(), summary.key_decisions), (said, vec!["No desk (DEC-001).".to_owned()]));
        assert_eq!(of(&[], None, &[], |_| Err("nothing to read")), Ok(Summary::default()));
    }
}
