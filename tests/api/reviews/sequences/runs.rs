//! Analysing the documents again, as they are or with other texts: what becomes of the items, and what is proposed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::Play;
use super::findings::{ExpectedFinding, Likeness, TOPIC_COUNT, document_of, first_topic, text};
use super::model::{ExpectedItem, PlayedItem, PlayedProposal, ProjectModel, content, id, is_story, said, words};
use crate::analysis::runs;

/// What a run proposes for the items of one kind, by their items.
#[derive(Default)]
struct ProposedByRun {
    changed: BTreeMap<String, Value>,
    gone: BTreeMap<String, Value>,
}

/// What a run read, and what there was before and after it.
struct SeenRun<'a> {
    documents: &'a [usize],
    before: BTreeMap<String, Value>,
    after: BTreeMap<String, Value>,
}

impl ProposedByRun {
    fn of(listed: &[Value], wants_stories: bool) -> Self {
        let mut proposed = Self::default();
        for one in listed.iter().filter(|one| (one["targetType"] == "USER_STORY") == wants_stories) {
            let target = one["targetId"].as_str().map(str::to_owned);
            let former = match (one["kind"].as_str().unwrap(), target) {
                ("CHANGED", Some(item)) => proposed.changed.insert(item, one.clone()),
                ("GONE", Some(item)) => proposed.gone.insert(item, one.clone()),
                _ => panic!("{one:#}"),
            };
            assert_eq!(former, None, "one proposal for each item");
        }
        proposed
    }
}

impl SeenRun<'_> {
    /// Whether the run added an item that says what was found.
    fn has_added(&self, finding: &ExpectedFinding) -> bool {
        let mut added = self.after.iter().filter(|(id, _)| !self.before.contains_key(*id)).map(|(_, item)| item);
        added.any(|item| is_story(item) == finding.is_story && content(item) == finding.content)
    }
}

