//! What the rules say of the items, the proposals and the trail of a project: the oracle of the sequences.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::super::named;

/// The fields of a requirement whose change makes the approved stories that cover it suspect.
const DEMAND: [&str; 3] = ["statement", "type", "category"];

/// What an item is to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExpectedItem {
    pub is_story: bool,
    pub code: String,
    pub status: &'static str,
    pub version: i64,
    pub suspect: bool,
    pub is_deferred: bool,
    pub revision: &'static str,
    pub content: Value,
    /// The requirements that a story covers, in the order of their ids.
    pub covers: BTreeSet<String>,
}

/// A decision about the status of an item.
#[derive(Debug, Clone, Copy)]
pub enum StatusVerdict {
    Approve,
    Reject,
    Reopen,
    Defer,
}

/// Of many items: mostly approvals, so that there is something to unsettle.
pub const VERDICTS: [StatusVerdict; 5] = [
    StatusVerdict::Approve,
    StatusVerdict::Approve,
    StatusVerdict::Reject,
    StatusVerdict::Reopen,
    StatusVerdict::Defer,
];

impl StatusVerdict {
    pub fn body(self) -> Value {
        match self {
            Self::Approve => json!({"workflowStatus": "APPROVED"}),
            Self::Reject => json!({"workflowStatus": "REJECTED", "comment": "No."}),
            Self::Reopen => json!({"workflowStatus": "NEEDS_REVIEW"}),
            Self::Defer => json!({"workflowStatus": "NEEDS_REVIEW", "deferredUntil": super::in_days(20)}),
        }
    }
}

impl ExpectedItem {
    pub fn of(item: &Value) -> Self {
        let one_of = |name: &str, values: &[&'static str]| {
            let found = values.iter().find(|value| item[name] == **value);
            *found.unwrap_or_else(|| panic!("{name} of {item}"))
        };
        let covers = item["requirementIds"].as_array().into_iter().flatten();
        Self {
            is_story: is_story(item),
            code: item["code"].as_str().unwrap().to_owned(),
            status: one_of("workflowStatus", &["NEEDS_REVIEW", "APPROVED", "REJECTED"]),
            version: item["version"].as_i64().unwrap(),
            suspect: item["suspect"].as_bool().unwrap(),
            is_deferred: !item["deferredUntil"].is_null(),
            revision: one_of("revisionSource", &["AI_GENERATED", "AI_REGENERATED", "HUMAN_EDITED"]),
            content: content(item),
            covers: covers.map(|id| id.as_str().unwrap().to_owned()).collect(),
        }
    }

    /// An item as the analysis adds it.
    pub fn added(is_story: bool, code: String, content: Value, covers: BTreeSet<String>) -> Self {
        let (status, revision) = ("NEEDS_REVIEW", "AI_GENERATED");
        Self { is_story, code, status, version: 1, suspect: false, is_deferred: false, revision, content, covers }
    }

    /// The item with another status; whoever decides has settled any doubt, and its deferral.
    fn at(&self, status: &'static str) -> Self {
        Self { status, version: self.version + 1, suspect: false, is_deferred: false, ..self.clone() }
    }

    /// The item after a decision, and the action of its event; `None` if it is refused.
    pub fn judged(&self, verdict: StatusVerdict) -> Option<(Self, &'static str)> {
        Some(match (self.status, verdict) {
            ("NEEDS_REVIEW", StatusVerdict::Approve) => (self.at("APPROVED"), "APPROVE"),
            ("APPROVED", StatusVerdict::Approve) if self.suspect => (self.at("APPROVED"), "APPROVE"),
            ("NEEDS_REVIEW", StatusVerdict::Reject) => (self.at("REJECTED"), "REJECT"),
            ("APPROVED" | "REJECTED", StatusVerdict::Reopen) => (self.at("NEEDS_REVIEW"), "REOPEN"),
            ("NEEDS_REVIEW", StatusVerdict::Reopen) if self.is_deferred => (self.at("NEEDS_REVIEW"), "REOPEN"),
            (_, StatusVerdict::Defer) => (Self { is_deferred: true, ..self.at("NEEDS_REVIEW") }, "DEFER"),
            _ => return None,
        })
    }

