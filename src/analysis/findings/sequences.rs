//! Random sequences of meetings, new versions of documents, runs in any order and decisions, held against what a specification
//! must hold whatever the order: nothing goes, nothing that was said is lost, and nothing is GONE that a source says.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use proptest::prelude::*;
use proptest::test_runner::Config;
use uuid::Uuid;

use super::matching::{Likened, SourcePlace};
use super::reconciling::{Fate, FoundText, KnownItem, OpenProposal, PastProposals, ReadScope, ReplacedText, reconcile};
use crate::analysis::proposals::model::ProposalKind;

const DOCUMENTS: usize = 5;
const TOPICS: usize = 6;
/// Each topic in three wordings that are about the same, and have no telling word in common with those of another topic.
const WORDINGS: [[&str; 3]; TOPICS] = [
    [
        "the search answers within two seconds",
        "the search answers within five seconds",
        "within two seconds the search answers",
    ],
    [
        "a patient cancels online until noon",
        "a patient cancels online until dusk",
        "until noon a patient cancels online",
    ],
    [
        "clerks print receipts for payments",
        "clerks print signed receipts for payments",
        "receipts for payments clerks print",
    ],
    ["nurses read rotas on wards", "nurses read rotas on all wards", "on wards nurses read rotas"],
    ["skippers book berths by phone", "skippers book berths by radio", "by phone skippers book berths"],
    ["lamps blink after dark", "lamps blink before dark", "after dark lamps blink"],
];

#[derive(Debug, Clone)]
enum Step {
    /// What a document says about a topic from now on: a new version of it.
    Write(usize, usize, Option<usize>),
    /// A run over the documents of a bit mask.
    Run(u8),
    Accept(usize),
    Dismiss(usize),
    Approve(usize),
}

fn step() -> impl Strategy<Value = Step> {
    let wording = prop_oneof![1 => Just(None), 4 => (0..3_usize).prop_map(Some)];
    prop_oneof![
        6 => (0..DOCUMENTS, 0..TOPICS, wording).prop_map(|(document, topic, wording)| Step::Write(document, topic, wording)),
        4 => (1..1_u8 << DOCUMENTS).prop_map(Step::Run),
        2 => (0..8_usize).prop_map(Step::Accept),
        1 => (0..8_usize).prop_map(Step::Dismiss),
        2 => (0..8_usize).prop_map(Step::Approve),
    ]
}

fn source(document: usize) -> Uuid {
    Uuid::from_u128(1 + document as u128)
}

fn likened(topic: usize, text: &str, documents: &[usize]) -> Likened {
    let start = 100 * topic as u64;
    let place = |document: &usize| SourcePlace { source: source(*document), start, end: start + 50 };
    Likened::new(text, documents.iter().map(place).collect())
}

#[derive(Debug, Clone)]
struct Proposed {
    id: Uuid,
    item: Uuid,
    kind: ProposalKind,
    topic: usize,
    text: String,
    documents: Vec<usize>,
}

/// A project as the rules make it.
#[derive(Default)]
struct Project {
    said: [[Option<usize>; TOPICS]; DOCUMENTS],
    items: Vec<(KnownItem, usize, Vec<usize>)>,
    open: Vec<Proposed>,
    past: PastProposals,
    last: u128,
}

impl Project {
    fn id(&mut self) -> Uuid {
        self.last += 1;
        Uuid::from_u128(1_000 + self.last)
    }

    /// What a run finds in some documents: each text once, with all documents that say it, as the engine merges them.
    fn found(&self, documents: &[usize]) -> Vec<(usize, String, Vec<usize>)> {
        let mut found: BTreeMap<(usize, &str), Vec<usize>> = BTreeMap::new();
        for document in documents {
            for (topic, wordings) in WORDINGS.iter().enumerate() {
                if let Some(wording) = self.said[*document][topic] {
                    found.entry((topic, wordings[wording])).or_default().push(*document);
                }
            }
        }
        found.into_iter().map(|((topic, text), documents)| (topic, text.to_owned(), documents)).collect()
    }

