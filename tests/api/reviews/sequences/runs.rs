//! Analysing the documents again, as they are or with other texts: what becomes of the items, and what is proposed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Play;
use super::findings::{ExpectedFinding, Likeness, TOPIC_COUNT, document_of, first_topic, text};
use super::model::{ExpectedItem, PlayedItem, PlayedProposal, content, id, is_story, words};
use crate::analysis::runs;

/// What a run proposes for the items of one kind.
#[derive(Default)]
struct ProposedByRun {
    /// By their words.
    new: BTreeMap<String, Value>,
    /// By their items.
    changed: BTreeMap<String, Value>,
    gone: BTreeMap<String, Value>,
}

/// What a run read, and what there was before and after it.
struct SeenRun<'a> {
    documents: &'a [usize],
    /// Whether anybody has touched an item.
    is_reviewed: bool,
    before: BTreeMap<String, Value>,
    after: BTreeMap<String, Value>,
}

impl ProposedByRun {
    fn of(listed: &[Value], wants_stories: bool) -> Self {
        let mut proposed = Self::default();
        for one in listed.iter().filter(|one| (one["targetType"] == "USER_STORY") == wants_stories) {
            let target = one["targetId"].as_str().map(str::to_owned);
            let former = match (one["kind"].as_str().unwrap(), target) {
                ("NEW", None) => proposed.new.insert(words(wants_stories, &content(&one["after"])), one.clone()),
                ("CHANGED", Some(item)) => proposed.changed.insert(item, one.clone()),
                ("GONE", Some(item)) => proposed.gone.insert(item, one.clone()),
                _ => panic!("{one:#}"),
            };
            assert_eq!(former, None, "one proposal for each item");
        }
        proposed
    }
}

