//! Plans what a file would change: compares it with the project's items and drafts proposals. Nothing is read or written here; the
//! time that it takes is in proportion to the file and to the items.

use std::collections::HashMap;

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use exports::import::{
    ChangedEntry, Comparison, ComparisonEntry, EntryKind, Imported, ImportedRequirement, ImportedUserStory, compare,
};
use exports::specification::Specification;
use pipeline::engine;
use uuid::Uuid;

use super::model::{ImportNote, ImportReport, MissingItem};
use super::wording::{LinkedRequirements, changed_requirement, changed_story, new_requirement, new_story};
use crate::analysis::exports::specification::{requirement_entry, user_story_entry};
use crate::analysis::items::content_key::content_key;
use crate::analysis::items::item_of;
use crate::analysis::items::project_item::ProjectItem;
use crate::analysis::proposals::model::ProposalKind;
use crate::analysis::proposals::store::drafts::ProposalDraft;
use crate::projects::item_kind::ItemKind;

/// The most proposals that an import makes: as many as a run has items.
const MAX_PROPOSALS: usize = 20_000;
/// The most bytes that these have, before and after.
pub const MAX_PROPOSED_BYTES: usize = 128 * 1024 * 1024;
/// The most entries of a list of the report.
const MAX_LISTED: usize = 1_000;

/// An item of the project. Its body is parsed again where the file changes it: most items stay as they are.
struct PresentItem {
    kind: ItemKind,
    id: Uuid,
    code: String,
    /// As it is stored.
    body: String,
    text_key: String,
    written_key: String,
}

/// What a file is compared with.
pub struct ImportGround {
    items: Vec<PresentItem>,
    /// The items in the words of the comparison.
    current: Specification,
    run_id: Id<Run>,
    now: Time,
}

impl ImportGround {
    #[must_use]
    pub fn new(run_id: Id<Run>, now: Time) -> Self {
        Self { items: Vec::new(), current: Specification::default(), run_id, now }
    }

    /// Adds an item of the project as it is stored.
    ///
    /// # Errors
    /// Returns a message for a body that can't be parsed.
    pub fn add(&mut self, target: ItemKind, text_key: String, body: String) -> Result<(), String> {
        let mut item = item_of(target, &body).map_err(|error| error.to_string())?;
        let (id, code) = (item.id(), item.code().to_owned());
        let written_key = written_key(&item);
        // Sources are not compared, and are most of an item.
        item.set_sources(Vec::new());
        match item {
            ProjectItem::Requirement(one) => self.current.requirements.push(requirement_entry(one, &HashMap::new())),
            ProjectItem::UserStory(one) => self.current.user_stories.push(user_story_entry(one, &HashMap::new())),
            // No file that is imported has them.
            _ => return Ok(()),
        }
        self.items.push(PresentItem { kind: target, id, code, body, text_key, written_key });
        Ok(())
    }
}

/// What an import proposes and reports.
pub struct ImportPlan {
    /// Requirements first.
    pub drafts: Vec<(ItemKind, ProposalDraft)>,
    pub report: ImportReport,
}

/// Plans an import. Takes long for a large file.
///
/// # Errors
/// A sentence for the person who uploads the file.
pub fn plan(ground: &ImportGround, imported: Imported) -> Result<ImportPlan, String> {
    let comparison = compare(&ground.current, &imported);
    drop(imported);
    if comparison.changed.len() + comparison.new_requirements.len() + comparison.new_user_stories.len() > MAX_PROPOSALS
    {
        return Err(format!("The file changes more than {MAX_PROPOSALS} items. Split it."));
    }
    let mut planner = Planner::new(ground);
    for found in &comparison.new_requirements {
        planner.add_requirement(found)?;
    }
    for found in &comparison.new_user_stories {
        planner.add_story(found)?;
    }
    for entry in &comparison.changed {
        planner.change(entry)?;
    }
    let missing: Vec<&ComparisonEntry> = comparison.missing.iter().collect();
    planner.unchanged += comparison.unchanged.len();
    Ok(planner.end(&missing, &comparison))
}