    fn run(&mut self, documents: &[usize]) -> Vec<Fate> {
        let found = self.found(documents);
        let finding = |(topic, text, documents): &(usize, String, Vec<usize>)| FoundText {
            text_key: text.clone(),
            content_key: text.clone(),
            is_all_words: true,
            likened: likened(*topic, text, documents),
        };
        let findings: Vec<FoundText> = found.iter().map(finding).collect();
        let present: Vec<KnownItem> = self.items.iter().map(|(item, ..)| item.clone()).collect();
        let scope = ReadScope { sources: documents.iter().map(|one| source(*one)).collect(), is_whole: true };
        let open = self.open.iter().map(|one| OpenProposal {
            id: one.id,
            item_id: one.item,
            kind: one.kind,
            reason: None,
            text_key: one.text.clone(),
            said: words(&one.text),
            sources: HashSet::new(),
        });
        let past = PastProposals { open: open.collect(), ..self.past.clone() };
        let mut last = self.last;
        let plan = reconcile(&findings, &present, &past, &scope, &mut || {
            last += 1;
            Uuid::from_u128(1_000 + last)
        });
        self.last = last;

        self.open.retain(|one| !plan.superseded.contains(&one.id));
        for (fate, (topic, text, by)) in plan.fates.iter().zip(&found) {
            match *fate {
                Fate::Added(id) => {
                    let sources = by.iter().map(|one| source(*one)).collect();
                    let (text_key, content_key, is_touched, is_rejected) = (text.clone(), text.clone(), false, false);
                    let likened = likened(*topic, text, by);
                    let item = KnownItem { id, text_key, content_key, is_touched, is_rejected, likened, sources };
                    self.items.push((item, *topic, by.clone()));
                }
                Fate::Confirmed(id, _) | Fate::Refreshed(id) => {
                    let (item, topic, on) = self.items.iter_mut().find(|(item, ..)| item.id == id).unwrap();
                    let all: BTreeSet<usize> = on.iter().chain(by).copied().collect();
                    *on = all.into_iter().collect();
                    item.sources = on.iter().map(|one| source(*one)).collect();
                    item.likened = likened(*topic, &item.text_key, on);
                }
                Fate::Changed(item, _) => {
                    let id = self.id();
                    let (text, documents) = (text.clone(), by.clone());
                    self.open.push(Proposed { id, item, kind: ProposalKind::Changed, topic: *topic, text, documents });
                }
                Fate::Kept(_) | Fate::LeftOut => {}
            }
        }
        for item in &plan.gone {
            let (id, text) = (self.id(), String::new());
            let topic = self.items.iter().find(|(one, ..)| one.id == *item).unwrap().1;
            let (item, kind, documents) = (*item, ProposalKind::Gone, Vec::new());
            self.open.push(Proposed { id, item, kind, topic, text, documents });
        }
        self.must_hold(documents, &found, &plan.gone);
        plan.fates
    }

    /// What holds after a run, whatever was before it.
    fn must_hold(&self, documents: &[usize], found: &[(usize, String, Vec<usize>)], gone: &[Uuid]) {
        for (topic, text, _) in found {
            let is_item = |(item, ..): &(KnownItem, usize, Vec<usize>)| {
                item.text_key == *text || item.likened.said() == words(text)
            };
            let is_proposed = self.open.iter().any(|one| words(&one.text) == words(text));
            let is_dismissed = self.past.dismissed_words.iter().any(|(_, said)| *said == words(text));
            let is_replaced = self.past.replaced.iter().any(|one| one.said == words(text));
            let is_known = is_proposed || is_dismissed || is_replaced;
            assert!(self.items.iter().any(is_item) || is_known, "{text} of {topic} is lost");
        }
        for id in gone {
            let (item, _, on) = self.items.iter().find(|(one, ..)| one.id == *id).unwrap();
            assert!(on.iter().all(|one| documents.contains(one)), "{} rests on what was not read", item.text_key);
            assert!(!found.iter().any(|(_, text, _)| *text == item.text_key), "{} is still said", item.text_key);
            assert!(!item.is_rejected);
        }
        let ids: BTreeSet<Uuid> = self.items.iter().map(|(item, ..)| item.id).collect();
        assert_eq!(ids.len(), self.items.len());
        let mut about = BTreeSet::new();
        for one in &self.open {
            assert!(ids.contains(&one.item) && about.insert(one.item), "one open proposal for each item");
        }
    }

