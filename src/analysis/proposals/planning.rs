//! Decides what becomes of the findings of a run in a project whose items people have begun to review. See [`super`] for the
//! rules; nothing is read or written here.

use std::collections::{HashMap, HashSet};

use uuid::Uuid;

use super::matching::{Likened, matched};
use super::model::ProposalKind;

/// A requirement or a story that a run found.
#[derive(Debug, Clone)]
pub struct FoundText {
    pub text_key: String,
    pub content_key: String,
    pub likened: Likened,
}

/// The item of a project that has the words of a finding.
#[derive(Debug, Clone)]
pub struct KnownItem {
    pub id: Uuid,
    pub is_touched: bool,
    /// Of the content that the analysis last found.
    pub content_key: String,
}

/// An item that a person has touched.
#[derive(Debug, Clone)]
pub struct ReviewedItem {
    pub id: Uuid,
    pub likened: Likened,
    /// The documents and recordings that it rests on.
    pub sources: HashSet<Uuid>,
    pub is_rejected: bool,
}

/// What a run has read.
#[derive(Debug, Clone, Default)]
pub struct ReadScope {
    /// The documents and recordings that were read as a whole.
    pub sources: HashSet<Uuid>,
    /// Whether it left nothing out of what it found there.
    pub is_whole: bool,
}

impl ReadScope {
    /// Whether something that rests on these sources would have been found again, were it still there.
    fn covers(&self, sources: &HashSet<Uuid>) -> bool {
        self.is_whole && !sources.is_empty() && sources.is_subset(&self.sources)
    }
}

/// A proposal of an earlier run that nobody has decided.
#[derive(Debug, Clone)]
pub struct OpenProposal {
    pub id: Uuid,
    pub item_id: Uuid,
    pub kind: ProposalKind,
    pub text_key: String,
    /// Of a NEW one: what it rests on.
    pub sources: HashSet<Uuid>,
}

/// What earlier runs proposed, and people have not accepted.
#[derive(Debug, Clone, Default)]
pub struct PastProposals {
    pub open: Vec<OpenProposal>,
    /// The words of dismissed NEW ones.
    pub dismissed_texts: HashSet<String>,
    /// The items of dismissed CHANGED ones, with the content.
    pub dismissed_changes: HashSet<(Uuid, String)>,
    /// The items that were GONE and are kept.
    pub kept: HashSet<Uuid>,
}

/// What becomes of a finding. The id is that of the item, or that it would get.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It becomes an item, or refreshes the one that is known.
    Published(Uuid),
    /// The item stays as a person left it.
    Kept(Uuid),
    Proposed {
        item_id: Uuid,
        kind: ProposalKind,
    },
    /// It was dismissed, or found before in the same run.
    LeftOut,
}

impl Fate {
    /// `None` if the finding is not to be seen in the project at all.
    #[must_use]
    pub const fn item_id(self) -> Option<Uuid> {
        match self {
            Self::Published(id) | Self::Kept(id) | Self::Proposed { item_id: id, .. } => Some(id),
            Self::LeftOut => None,
        }
    }
}

/// What becomes of the findings of one kind, in their order, and of what is there already.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KindPlan {
    pub fates: Vec<Fate>,
    /// The items that are GONE.
    pub gone: Vec<Uuid>,
    /// The open proposals that are superseded.
    pub superseded: Vec<Uuid>,
}

/// Plans for a project without touched items: everything is published.
#[must_use]
pub fn publish_all(
    findings: &[FoundText],
    known: &HashMap<String, KnownItem>,
    new_id: &mut impl FnMut() -> Uuid,
) -> KindPlan {
    let mut ids: HashMap<&str, Uuid> = HashMap::new();
    let mut id = |finding: &'_ FoundText| known.get(&finding.text_key).map_or_else(&mut *new_id, |item| item.id);
    let mut fates = Vec::with_capacity(findings.len());
    for finding in findings {
        fates.push(Fate::Published(*ids.entry(&finding.text_key).or_insert_with(|| id(finding))));
    }
    KindPlan { fates, ..KindPlan::default() }
}