impl Play<'_> {
    /// Analyses one document or both, whose texts may be others by now.
    pub async fn run_again(&mut self) -> String {
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
        self.run(&documents).await
    }

    /// Analyses some documents, and returns the id of the run.
    pub async fn run(&mut self, documents: &[usize]) -> String {
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
        assert!(before.keys().all(|id| after.contains_key(id)), "a run removes nothing");
        let seen = SeenRun { documents, before, after };
        let mut ids = BTreeMap::new();
        for wants_stories in [false, true] {
            let own: Vec<ExpectedFinding> =
                findings.iter().filter(|one| one.is_story == wants_stories).cloned().collect();
            let proposed = ProposedByRun::of(&listed, wants_stories);
            self.ran(&seen, wants_stories, &own, &proposed, &mut ids);
        }
        let open: BTreeSet<String> = self.proposals("status=OPEN").await.iter().map(id).collect();
        let expected = self.model.proposals.iter().filter(|one| one.is_open()).map(|one| one.id.clone());
        assert_eq!(open, expected.collect(), "what is open after a run");
        self.count("runs");
        run
    }

    /// Analyses the documents again, and undoes it: all is as it was, but the codes that were given are not given again.
    pub async fn run_and_undo(&mut self) {
        let former = self.model.clone();
        let run = self.run_again().await;
        let path = format!("{}/{run}/undo", runs(&self.reviewed.project));
        let undone = self.reviewed.ada.client.post(&path).json(json!({})).await.is(200);
        assert_eq!(undone.data()["kept"], json!([]), "nobody has touched anything");
        self.reviewed.ada.client.post(&path).json(json!({})).await.refused(409, "InvalidState");
        println!("{}: undone", self.number);
        self.model = ProjectModel { counts: self.model.counts.clone(), ..former };
        let open: BTreeSet<String> = self.proposals("status=OPEN").await.iter().map(id).collect();
        let expected = self.model.proposals.iter().filter(|one| one.is_open()).map(|one| one.id.clone());
        assert_eq!(open, expected.collect(), "what is open after a run was undone");
        self.count("undone");
    }

    /// The requirements that a story covers, by what the run found.
    fn covered(finding: &ExpectedFinding, ids: &BTreeMap<(bool, String), String>) -> BTreeSet<String> {
        finding.covers.iter().filter_map(|key| ids.get(&(false, key.clone())).cloned()).collect()
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
            let known = self.model.known(is_story, &finding.key);
            let Some(id) = known.clone().or_else(|| self.model.saying(is_story, &finding.words)) else {
                match self.decided(finding) {
                    Some((id, is_open)) => {
                        ids.insert((is_story, finding.key.clone()), id.clone());
                        found.insert(id.clone());
                        if is_open {
                            changed.insert(id);
                        }
                    }
                    None => unknown.push(finding),
                }
                continue;
            };
            found.insert(id.clone());
            ids.insert((is_story, finding.key.clone()), id.clone());
            let item = self.model.items.get_mut(&id).unwrap();
            if known.is_none() || item.found == finding.content {
                item.now.covers.extend(Self::covered(finding, ids));
                if !item.touched {
                    item.first = item.now.clone();
                }
                self.count("confirmed");
            } else if !item.touched {
                item.now.version += i64::from(item.now.content != finding.content);
                item.now.content = finding.content.clone();
                item.found = finding.content.clone();
                item.now.covers = Self::covered(finding, ids);
                item.first = item.now.clone();
            } else if !self.was_dismissed(&id, finding) {
                changed.insert(id);
            }
        }

        // Findings with other words are changes of items with nearly the same words, if these were not found themselves.
        let missing =
            self.model.items.iter().filter(|(id, item)| item.now.is_story == is_story && !found.contains(*id));
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
                None if seen.has_added(finding) => None,
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
        for finding in unknown.iter().filter(|finding| !matched.values().any(|words| *words == finding.words)) {
            for (id, words) in &missing {
                let is_free = !matched.contains_key(id);
                assert!(!is_free || like(self, finding, words) != Likeness::Alike, "{finding:?} is like {words}");
            }
            let covers = Self::covered(finding, ids);
            let id = self.added(finding, covers, &seen.after);
            ids.insert((is_story, finding.key.clone()), id);
        }
        assert_eq!(proposed.changed.keys().cloned().collect::<BTreeSet<_>>(), changed, "what is CHANGED");
        let is_gone = |id: &&String| {
            let item = &self.model.items[*id];
            let is_read = seen.documents.contains(&document_of(&item.key));
            !found.contains(*id) && item.now.status != "REJECTED" && !self.model.kept.contains(*id) && is_read
        };
        let gone: BTreeSet<String> = missing.iter().map(|(id, _)| id).filter(is_gone).cloned().collect();
        assert_eq!(proposed.gone.keys().cloned().collect::<BTreeSet<_>>(), gone, "what is GONE");

        for one in self.model.proposals.iter_mut().filter(|one| one.is_open() && one.is_story == is_story) {
            let is_superseded = found.contains(&one.item) || gone.contains(&one.item);
            one.status = if is_superseded { "SUPERSEDED" } else { one.status };
        }
        self.register(is_story, proposed, findings, seen);
    }

    /// The item that a finding was proposed as a change of, and whether that is open: once proposed, it is no new item.
    fn decided(&self, finding: &ExpectedFinding) -> Option<(String, bool)> {
        let says_it = |content: &Value| said(&words(finding.is_story, content)) == said(&finding.words);
        let open = self.model.proposals.iter().filter(|one| one.is_open() && one.kind == "CHANGED");
        let open: Vec<_> = open.filter(|one| one.is_story == finding.is_story).collect();
        let by_key = open.iter().rfind(|one| one.key == finding.key);
        if let Some(open) = by_key.or_else(|| open.iter().rfind(|one| says_it(&one.content))) {
            return Some((open.item.clone(), true));
        }
        let is_it = |(id, content): &&(String, Value)| {
            self.model.items[id].now.is_story == finding.is_story && (*content == finding.content || says_it(content))
        };
        let dismissed = self.model.dismissed_changes.iter().filter(is_it);
        dismissed.map(|(id, _)| id).min().map(|id| (id.clone(), false))
    }

    fn was_dismissed(&self, id: &str, finding: &ExpectedFinding) -> bool {
        self.model.dismissed_changes.iter().any(|(item, content)| item == id && *content == finding.content)
    }

    /// A finding that becomes an item. Returns its id.
    fn added(
        &mut self,
        finding: &ExpectedFinding,
        covers: BTreeSet<String>,
        after: &BTreeMap<String, Value>,
    ) -> String {
        let code = self.model.next_code(finding.is_story);
        let is_it = |item: &&Value| is_story(item) == finding.is_story && item["code"] == code.as_str();
        let item = after.values().find(is_it).unwrap_or_else(|| panic!("no {code}"));
        let now = ExpectedItem::added(finding.is_story, code, finding.content.clone(), covers);
        let (found, key) = (finding.content.clone(), finding.key.clone());
        let played = PlayedItem { first: now.clone(), now, touched: false, found, key };
        self.model.items.insert(id(item), played);
        id(item)
    }

    /// Notes what is proposed now, in an order that is the same whenever the seed is played again.
    fn register(&mut self, is_story: bool, proposed: &ProposedByRun, findings: &[ExpectedFinding], seen: &SeenRun<'_>) {
        let mut noted = Vec::new();
        for (kind, some) in [("CHANGED", &proposed.changed), ("GONE", &proposed.gone)] {
            for (item, one) in some {
                assert_eq!(Some(&one["before"]), seen.before.get(item), "{kind}");
                let now = &self.model.items[item].now;
                let content = if kind == "GONE" { Value::Null } else { content(&one["after"]) };
                if kind == "CHANGED" {
                    let shown = ExpectedItem::of(&one["after"]);
                    let revised = now.revised(content.clone(), "AI_REGENERATED");
                    assert_eq!(ExpectedItem { covers: revised.covers.clone(), ..shown }, revised);
                }
                let key = findings.iter().find(|finding| finding.content == content).map(|finding| finding.key.clone());
                assert_eq!(key.is_some(), kind != "GONE", "nothing that was found: {one:#}");
                let covers = one["after"]["requirementIds"].as_array().into_iter().flatten();
                noted.push((
                    now.code.clone(),
                    PlayedProposal {
                        id: id(one),
                        is_story,
                        kind,
                        item: item.clone(),
                        key: key.unwrap_or_default(),
                        content,
                        covers: covers.map(|id| id.as_str().unwrap().to_owned()).collect(),
                        target_version: now.version,
                        status: "OPEN",
                    },
                ));
            }
        }
        noted.sort_by_key(|(place, one)| (one.kind, place.clone()));
        self.model.proposals.extend(noted.into_iter().map(|(_, one)| one));
    }
}