    fn accept(&mut self, at: usize) {
        if self.open.is_empty() {
            return;
        }
        let one = self.open.remove(at % self.open.len());
        // Two items with the same words are one to the analysis, but which of them is nowhere said.
        if self.items.iter().any(|(item, ..)| item.text_key == one.text) {
            return;
        }
        let (item, _, on) = self.items.iter_mut().find(|(item, ..)| item.id == one.item).unwrap();
        item.is_touched = true;
        if one.kind == ProposalKind::Changed {
            let (said, sources) = (item.likened.said().to_owned(), item.sources.clone());
            self.past.replaced.push(ReplacedText { item_id: item.id, said, sources });
        }
        match one.kind {
            ProposalKind::Gone => item.is_rejected = true,
            _ => {
                (item.text_key, item.content_key, item.is_rejected) = (one.text.clone(), one.text.clone(), false);
                item.sources = one.documents.iter().map(|one| source(*one)).collect();
                item.likened = likened(one.topic, &one.text, &one.documents);
                *on = one.documents;
            }
        }
    }

    fn dismiss(&mut self, at: usize) {
        if self.open.is_empty() {
            return;
        }
        let one = self.open.remove(at % self.open.len());
        match one.kind {
            ProposalKind::Gone => drop(self.past.kept.insert(one.item)),
            _ => {
                self.past.dismissed_words.insert((one.item, words(&one.text)));
                self.past.dismissed_changes.insert((one.item, one.text));
            }
        }
    }

    fn approve(&mut self, at: usize) {
        let count = self.items.len();
        if let Some((item, ..)) = self.items.get_mut(at % count.max(1)) {
            item.is_touched = true;
        }
    }
}

fn words(text: &str) -> String {
    Likened::new(text, Vec::new()).said().to_owned()
}

fn of_mask(mask: u8) -> Vec<usize> {
    (0..DOCUMENTS).filter(|document| mask & (1 << document) != 0).collect()
}

proptest! {
    #![proptest_config(Config::with_cases(768))]

    #[test]
    fn whatever_the_order_of_meetings_and_runs_nothing_is_lost(steps in proptest::collection::vec(step(), 12..60)) {
        let mut project = Project::default();
        for step in steps {
            let before: BTreeSet<Uuid> = project.items.iter().map(|(item, ..)| item.id).collect();
            match step {
                Step::Write(document, topic, wording) => project.said[document][topic] = wording,
                Step::Run(mask) => {
                    let documents = of_mask(mask);
                    project.run(&documents);
                    // The same again adds nothing, and proposes nothing else. What was proposed may have become an item of its own.
                    let open = |project: &Project| -> BTreeSet<(Uuid, String)> {
                        project.open.iter().map(|one| (one.item, words(&one.text))).collect()
                    };
                    let (items, was_open) = (project.items.len(), open(&project));
                    let fates = project.run(&documents);
                    prop_assert!(!fates.iter().any(|fate| matches!(fate, Fate::Added(_))), "{:?}", fates);
                    prop_assert_eq!(project.items.len(), items);
                    prop_assert!(open(&project).is_subset(&was_open), "{:?} after {:?}", open(&project), was_open);
                }
                Step::Accept(at) => project.accept(at),
                Step::Dismiss(at) => project.dismiss(at),
                Step::Approve(at) => project.approve(at),
            }
            let after: BTreeSet<Uuid> = project.items.iter().map(|(item, ..)| item.id).collect();
            prop_assert!(before.is_subset(&after), "an item is gone");
        }
    }
}