/// Plans for a project with touched items.
///
/// `known` are the items that have the words of findings, and `reviewed` all that people have touched.
#[must_use]
pub fn plan(
    findings: &[FoundText],
    known: &HashMap<String, KnownItem>,
    reviewed: &[ReviewedItem],
    past: &PastProposals,
    scope: &ReadScope,
    new_id: &mut impl FnMut() -> Uuid,
) -> KindPlan {
    let mut fates = vec![Fate::LeftOut; findings.len()];
    let mut seen: HashSet<&str> = HashSet::new();
    let mut unknown = Vec::new();
    let mut found: HashSet<Uuid> = HashSet::new();
    for (at, (finding, fate)) in findings.iter().zip(&mut fates).enumerate() {
        match known.get(&finding.text_key) {
            Some(item) => {
                found.insert(item.id);
                *fate = past.fate_of_known(finding, item);
            }
            None if seen.insert(&finding.text_key) => unknown.push(at),
            None => {}
        }
    }

    let missing: Vec<&ReviewedItem> = reviewed.iter().filter(|item| !found.contains(&item.id)).collect();
    let likened_items: Vec<Likened> = missing.iter().map(|item| item.likened.clone()).collect();
    let likened: Vec<Likened> =
        unknown.iter().filter_map(|at| findings.get(*at)).map(|finding| finding.likened.clone()).collect();
    let reused: HashMap<&str, Uuid> = past.new_ones().map(|open| (open.text_key.as_str(), open.item_id)).collect();
    for (at, item) in unknown.into_iter().zip(matched(&likened, &likened_items)) {
        let (Some(finding), Some(fate)) = (findings.get(at), fates.get_mut(at)) else { continue };
        *fate = match item.and_then(|item| missing.get(item)) {
            Some(item) => {
                found.insert(item.id);
                past.fate_of_change(finding, item.id)
            }
            None if past.dismissed_texts.contains(&finding.text_key) => Fate::LeftOut,
            None => {
                let item_id = reused.get(finding.text_key.as_str()).copied().unwrap_or_else(&mut *new_id);
                Fate::Proposed { item_id, kind: ProposalKind::New }
            }
        };
    }

    let is_gone = |item: &&&ReviewedItem| {
        !found.contains(&item.id) && !item.is_rejected && scope.covers(&item.sources) && !past.kept.contains(&item.id)
    };
    let gone: Vec<Uuid> = missing.iter().filter(is_gone).map(|item| item.id).collect();
    let keys: HashSet<&str> = findings.iter().map(|finding| finding.text_key.as_str()).collect();
    let is_superseded = |open: &&OpenProposal| match open.kind {
        ProposalKind::New => keys.contains(open.text_key.as_str()) || scope.covers(&open.sources),
        ProposalKind::Changed | ProposalKind::Gone => found.contains(&open.item_id) || gone.contains(&open.item_id),
    };
    let superseded = past.open.iter().filter(is_superseded).map(|open| open.id).collect();
    KindPlan { fates, gone, superseded }
}

impl PastProposals {
    fn new_ones(&self) -> impl Iterator<Item = &OpenProposal> {
        self.open.iter().filter(|open| open.kind == ProposalKind::New)
    }

    fn fate_of_known(&self, finding: &FoundText, item: &KnownItem) -> Fate {
        match item {
            KnownItem { is_touched: false, .. } => Fate::Published(item.id),
            KnownItem { content_key, .. } if *content_key == finding.content_key => Fate::Kept(item.id),
            KnownItem { .. } => self.fate_of_change(finding, item.id),
        }
    }