struct Planner<'a> {
    ground: &'a ImportGround,
    by_id: HashMap<Uuid, &'a PresentItem>,
    /// Items by their words, with their codes: those that are here, and those that are new and have none.
    worded: HashMap<String, (Uuid, String)>,
    linked: LinkedRequirements,
    drafts: Vec<(ItemKind, ProposalDraft)>,
    bytes_left: usize,
    new: usize,
    unchanged: usize,
    notes: Vec<ImportNote>,
    /// How many there are beyond those.
    more_notes: usize,
}

impl<'a> Planner<'a> {
    fn new(ground: &'a ImportGround) -> Self {
        let requirements = ground.items.iter().filter(|known| known.kind == ItemKind::Requirement);
        let mut worded = HashMap::new();
        for known in &ground.items {
            let named = || (known.id, known.code.clone());
            // By the words that the analysis found, and by those that people made of them.
            worded.insert(known.text_key.clone(), named());
            worded.entry(known.written_key.clone()).or_insert_with(named);
        }
        Self {
            ground,
            by_id: ground.items.iter().map(|known| (known.id, known)).collect(),
            worded,
            linked: requirements.map(|known| (known.id.to_string(), known.id)).collect(),
            drafts: Vec::new(),
            bytes_left: MAX_PROPOSED_BYTES,
            new: 0,
            unchanged: 0,
            notes: Vec::new(),
            more_notes: 0,
        }
    }

    fn add_requirement(&mut self, found: &ImportedRequirement) -> Result<(), String> {
        let ImportGround { run_id, now, .. } = *self.ground;
        match new_requirement(found, run_id, now) {
            Err(wrong) => self.note(&found.place, left_out(&wrong)),
            Ok(one) => {
                let id = self.add(&ProjectItem::Requirement(one), &found.place)?;
                if let Some(name) = found.id.as_ref().or(found.code.as_ref()) {
                    self.linked.insert(name.clone(), id);
                }
            }
        }
        Ok(())
    }

    fn add_story(&mut self, found: &ImportedUserStory) -> Result<(), String> {
        let ImportGround { run_id, now, .. } = *self.ground;
        match new_story(found, &self.linked, run_id, now) {
            Err(wrong) => self.note(&found.place, left_out(&wrong)),
            Ok(one) => {
                self.add(&ProjectItem::UserStory(one), &found.place)?;
            }
        }
        Ok(())
    }

    /// Proposes a new item, unless there is one with its words. Returns the id of the one that has them then.
    fn add(&mut self, item: &ProjectItem, place: &str) -> Result<Uuid, String> {
        let text_key = written_key(item);
        if let Some((id, code)) = self.worded.get(&text_key).cloned() {
            let other = if code.is_empty() { "an item before it" } else { &code };
            self.note(place, left_out(&format!("It has the words of {other}.")));
            return Ok(id);
        }
        self.worded.insert(text_key.clone(), (item.id(), String::new()));
        self.new += 1;
        self.draft(item, ProposalKind::New, None, None, text_key)?;
        Ok(item.id())
    }

    fn change(&mut self, entry: &ChangedEntry) -> Result<(), String> {
        let ChangedEntry { entry: head, matched_by_id, current_version, version_in_file, fields } = entry;
        let id: Option<Uuid> = head.id.parse().ok();
        let Some(known) = id.and_then(|id| self.by_id.get(&id).copied()) else {
            return Err(format!("{} is not an item of the project.", head.code));
        };
        let now = self.ground.now;
        let before = item_of(known.kind, &known.body).map_err(|error| error.to_string())?;
        let changed = match &before {
            ProjectItem::Requirement(one) => changed_requirement(one, fields, now).map(ProjectItem::Requirement),
            ProjectItem::UserStory(one) => changed_story(one, fields, &self.linked, now).map(ProjectItem::UserStory),
            _ => return Err(format!("{} is no item that a file changes.", head.code)),
        };
        match changed {
            Err(wrong) => self.note(&head.code, left_out(&wrong)),
            // What differs is written otherwise, and means the same.
            Ok(changed) if changed == before => self.unchanged += 1,
            Ok(changed) => {
                if !matched_by_id {
                    self.note(&head.code, "It was recognised by its code alone.".to_owned());
                }
                let version = version_in_file.unwrap_or(*current_version);
                if version != *current_version {
                    let changed_here = format!(
                        "It was exported as version {version} and is version {current_version} now: accepting what the file \
                         says takes back what was changed since, and needs If-Match."
                    );
                    self.note(&head.code, changed_here);
                }
                self.draft(&changed, ProposalKind::Changed, Some(known), Some(version), known.text_key.clone())?;
            }
        }
        Ok(())
    }

