//! What becomes of findings, case by case.

use super::super::matching::SourcePlace;
use super::*;

const SOURCE: Uuid = Uuid::from_u128(1);
const ELSEWHERE: Uuid = Uuid::from_u128(2);
const ITEM: Uuid = Uuid::from_u128(10);
const OTHER: Uuid = Uuid::from_u128(11);
const FIRST_NEW: Uuid = Uuid::from_u128(100);

fn likened(text: &str, source: Uuid) -> Likened {
    Likened::new(text, vec![SourcePlace { source, start: 0, end: 50 }])
}

fn finding(text: &str) -> FoundText {
    FoundText {
        text_key: text.to_owned(),
        content_key: text.to_owned(),
        is_all_words: true,
        likened: likened(text, SOURCE),
    }
}

fn item(id: Uuid, text: &str, source: Uuid) -> KnownItem {
    KnownItem {
        id,
        text_key: text.to_owned(),
        content_key: text.to_owned(),
        is_touched: true,
        is_rejected: false,
        likened: likened(text, source),
        sources: HashSet::from([source]),
    }
}

fn open(id: u128, item_id: Uuid, kind: ProposalKind, text: &str, source: Uuid) -> OpenProposal {
    let sources = HashSet::from([source]);
    OpenProposal {
        id: Uuid::from_u128(id),
        item_id,
        kind,
        reason: None,
        text_key: text.to_owned(),
        said: String::new(),
        sources,
    }
}

fn scope() -> ReadScope {
    ReadScope { sources: HashSet::from([SOURCE]), is_whole: true }
}

fn planned(findings: &[&str], items: &[KnownItem], past: &PastProposals, scope: &ReadScope) -> KindPlan {
    let findings: Vec<FoundText> = findings.iter().map(|text| finding(text)).collect();
    let mut last = 99;
    let mut new_id = || {
        last += 1;
        Uuid::from_u128(last)
    };
    reconcile(&findings, items, past, scope, &mut new_id)
}

#[test]
fn what_is_new_is_added_once_and_nothing_else_is_touched() {
    let items = [item(ITEM, "cats sleep", ELSEWHERE)];
    let plan = planned(&["dogs bark", "dogs bark"], &items, &PastProposals::default(), &scope());
    assert_eq!(plan.fates, [Fate::Added(FIRST_NEW), Fate::LeftOut]);
    assert!(plan.gone.is_empty(), "it is from elsewhere");
}

#[test]
fn the_same_again_confirms_whoever_touched_the_item() {
    for is_touched in [false, true] {
        let items = [KnownItem { is_touched, ..item(ITEM, "the cat sleeps", ELSEWHERE) }];
        let plan = planned(&["the cat sleeps", "sleeps the cat"], &items, &PastProposals::default(), &scope());
        let (same, order) = (FindingReason::SameWords, FindingReason::OtherOrder);
        assert_eq!(plan.fates, [Fate::Confirmed(ITEM, same), Fate::Confirmed(ITEM, order)]);
    }
}

#[test]
fn another_content_refreshes_what_nobody_touched_and_is_a_change_of_what_somebody_did() {
    let of = |is_touched| {
        let items = [KnownItem { is_touched, content_key: "older".to_owned(), ..item(ITEM, "a cat", SOURCE) }];
        planned(&["a cat"], &items, &PastProposals::default(), &scope()).fates
    };
    assert_eq!(of(false), [Fate::Refreshed(ITEM)]);
    assert_eq!(of(true), [Fate::Changed(ITEM, FindingReason::OtherContent)]);
}

#[test]
fn the_same_words_in_another_source_confirm_whatever_they_are_taken_for_there() {
    for is_touched in [false, true] {
        let other = KnownItem { is_touched, content_key: "older".to_owned(), ..item(ITEM, "a cat", ELSEWHERE) };
        let fate = |is_all_words| {
            let finding = FoundText { is_all_words, ..finding("a cat") };
            let items = [other.clone()];
            reconcile(&[finding], &items, &PastProposals::default(), &scope(), &mut Uuid::nil).fates
        };
        assert_eq!(fate(true), [Fate::Confirmed(ITEM, FindingReason::SameWords)]);
        // A story has more than its words: other criteria are something else.
        assert!(matches!(fate(false)[..], [Fate::Refreshed(ITEM) | Fate::Changed(ITEM, FindingReason::OtherContent)]));
    }
}

#[test]
fn what_is_not_found_again_is_gone_only_if_all_it_rests_on_was_read() {
    let text = "the lift stops";
    let gone = |item: KnownItem, scope: &ReadScope| planned(&[], &[item], &PastProposals::default(), scope).gone;
    assert_eq!(gone(item(ITEM, text, SOURCE), &scope()), [ITEM]);
    assert_eq!(gone(KnownItem { is_touched: false, ..item(ITEM, text, SOURCE) }, &scope()), [ITEM]);
    assert!(gone(item(ITEM, text, ELSEWHERE), &scope()).is_empty());
    let both = HashSet::from([SOURCE, ELSEWHERE]);
    assert!(gone(KnownItem { sources: both, ..item(ITEM, text, SOURCE) }, &scope()).is_empty());
    assert!(gone(KnownItem { sources: HashSet::new(), ..item(ITEM, text, SOURCE) }, &scope()).is_empty());
    assert!(gone(KnownItem { is_rejected: true, ..item(ITEM, text, SOURCE) }, &scope()).is_empty());
    assert!(gone(item(ITEM, text, SOURCE), &ReadScope { is_whole: false, ..scope() }).is_empty());
}