    fn fate_of_change(&self, finding: &FoundText, item_id: Uuid) -> Fate {
        if self.dismissed_changes.contains(&(item_id, finding.content_key.clone())) {
            return Fate::Kept(item_id);
        }
        Fate::Proposed { item_id, kind: ProposalKind::Changed }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: Uuid = Uuid::from_u128(1);
    const ELSEWHERE: Uuid = Uuid::from_u128(2);
    const ITEM: Uuid = Uuid::from_u128(10);
    const OTHER: Uuid = Uuid::from_u128(11);

    fn finding(text: &str) -> FoundText {
        FoundText { text_key: text.to_owned(), content_key: text.to_owned(), likened: Likened::new(text, Vec::new()) }
    }

    fn reviewed(id: Uuid, text: &str, source: Uuid) -> ReviewedItem {
        let sources = HashSet::from([source]);
        ReviewedItem { id, likened: Likened::new(text, Vec::new()), sources, is_rejected: false }
    }

    fn known(text: &str, id: Uuid, is_touched: bool, content_key: &str) -> HashMap<String, KnownItem> {
        HashMap::from([(text.to_owned(), KnownItem { id, is_touched, content_key: content_key.to_owned() })])
    }

    fn open(id: u128, item_id: Uuid, kind: ProposalKind, text: &str, source: Uuid) -> OpenProposal {
        let sources = HashSet::from([source]);
        OpenProposal { id: Uuid::from_u128(id), item_id, kind, text_key: text.to_owned(), sources }
    }

    fn scope() -> ReadScope {
        ReadScope { sources: HashSet::from([SOURCE]), is_whole: true }
    }

    /// Ids from 100 on.
    fn counting() -> impl FnMut() -> Uuid {
        let mut last = 99;
        move || {
            last += 1;
            Uuid::from_u128(last)
        }
    }

    fn planned(
        findings: &[&str],
        known: &HashMap<String, KnownItem>,
        items: &[ReviewedItem],
        past: &PastProposals,
        scope: &ReadScope,
    ) -> KindPlan {
        let findings: Vec<FoundText> = findings.iter().map(|text| finding(text)).collect();
        plan(&findings, known, items, past, scope, &mut counting())
    }

    fn proposed(item_id: Uuid, kind: ProposalKind) -> Fate {
        Fate::Proposed { item_id, kind }
    }

    #[test]
    fn without_touched_items_everything_is_published_under_known_ids() {
        let texts = [finding("a"), finding("b"), finding("a")];
        let known = known("b", ITEM, false, "b");
        let first = Uuid::from_u128(100);
        let plan = publish_all(&texts, &known, &mut counting());
        assert_eq!(plan.fates, [Fate::Published(first), Fate::Published(ITEM), Fate::Published(first)]);
        assert!(plan.gone.is_empty() && plan.superseded.is_empty());
    }

    #[test]
    fn an_item_nobody_touched_is_refreshed_and_a_touched_one_is_changed_only_by_another_content() {
        let none = PastProposals::default();
        let of =
            |is_touched, content: &str| planned(&["a"], &known("a", ITEM, is_touched, content), &[], &none, &scope());
        assert_eq!(of(false, "older").fates, [Fate::Published(ITEM)]);
        assert_eq!(of(true, "a").fates, [Fate::Kept(ITEM)]);
        assert_eq!(of(true, "older").fates, [proposed(ITEM, ProposalKind::Changed)]);
    }

    #[test]
    fn what_is_not_found_again_is_gone_only_if_all_it_rests_on_was_read() {
        let text = "the lift stops";
        let gone = |item: ReviewedItem, scope: &ReadScope| {
            planned(&[], &HashMap::new(), &[item], &PastProposals::default(), scope).gone
        };
        assert_eq!(gone(reviewed(ITEM, text, SOURCE), &scope()), [ITEM]);
        assert!(gone(reviewed(ITEM, text, ELSEWHERE), &scope()).is_empty());
        let both = HashSet::from([SOURCE, ELSEWHERE]);
        assert!(gone(ReviewedItem { sources: both, ..reviewed(ITEM, text, SOURCE) }, &scope()).is_empty());
        assert!(gone(ReviewedItem { sources: HashSet::new(), ..reviewed(ITEM, text, SOURCE) }, &scope()).is_empty());
        assert!(gone(ReviewedItem { is_rejected: true, ..reviewed(ITEM, text, SOURCE) }, &scope()).is_empty());
        assert!(gone(reviewed(ITEM, text, SOURCE), &ReadScope { is_whole: false, ..scope() }).is_empty());
    }

    #[test]
    fn a_finding_is_new_unless_it_is_like_an_item_that_was_not_found() {
        let items = [reviewed(ITEM, "the search answers in two seconds", SOURCE)];
        let none = PastProposals::default();
        let plan =
            planned(&["the search answers in five seconds", "cats sleep"], &HashMap::new(), &items, &none, &scope());
        let new = proposed(Uuid::from_u128(100), ProposalKind::New);
        assert_eq!((plan.fates, plan.gone), (vec![proposed(ITEM, ProposalKind::Changed), new], Vec::new()));
        // The item itself was found too.
        let text = "the search answers in two seconds";
        let known = known(text, ITEM, true, text);
        let plan = planned(&[text, "the search answers in five seconds"], &known, &items, &none, &scope());
        assert_eq!(plan.fates, [Fate::Kept(ITEM), new]);
    }

    #[test]
    fn what_was_dismissed_is_not_proposed_again() {
        let items = [reviewed(ITEM, "the lift stops at one", SOURCE), reviewed(OTHER, "cats sleep", SOURCE)];
        let past = PastProposals {
            dismissed_texts: HashSet::from(["dogs bark".to_owned()]),
            dismissed_changes: HashSet::from([(ITEM, "the lift stops at two".to_owned())]),
            kept: HashSet::from([OTHER]),
            ..PastProposals::default()
        };
        let plan = planned(&["the lift stops at two", "dogs bark"], &HashMap::new(), &items, &past, &scope());
        assert_eq!((plan.fates, plan.gone), (vec![Fate::Kept(ITEM), Fate::LeftOut], Vec::new()));
        let plan = planned(&["the lift stops at six"], &HashMap::new(), &items, &past, &scope());
        assert_eq!(plan.fates, [proposed(ITEM, ProposalKind::Changed)], "another text is another proposal");
    }

    #[test]
    fn a_run_supersedes_what_it_has_a_say_about_and_nothing_else() {
        let items = [reviewed(ITEM, "the lift stops", SOURCE), reviewed(OTHER, "cats sleep", ELSEWHERE)];
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
        let plan = planned(&["dogs bark"], &HashMap::new(), &items, &past, &scope());
        assert_eq!(plan.fates, [proposed(Uuid::from_u128(50), ProposalKind::New)], "under the id of before");
        assert_eq!((plan.gone, plan.superseded), (vec![ITEM], [1, 2, 4].map(Uuid::from_u128).to_vec()));
    }
}
