//! What a run did to the specification, in sentences.

use super::FindingEffect;
use super::store::StoredFinding;
use crate::projects::item_kind::ItemKind;

/// How many codes a sentence names.
const MAX_NAMED: usize = 5;
/// The most contradictions that are looked at to tell of them.
pub const MAX_TOLD: i64 = 100;

/// Tells what a run did: what it added by kind, the items that it proposes something about, and which requirements it may
/// contradict: the numbers of its own ones with those of the others.
#[must_use]
pub fn summary(found: &[StoredFinding], contradictions: &[(i64, i64)]) -> String {
    let of = |effect: FindingEffect| found.iter().filter(move |row| row.3 == effect);
    let mut sentences = Vec::new();
    let mut added: Vec<(ItemKind, usize)> = Vec::new();
    for (kind, ..) in of(FindingEffect::Added) {
        match added.iter_mut().find(|(own, _)| own == kind) {
            Some((_, count)) => *count += 1,
            None => added.push((*kind, 1)),
        }
    }
    added.sort_unstable();
    let added: Vec<String> = added.into_iter().map(|(kind, count)| counted(count, kind_words(kind))).collect();
    if !added.is_empty() {
        sentences.push(format!("Added {}.", listed(&added, 0)));
    }
    let codes = |rows: Vec<&StoredFinding>| -> (Vec<String>, usize) {
        let named = rows.iter().take(MAX_NAMED).map(|(kind, _, number, ..)| kind.code(*number)).collect();
        (named, rows.len().saturating_sub(MAX_NAMED))
    };
    let (proposed, refreshed): (Vec<_>, Vec<_>) = of(FindingEffect::Changed).partition(|row| row.5.is_some());
    for (verb, rows) in [
        ("Proposes changes of", proposed),
        ("Renewed", refreshed),
        ("Did not find any more, and proposes to reject", of(FindingEffect::Gone).collect()),
    ] {
        let (named, more) = codes(rows);
        if !named.is_empty() {
            sentences.push(format!("{verb} {}.", listed(&named, more)));
        }
    }
    let mut contradicted = Vec::new();
    for code in contradictions.iter().map(|(_, other)| ItemKind::Requirement.code(*other)) {
        if !contradicted.contains(&code) {
            contradicted.push(code);
        }
    }
    let more = contradicted.len().saturating_sub(MAX_NAMED);
    contradicted.truncate(MAX_NAMED);
    if !contradicted.is_empty() {
        sentences.push(format!("May contradict {}.", listed(&contradicted, more)));
    }
    match of(FindingEffect::Confirmed).count() {
        0 => {}
        count => sentences.push(format!("Found {} again.", counted(count, ("item", "items")))),
    }
    if sentences.is_empty() { "Found nothing that changes the specification.".to_owned() } else { sentences.join(" ") }
}

fn counted(count: usize, (one, many): (&str, &str)) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

const fn kind_words(kind: ItemKind) -> (&'static str, &'static str) {
    match kind {
        ItemKind::Requirement => ("requirement", "requirements"),
        ItemKind::UserStory => ("user story", "user stories"),
        ItemKind::Risk => ("risk", "risks"),
        ItemKind::OpenQuestion => ("open question", "open questions"),
        ItemKind::ActionItem => ("action item", "action items"),
        ItemKind::Decision => ("decision", "decisions"),
    }
}

fn listed(named: &[String], more: usize) -> String {
    match (named, more) {
        ([], _) => String::new(),
        ([one], 0) => one.clone(),
        ([some @ .., last], 0) => format!("{} and {last}", some.join(", ")),
        (some, more) => format!("{} and {more} more", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use actors::ids::Id;

    use super::*;

    #[test]
    fn what_a_run_did_is_told_by_kind_and_by_code() {
        let row = |kind, number, effect, proposal: bool| -> StoredFinding {
            (kind, Id::generate(), number, effect, None, proposal.then(Id::generate))
        };
        let mut found = vec![
            row(ItemKind::Decision, 1, FindingEffect::Added, false),
            row(ItemKind::Requirement, 7, FindingEffect::Added, false),
            row(ItemKind::Requirement, 8, FindingEffect::Added, false),
            row(ItemKind::Requirement, 2, FindingEffect::Changed, true),
            row(ItemKind::Risk, 3, FindingEffect::Gone, true),
            row(ItemKind::Requirement, 1, FindingEffect::Confirmed, false),
        ];
        assert_eq!(
            summary(&found, &[(7, 2), (8, 2)]),
            "Added 2 requirements and 1 decision. Proposes changes of REQ-002. \
             Did not find any more, and proposes to reject RISK-003. May contradict REQ-002. Found 1 item again."
        );
        found.extend((10..17).map(|number| row(ItemKind::Requirement, number, FindingEffect::Changed, true)));
        assert!(
            summary(&found, &[]).contains("REQ-002, REQ-010, REQ-011, REQ-012, REQ-013 and 3 more."),
            "{}",
            summary(&found, &[])
        );
        assert_eq!(summary(&[], &[]), "Found nothing that changes the specification.");
    }
}