#[test]
fn something_else_about_the_same_is_a_change_unless_the_item_is_found_too() {
    let (two, five) = ("the search answers in two seconds", "the search answers in five seconds");
    let items = [item(ITEM, two, ELSEWHERE)];
    let plan = planned(&[five, "cats sleep"], &items, &PastProposals::default(), &scope());
    let changed = Fate::Changed(ITEM, FindingReason::OtherFigure);
    assert_eq!((plan.fates, plan.gone), (vec![changed, Fate::Added(FIRST_NEW)], Vec::new()));
    let plan = planned(&[two, five], &items, &PastProposals::default(), &scope());
    assert_eq!(plan.fates, [Fate::Confirmed(ITEM, FindingReason::SameWords), Fate::Added(FIRST_NEW)]);
}

#[test]
fn what_was_dismissed_is_not_proposed_again() {
    let items = [item(ITEM, "the lift stops at one", SOURCE), item(OTHER, "cats sleep", SOURCE)];
    let past = PastProposals {
        dismissed_texts: HashSet::from(["dogs bark".to_owned()]),
        dismissed_changes: HashSet::from([(ITEM, "the lift stops at two".to_owned())]),
        kept: HashSet::from([OTHER]),
        ..PastProposals::default()
    };
    let plan = planned(&["the lift stops at two", "dogs bark"], &items, &past, &scope());
    assert_eq!((plan.fates, plan.gone), (vec![Fate::Kept(ITEM), Fate::LeftOut], Vec::new()));
    let plan = planned(&["the lift stops at six"], &items, &past, &scope());
    assert_eq!(plan.fates, [Fate::Changed(ITEM, FindingReason::OtherFigure)], "another text is another proposal");
}

#[test]
fn what_was_proposed_stays_so_whatever_else_is_read() {
    let (two, five) = ("the search answers in two seconds", "the search answers in five seconds");
    let items = [item(ITEM, two, ELSEWHERE)];
    let open = vec![open(1, ITEM, ProposalKind::Changed, five, SOURCE)];
    let past = PastProposals { open, ..PastProposals::default() };
    let plan = planned(&[two, five], &items, &past, &scope());
    let changed = Fate::Changed(ITEM, FindingReason::NearlySameWords);
    assert_eq!(plan.fates, [Fate::Confirmed(ITEM, FindingReason::SameWords), changed]);
    let dismissed_changes = HashSet::from([(ITEM, five.to_owned())]);
    let past = PastProposals { dismissed_changes, ..PastProposals::default() };
    assert_eq!(planned(&[two, five], &items, &past, &scope()).fates[1], Fate::Kept(ITEM));
}

#[test]
fn what_an_item_said_before_is_news_only_where_it_did_not_stand() {
    let (two, five) = ("the search answers in two seconds", "the search answers in five seconds");
    let items = [item(ITEM, five, ELSEWHERE)];
    let replaced = |source| {
        let said = likened(two, source).said().to_owned();
        let replaced = vec![ReplacedText { item_id: ITEM, said, sources: HashSet::from([source]) }];
        let past = PastProposals { replaced, ..PastProposals::default() };
        planned(&[two], &items, &past, &scope()).fates
    };
    assert_eq!(replaced(SOURCE), [Fate::Kept(ITEM)], "the old document still says it");
    assert_eq!(replaced(ELSEWHERE), [Fate::Changed(ITEM, FindingReason::OtherFigure)], "they are back to it");
}

#[test]
fn a_run_supersedes_what_it_has_a_say_about_and_nothing_else() {
    let items = [item(ITEM, "the lift stops", SOURCE), item(OTHER, "cats sleep", ELSEWHERE)];
    let past = PastProposals {
        open: vec![
            open(1, Uuid::from_u128(50), ProposalKind::New, "dogs bark", SOURCE),
            open(2, Uuid::from_u128(51), ProposalKind::New, "birds sing", SOURCE),
            open(3, Uuid::from_u128(52), ProposalKind::New, "fish swim", ELSEWHERE),
            open(4, ITEM, ProposalKind::Changed, "x", SOURCE),
            open(5, OTHER, ProposalKind::Gone, "", SOURCE),
        ],
        ..PastProposals::default()
    };
    let plan = planned(&["dogs bark"], &items, &past, &scope());
    assert_eq!(plan.fates, [Fate::Added(Uuid::from_u128(50))], "under the id of before");
    assert_eq!((plan.gone, plan.superseded), (vec![ITEM], [1, 2, 4].map(Uuid::from_u128).to_vec()));
}