impl Play<'_> {
    /// Analyses one document or both, whose texts may be others by now.
    pub async fn run_again(&mut self) {
        let former = self.wordings;
        for topic in 0..TOPIC_COUNT {
            self.wordings[topic] = match self.below(8) {
                0..4 => self.wordings[topic],
                4 => None,
                _ => Some(self.below(3)),
            };
        }
        for document in 0..self.documents.len() {
            // A document without any requirement is not what this is about.
            let first = first_topic(document);
            if self.wordings[first..first + TOPIC_COUNT / 2].iter().all(Option::is_none) {
                self.wordings[first] = Some(0);
            }
            let now = text(&self.wordings, document);
            if now != text(&former, document) {
                let path = self.documents[document].clone();
                self.reviewed.ada.reread(self.server, &self.reviewed.project, &path, &now).await;
            }
        }
        let documents = self.one_of(&[vec![0], vec![1], vec![0, 1], vec![0, 1]]);
        self.run(&documents).await;
    }

    pub async fn run(&mut self, documents: &[usize]) {
        println!("{}: run over {documents:?} with {:?}", self.number, self.wordings);
        let findings = self.findings(documents).await;
        let before = self.items().await;
        let ids: Vec<&str> = documents.iter().map(|one| self.documents[*one].rsplit('/').next().unwrap()).collect();
        let (ada, project) = (&self.reviewed.ada, &self.reviewed.project);
        let started = ada.client.post(runs(project)).json(json!({"documentIds": ids})).await.is(202);
        let run = started.text_of("id");
        let over = ada.over(&format!("{}/{run}", runs(project))).await;
        assert_eq!(over["status"], "COMPLETED", "{over}");
        let after = self.items().await;
        let listed = self.proposals(&format!("runId={run}")).await;
        let is_reviewed = self.model.items.values().any(|item| item.touched);
        assert!(is_reviewed || listed.is_empty(), "nothing is proposed before anybody has reviewed anything");

        for (id, item) in &self.model.items {
            if item.touched {
                assert_eq!(before[id], after[id], "a run changes nothing that a person has touched");
            }
        }
        let seen = SeenRun { documents, is_reviewed, before, after };
        let mut ids = BTreeMap::new();
        for wants_stories in [false, true] {
            let own: Vec<ExpectedFinding> =
                findings.iter().filter(|one| one.is_story == wants_stories).cloned().collect();
            let proposed = ProposedByRun::of(&listed, wants_stories);
            self.ran(&seen, wants_stories, &own, &proposed, &mut ids);
        }
        // What a story covers is an item by now, or will be one.
        for story in findings.iter().filter(|one| one.is_story) {
            let Some(own) = ids.get(&(true, story.key.clone())) else { continue };
            for requirement in story.covers.iter().filter_map(|covered| ids.get(&(false, covered.clone()))) {
                self.model.links.insert((own.clone(), requirement.clone()));
            }
        }
        let open: BTreeSet<String> = self.proposals("status=OPEN").await.iter().map(id).collect();
        let expected = self.model.proposals.iter().filter(|one| one.is_open()).map(|one| one.id.clone());
        assert_eq!(open, expected.collect(), "what is open after a run");
        self.count("runs");
    }

    /// What a run makes of its findings of one kind. Adds to `ids` those of the items that they are about.
    fn ran(
        &mut self,
        seen: &SeenRun<'_>,
        is_story: bool,
        findings: &[ExpectedFinding],
        proposed: &ProposedByRun,
        ids: &mut BTreeMap<(bool, String), String>,
    ) {
        let (mut found, mut changed, mut unknown) = (BTreeSet::new(), BTreeSet::new(), Vec::new());
        for finding in findings {
            let Some(id) = self.model.known(is_story, &finding.key) else {
                if seen.is_reviewed {
                    unknown.push(finding);
                } else {
                    let id = self.published(finding, &seen.after);
                    found.insert(id.clone());
                    ids.insert((is_story, finding.key.clone()), id);
                }
                continue;
            };
            found.insert(id.clone());
            ids.insert((is_story, finding.key.clone()), id.clone());
            if !self.model.items[&id].touched {
                self.refreshed(&id, finding, &seen.after);
            } else if self.model.items[&id].found != finding.content && !self.was_dismissed(&id, finding) {
                changed.insert(id);
            }
        }

        // Findings with other words are changes of items with nearly the same words, if these were not found themselves.
        let missing = self
            .model
            .items
            .iter()
            .filter(|(id, item)| item.touched && item.now.is_story == is_story && !found.contains(*id));
        let missing: Vec<(String, String)> = missing.map(|(id, item)| (id.clone(), item.now.words())).collect();
        let like = |play: &Self, finding: &ExpectedFinding, words: &String| {
            finding.likeness(play.found_texts.contains(&(is_story, words.clone())), words)
        };
        let mut matched = BTreeMap::new();
        for finding in &unknown {
            let now = proposed.changed.iter().find(|(_, one)| content(&one["after"]) == finding.content);
            let now = now.filter(|(id, _)| !changed.contains(*id));
            let item = match now {
                Some((id, _)) => {
                    assert!(!self.was_dismissed(id, finding), "it was dismissed: {finding:?}");
                    changed.insert(id.clone());
                    Some(id.clone())
                }
                None if proposed.new.contains_key(&finding.words) => None,
                None => {
                    let is_kept = |(id, words): &&(String, String)| {
                        self.was_dismissed(id, finding)
                            && !proposed.gone.contains_key(id)
                            && like(self, finding, words) != Likeness::Unlike
                    };
                    missing.iter().find(is_kept).map(|(id, _)| id.clone())
                }
            };
            if let Some(id) = item {
                let (_, words) =
                    missing.iter().find(|(one, _)| *one == id).unwrap_or_else(|| panic!("{id}: {finding:?}"));
                assert_ne!(like(self, finding, words), Likeness::Unlike, "{words} is another matter than {finding:?}");
                assert_eq!(matched.insert(id.clone(), finding.words.clone()), None, "an item is matched once");
                ids.insert((is_story, finding.key.clone()), id);
            }
        }
        found.extend(matched.keys().cloned());
        let mut new = BTreeSet::new();
        for finding in unknown.iter().filter(|finding| !matched.values().any(|words| *words == finding.words)) {
            for (id, words) in &missing {
                let is_free = !matched.contains_key(id);
                assert!(!is_free || like(self, finding, words) != Likeness::Alike, "{finding:?} is like {words}");
            }
            if self.model.dismissed_texts.contains(&(is_story, finding.key.clone())) {
                continue;
            }
            new.insert(finding.words.clone());
            self.must_be_new(finding, &proposed.new[&finding.words], ids);
        }
        assert_eq!(proposed.new.keys().cloned().collect::<BTreeSet<_>>(), new, "what is NEW");
        assert_eq!(proposed.changed.keys().cloned().collect::<BTreeSet<_>>(), changed, "what is CHANGED");
        let is_gone = |id: &&String| {
            let item = &self.model.items[*id];
            let is_read = seen.documents.contains(&document_of(&item.key));
            !found.contains(*id) && item.now.status != "REJECTED" && !self.model.kept.contains(*id) && is_read
        };
        let gone: BTreeSet<String> = missing.iter().map(|(id, _)| id).filter(is_gone).cloned().collect();
        assert_eq!(proposed.gone.keys().cloned().collect::<BTreeSet<_>>(), gone, "what is GONE");

        for one in self.model.proposals.iter_mut().filter(|one| one.is_open() && one.is_story == is_story) {
            let is_superseded = match one.kind {
                "NEW" => seen.documents.contains(&document_of(&one.key)),
                _ => found.contains(&one.item) || gone.contains(&one.item),
            };
            one.status = if is_superseded { "SUPERSEDED" } else { one.status };
        }
        self.register(is_story, proposed, findings, &seen.before);
    }

    fn was_dismissed(&self, id: &str, finding: &ExpectedFinding) -> bool {
        self.model.dismissed_changes.iter().any(|(item, content)| item == id && *content == finding.content)
    }

    /// A finding that becomes an item at once.
    fn published(&mut self, finding: &ExpectedFinding, after: &BTreeMap<String, Value>) -> String {
        let code = self.model.next_code(finding.is_story);
        let is_it = |item: &&Value| is_story(item) == finding.is_story && item["code"] == code.as_str();
        let item = after.values().find(is_it).unwrap_or_else(|| panic!("no {code}"));
        let covers = ExpectedItem::of(item).covers;
        let now = ExpectedItem::added(finding.is_story, code, finding.content.clone(), covers);
        let wishes = BTreeSet::new();
        let played = PlayedItem {
            first: now.clone(),
            now,
            touched: false,
            found: finding.content.clone(),
            key: finding.key.clone(),
            wishes,
            is_added: false,
        };
        self.model.items.insert(id(item), played);
        id(item)
    }

    /// An item that nobody has touched becomes as it is found.
    fn refreshed(&mut self, id: &str, finding: &ExpectedFinding, after: &BTreeMap<String, Value>) {
        let item = self.model.items.get_mut(id).unwrap();
        item.now.version += i64::from(item.now.content != finding.content);
        item.now.content = finding.content.clone();
        item.found = finding.content.clone();
        item.now.covers = ExpectedItem::of(&after[id]).covers;
        item.first = item.now.clone();
    }

    fn must_be_new(&self, finding: &ExpectedFinding, one: &Value, ids: &mut BTreeMap<(bool, String), String>) {
        assert_eq!((&one["before"], content(&one["after"])), (&Value::Null, finding.content.clone()));
        let of_item = id(&one["after"]);
        let same = self.model.proposals.iter().find(|former| {
            former.is_open() && former.kind == "NEW" && former.is_story == finding.is_story && former.key == finding.key
        });
        if let Some(same) = same {
            assert_eq!(same.item, of_item, "the same finding keeps the id under which it would become an item");
        }
        ids.insert((finding.is_story, finding.key.clone()), of_item);
    }

    /// Notes what is proposed now, in an order that is the same whenever the seed is played again.
    fn register(
        &mut self,
        is_story: bool,
        proposed: &ProposedByRun,
        findings: &[ExpectedFinding],
        before: &BTreeMap<String, Value>,
    ) {
        let mut noted = Vec::new();
        for (kind, some) in [("NEW", &proposed.new), ("CHANGED", &proposed.changed), ("GONE", &proposed.gone)] {
            for (item, one) in some {
                let present = before.get(item);
                if kind != "NEW" {
                    assert_eq!(Some(&one["before"]), present, "{kind}");
                }
                let now = self.model.items.get(item).map(|item| &item.now);
                let content = if kind == "GONE" { Value::Null } else { content(&one["after"]) };
                if let (Some(now), "CHANGED") = (now, kind) {
                    let shown = ExpectedItem::of(&one["after"]);
                    let revised = now.revised(content.clone(), "AI_REGENERATED");
                    assert_eq!(ExpectedItem { covers: revised.covers.clone(), ..shown }, revised);
                }
                let key = findings.iter().find(|finding| finding.content == content).map(|finding| finding.key.clone());
                assert_eq!(key.is_some(), kind != "GONE", "nothing that was found: {one:#}");
                let covers = one["after"]["requirementIds"].as_array().into_iter().flatten();
                noted.push((
                    now.map(|now| now.code.clone()).unwrap_or_else(|| item.clone()),
                    PlayedProposal {
                        id: id(one),
                        is_story,
                        kind,
                        item: if kind == "NEW" { id(&one["after"]) } else { item.clone() },
                        key: key.unwrap_or_default(),
                        content,
                        covers: covers.map(|id| id.as_str().unwrap().to_owned()).collect(),
                        target_version: now.map(|now| now.version),
                        status: "OPEN",
                    },
                ));
            }
        }
        noted.sort_by_key(|(place, one)| (one.kind, place.clone()));
        self.model.proposals.extend(noted.into_iter().map(|(_, one)| one));
    }
}