    fn draft(
        &mut self,
        after: &ProjectItem,
        kind: ProposalKind,
        before: Option<&PresentItem>,
        target_version: Option<i64>,
        text_key: String,
    ) -> Result<(), String> {
        let after_body = serde_json::to_string(after).map_err(|error| error.to_string())?;
        let taken = after_body.len() + before.map_or(0, |known| known.body.len());
        self.bytes_left = self.bytes_left.checked_sub(taken).ok_or_else(|| {
            let most = MAX_PROPOSED_BYTES / (1024 * 1024);
            format!("What the file changes has more than {most} MiB of text. Split it.")
        })?;
        let draft = ProposalDraft {
            id: Id::generate(),
            item_id: after.id(),
            kind,
            text_key,
            content_key: content_key(after),
            target_version,
            before: before.map(|known| known.body.clone()),
            after: Some(after_body),
            reason: None,
        };
        self.drafts.push((after.kind(), draft));
        Ok(())
    }

    fn note(&mut self, place: &str, message: String) {
        if self.notes.len() >= MAX_LISTED {
            self.more_notes += 1;
            return;
        }
        self.notes.push(ImportNote { place: place.to_owned(), message });
    }

    fn end(mut self, missing: &[&ComparisonEntry], comparison: &Comparison) -> ImportPlan {
        let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
        let more_notes = self.more_notes + comparison.more_not_understood;
        let mut notes = self.notes;
        let read = comparison.not_understood.iter();
        notes.extend(read.map(|note| ImportNote { place: note.place.clone(), message: note.reason.clone() }));
        // Each kind stays in the order of the file.
        self.drafts.sort_by_key(|(target, _)| *target);
        let mut report = ImportReport::default();
        report.counts.new = count(self.new);
        report.counts.changed = count(self.drafts.len() - self.new);
        report.counts.unchanged = count(self.unchanged);
        report.counts.missing = count(missing.len());
        report.counts.notes = count(notes.len() + more_notes);
        report.missing = missing.iter().take(MAX_LISTED).filter_map(|entry| missing_item(entry)).collect();
        report.notes = notes.into_iter().take(MAX_LISTED).collect();
        ImportPlan { drafts: self.drafts, report }
    }
}

fn written_key(item: &ProjectItem) -> String {
    match item {
        ProjectItem::Requirement(one) => engine::requirement_key(&one.statement),
        ProjectItem::UserStory(one) => engine::story_key(&one.description),
        other => engine::requirement_key(other.words()),
    }
}

fn left_out(why: &str) -> String {
    format!("{why} It is not taken over.")
}

fn missing_item(entry: &ComparisonEntry) -> Option<MissingItem> {
    Some(MissingItem {
        target_type: match entry.kind {
            EntryKind::Requirement => ItemKind::Requirement,
            EntryKind::UserStory => ItemKind::UserStory,
        },
        id: entry.id.parse().ok()?,
        code: entry.code.clone(),
        title: entry.title.clone(),
    })
}

#[cfg(test)]
mod tests {
    use complexity::assert_linear;
    use exports::import::ImportedCriterion;

    use super::*;

    fn demand(id: &str, statement: &str) -> ImportedRequirement {
        let some = |text: &str| Some(text.to_owned());
        ImportedRequirement { id: some(id), statement: some(statement), place: id.to_owned(), ..Default::default() }
    }

    fn story(goal: &str, covers: &[&str]) -> ImportedUserStory {
        ImportedUserStory {
            goal: Some(goal.to_owned()),
            requirement_ids: Some(covers.iter().map(|id| (*id).to_owned()).collect()),
            acceptance_criteria: Some(vec![ImportedCriterion { text: "It is shown.".into(), ..Default::default() }]),
            place: goal.to_owned(),
            ..Default::default()
        }
    }

    /// A project with one requirement.
    fn ground(statement: &str) -> ImportGround {
        let (run_id, now) = (Id::generate(), Time::from_millis(1_764_000_000_000).unwrap());
        let mut one = new_requirement(&demand("", statement), run_id, now).unwrap();
        one.code = "REQ-001".to_owned();
        let mut ground = ImportGround::new(run_id, now);
        let body = serde_json::to_string(&ProjectItem::Requirement(one)).unwrap();
        ground.add(ItemKind::Requirement, "words-of-a-finding".to_owned(), body).unwrap();
        ground
    }