    /// The item with other words: to be reviewed again.
    pub fn revised(&self, content: Value, revision: &'static str) -> Self {
        Self { content, revision, ..self.at("NEEDS_REVIEW") }
    }

    /// The item once a GONE proposal was accepted.
    pub fn rejected(&self) -> Self {
        self.at("REJECTED")
    }

    pub fn approved_at_once(self) -> Self {
        Self { status: "APPROVED", ..self }
    }

    /// The words by which it is recognised.
    pub fn words(&self) -> String {
        words(self.is_story, &self.content)
    }
}

/// An item of the project, and what is known of its past.
#[derive(Debug, Clone)]
pub struct PlayedItem {
    pub now: ExpectedItem,
    /// Whether a person has judged, edited or accepted it.
    pub touched: bool,
    /// The content that the analysis last found, and that became this item's.
    pub found: Value,
    /// The words by which the analysis knows it again: what is demanded, also of a story that is told of it.
    pub key: String,
    /// The state before its first event.
    pub first: ExpectedItem,
}

/// A proposal, and what it proposes.
#[derive(Debug, Clone)]
pub struct PlayedProposal {
    pub id: String,
    pub is_story: bool,
    pub kind: &'static str,
    pub item: String,
    /// By what the analysis knows it again; empty for a GONE one.
    pub key: String,
    /// Null for a GONE one.
    pub content: Value,
    pub covers: BTreeSet<String>,
    pub target_version: i64,
    pub status: &'static str,
}

impl PlayedProposal {
    pub fn is_open(&self) -> bool {
        self.status == "OPEN"
    }
}

/// An event that the trail must have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlayedEvent {
    pub action: String,
    pub actor: String,
    pub item: String,
    pub from: Option<(String, i64)>,
    pub to: (String, i64),
}

/// A project as the rules have it.
#[derive(Default, Clone)]
pub struct ProjectModel {
    /// By their ids.
    pub items: BTreeMap<String, PlayedItem>,
    pub proposals: Vec<PlayedProposal>,
    pub events: Vec<PlayedEvent>,
    /// Items of CHANGED proposals that were dismissed, with the content.
    pub dismissed_changes: Vec<(String, Value)>,
    /// Items of GONE proposals that were dismissed.
    pub kept: BTreeSet<String>,
    /// How many items of each kind were ever added: of stories, and of requirements.
    pub counts: BTreeMap<bool, usize>,
}

impl ProjectModel {
    pub fn now(&self) -> BTreeMap<String, ExpectedItem> {
        self.items.iter().map(|(id, item)| (id.clone(), item.now.clone())).collect()
    }

    /// The ids of the items in the order of their codes, which is the same whenever a seed is played again.
    pub fn in_order(&self) -> Vec<String> {
        let mut all: Vec<_> = self.items.iter().map(|(id, item)| (item.now.is_story, &item.now.code, id)).collect();
        all.sort();
        all.into_iter().map(|(_, _, id)| id.clone()).collect()
    }

    /// Whether it is a requirement on which an approved story rests, or such a story that became suspect.
    pub fn has_consequences(&self, id: &String) -> bool {
        let rests =
            |item: &PlayedItem| item.now.status == "APPROVED" && !item.now.suspect && item.now.covers.contains(id);
        self.items[id].now.suspect || self.items.values().any(rests)
    }

    /// The next code of a kind: none is used twice.
    pub fn next_code(&mut self, is_story: bool) -> String {
        let count = self.counts.entry(is_story).or_default();
        *count += 1;
        format!("{}-{count:03}", if is_story { "US" } else { "REQ" })
    }