    #[test]
    fn a_story_covers_the_item_with_the_words_of_the_requirement_that_the_file_names() {
        let ground = ground("The desk must print a list.");
        let imported = Imported {
            requirements: vec![
                demand("_here", "The desk must print a list!"),
                demand("_new", "The desk must show a list."),
                demand("_twice", "The desk must show a list!"),
                demand("_wrong", &"x".repeat(6_000)),
            ],
            user_stories: vec![story("see a list", &["_here", "_new", "_wrong"]), story("see it again", &["_twice"])],
            ..Imported::default()
        };
        let ImportPlan { drafts, report } = plan(&ground, imported).unwrap();
        let [(_, requirement), (_, first), (_, second)] = drafts.as_slice() else { panic!("{drafts:?}") };
        let covers = |draft: &ProposalDraft| {
            let item: serde_json::Value = serde_json::from_str(draft.after.as_deref().unwrap()).unwrap();
            item["requirementIds"].clone()
        };
        assert_eq!(covers(first), serde_json::json!([ground.items[0].id, requirement.item_id]));
        assert_eq!(covers(second), serde_json::json!([requirement.item_id]));

        assert_eq!((report.counts.new, report.counts.missing), (3, 1));
        let places: Vec<&str> = report.notes.iter().map(|note| note.place.as_str()).collect();
        assert_eq!(places, ["_here", "_twice", "_wrong"]);
        assert_eq!(report.notes[0].message, "It has the words of REQ-001. It is not taken over.");
        assert_eq!(report.notes[1].message, "It has the words of an item before it. It is not taken over.");
    }

    /// A project with `n` items of each kind, and a file that changes, repeats and adds to all of them.
    fn ladder(n: usize) -> (ImportGround, Imported) {
        let (run_id, now) = (Id::generate(), Time::from_millis(1_764_000_000_000).unwrap());
        let mut ground = ImportGround::new(run_id, now);
        let mut imported = Imported::default();
        let mut known = Vec::new();
        for at in 0..n {
            let mut one =
                new_requirement(&demand("", &format!("The desk must print list {at}.")), run_id, now).unwrap();
            one.code = format!("REQ-{at}");
            known.push(one.id.to_string());
            imported.requirements.push(demand(&known[at], &format!("The desk must show list {at}.")));
            imported.requirements.push(demand(&format!("_new{at}"), &format!("The ward must show list {at}.")));
            imported.requirements.push(demand(&format!("_twice{at}"), "The ward must show one list."));
            let body = serde_json::to_string(&ProjectItem::Requirement(one)).unwrap();
            ground.add(ItemKind::Requirement, format!("key{at}"), body).unwrap();
        }
        for at in 0..n {
            let covered = [&*known[at], &*known[(at * 7) % n], "_new0", "nowhere"];
            imported.user_stories.push(story(&format!("see list {at}"), &covered));
        }
        (ground, imported)
    }

    #[test]
    fn a_file_is_planned_in_proportion_to_its_items_and_those_of_the_project() {
        assert_linear("plans", 200, ladder, |(ground, imported)| plan(ground, imported.clone()));
        // One story names all requirements: those are too many for it, and are looked at once all the same.
        let one_story = |n| {
            let (ground, mut imported) = ladder(n);
            let named: Vec<String> = imported.requirements.iter().filter_map(|one| one.id.clone()).collect();
            let named: Vec<&str> = named.iter().chain(&named).map(String::as_str).collect();
            imported.user_stories = vec![story("see everything", &named)];
            (ground, imported)
        };
        assert_linear("links of a story", 200, one_story, |(ground, imported)| plan(ground, imported.clone()));
        let is_read = |n| {
            let (ground, _) = ladder(n);
            let items = ground.items.into_iter().map(|one| (one.kind, one.text_key, one.body));
            items.collect::<Vec<(ItemKind, String, String)>>()
        };
        assert_linear("items of a project", 200, is_read, |items| {
            let now = Time::from_millis(1_764_000_000_000).unwrap();
            let mut ground = ImportGround::new(Id::generate(), now);
            items.iter().for_each(|(target, key, body)| ground.add(*target, key.clone(), body.clone()).unwrap());
            ground
        });
    }
}