    /// What a decision makes of an item, with its event. Returns the item if stories that cover it become suspect.
    pub fn change(&mut self, actor: &str, id: &str, after: ExpectedItem, action: &str) -> Option<String> {
        let item = self.items.get_mut(id).unwrap();
        let before = std::mem::replace(&mut item.now, after);
        item.touched = true;
        let after = item.now.clone();
        let demands_else = DEMAND.iter().any(|name| before.content[name] != after.content[name]);
        let is_rejected = after.status == "REJECTED" && before.status != "REJECTED";
        self.note(actor, id, Some(&before), &after, action);
        (!after.is_story && (demands_else || is_rejected)).then(|| id.to_owned())
    }

    pub fn note(&mut self, actor: &str, id: &str, before: Option<&ExpectedItem>, after: &ExpectedItem, action: &str) {
        let state = |item: &ExpectedItem| (item.status.to_owned(), item.version);
        self.events.push(PlayedEvent {
            action: action.to_owned(),
            actor: actor.to_owned(),
            item: id.to_owned(),
            from: before.map(state),
            to: state(after),
        });
    }

    /// Makes the approved stories that cover one of some requirements suspect. Returns how many.
    pub fn unsettle(&mut self, actor: &str, requirements: &[String]) -> usize {
        let covers = |item: &PlayedItem| requirements.iter().any(|id| item.now.covers.contains(id));
        let shaken = self.items.iter().filter(|(_, item)| item.now.status == "APPROVED" && !item.now.suspect);
        let shaken: Vec<String> = shaken.filter(|(_, item)| covers(item)).map(|(id, _)| id.clone()).collect();
        for id in &shaken {
            let item = self.items.get_mut(id).unwrap();
            item.now.suspect = true;
            let now = item.now.clone();
            self.note(actor, id, Some(&now), &now, "BECOME_SUSPECT");
        }
        shaken.len()
    }

    /// The item whose words the analysis has found before.
    pub fn known(&self, is_story: bool, key: &str) -> Option<String> {
        let is_known = |item: &PlayedItem| item.now.is_story == is_story && item.key == key;
        let mut known = self.items.iter().filter(|(_, item)| is_known(item)).map(|(id, _)| id.clone());
        let first = known.next();
        assert_eq!(known.next(), None, "nobody accepts the same words twice");
        first
    }

    /// The item that says the same by now, in whichever order: of several the one with the first code.
    pub fn saying(&self, is_story: bool, words: &str) -> Option<String> {
        let is_it = |item: &PlayedItem| item.now.is_story == is_story && said(&item.now.words()) == said(words);
        let saying = self.items.iter().filter(|(_, item)| is_it(item));
        saying.min_by_key(|(_, item)| item.now.code.clone()).map(|(id, _)| id.clone())
    }
}

pub fn is_story(item: &Value) -> bool {
    item["statement"].is_null()
}

/// What an item says.
pub fn content(item: &Value) -> Value {
    if !is_story(item) {
        return named(item, &["title", "statement", "type", "category", "priority"]);
    }
    let mut told = named(item, &["title", "role", "goal", "benefit", "description", "priority"]);
    let criteria = item["acceptanceCriteria"].as_array().unwrap().iter();
    told["acceptanceCriteria"] = criteria.map(|one| named(one, &["text", "given", "when", "then"])).collect();
    told
}

pub fn words(is_story: bool, content: &Value) -> String {
    content[if is_story { "description" } else { "statement" }].as_str().unwrap_or_default().to_owned()
}

pub fn id(item: &Value) -> String {
    item["id"].as_str().unwrap().to_owned()
}

/// All words of a text but those that demand nothing, in the order of the alphabet.
pub fn said(text: &str) -> Vec<String> {
    let words = text.to_lowercase();
    let words = words.split(|sign: char| !sign.is_alphanumeric());
    let is_empty = ["", "a", "an", "the", "shall", "must", "will", "please", "also", "then"];
    let mut said: Vec<String> = words.filter(|word| !is_empty.contains(word)).map(str::to_owned).collect();
    said.sort();
    said
}
