//! What a file would change: new, changed field by field, unchanged, missing from the file, not understood.
//!
//! An item of the file is that of the project which has its id, otherwise the one which has its code. Items that the file lacks are
//! listed, never deleted. Statuses, duplicates and conflicts are decided here and not in files: where a file differs in them, it is said
//! under `not_understood`.

mod fields;
mod index;

use std::collections::HashSet;

use fields::Differences;
use index::{Match, ProjectIndex};
use serde::Serialize;

use super::fault::quoted;
use super::imported::{Imported, ImportedRequirement, ImportedUserStory, NotUnderstood};
use super::notes::NoteList;
use crate::specification::{RequirementEntry, Specification, UserStoryEntry};

#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    pub new_requirements: Vec<ImportedRequirement>,
    /// Their `requirement_ids` are ids of this project, or those that the file gives to its new requirements.
    pub new_user_stories: Vec<ImportedUserStory>,
    pub changed: Vec<ChangedEntry>,
    pub unchanged: Vec<ComparisonEntry>,
    /// In the project and not in the file.
    pub missing: Vec<ComparisonEntry>,
    /// As in [`Imported`].
    pub not_understood: Vec<NotUnderstood>,
    pub more_not_understood: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EntryKind {
    Requirement,
    UserStory,
}

/// An item of the project.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonEntry {
    pub kind: EntryKind,
    pub id: String,
    pub code: String,
    pub title: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedEntry {
    #[serde(flatten)]
    pub entry: ComparisonEntry,
    /// False where the file's id is unknown here and its code alone decided.
    pub matched_by_id: bool,
    pub current_version: i64,
    /// The version that was exported. Below `current_version`, the item was changed here since.
    pub version_in_file: Option<i64>,
    pub fields: Vec<FieldDifference>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldDifference {
    /// The interface's name of the field, such as `acceptanceCriteria`.
    pub name: &'static str,
    pub before: FieldValue,
    pub after: FieldValue,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FieldValue {
    /// `null`
    Nothing,
    Text(String),
    /// Ids of requirements: of the project, or as the file names its new ones.
    Links(Vec<String>),
    Criteria(Vec<CriterionWording>),
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CriterionWording {
    pub text: String,
    pub given: Option<String>,
    pub when: Option<String>,
    pub then: Option<String>,
}

/// Sets a file beside the current state of the project.
pub fn compare(current: &Specification, imported: &Imported) -> Comparison {
    let mut comparison = OpenComparison {
        notes: NoteList::of(&imported.not_understood, imported.more_not_understood),
        found: Comparison::default(),
    };
    let mut index = ProjectIndex::new(current, imported);
    for found in &imported.requirements {
        comparison.add_requirement(&mut index, found);
    }
    for found in &imported.user_stories {
        comparison.add_user_story(&mut index, found);
    }
    let (not_understood, more_not_understood) = comparison.notes.into_parts();
    Comparison { missing: index.unseen(), not_understood, more_not_understood, ..comparison.found }
}

/// A comparison that is being made.
struct OpenComparison {
    notes: NoteList,
    found: Comparison,
}

impl OpenComparison {
    fn add_requirement(&mut self, index: &mut ProjectIndex<'_>, found: &ImportedRequirement) {
        match index.requirement(found) {
            Match::Item { item, by_id } => {
                let mut differences = Differences::default();
                differences.requirement(item, found);
                self.note_kept_fields(index, item, found);
                let head = (requirement_entry(item), item.version);
                self.add_known(head, found.version, by_id, differences);
            }
            Match::Repeated(code) => self.note(&found.place, repeated(&code)),
            Match::Unknown if is_blank(&found.title) && is_blank(&found.statement) => {
                self.note(&found.place, "The requirement has neither a title nor a statement.".into());
            }
            Match::Unknown => {
                if found.workflow_status.as_deref().is_some_and(|status| status != "NEEDS_REVIEW") {
                    self.note(
                        &found.place,
                        "The status of a new requirement is not taken over: it starts in review.".into(),
                    );
                }
                if found.duplicate_of.is_some() || found.conflicts_with.as_ref().is_some_and(|ids| !ids.is_empty()) {
                    self.note(&found.place, "Duplicates and conflicts of a new requirement are not taken over.".into());
                }
                self.found.new_requirements.push(found.clone());
            }
        }
    }

    fn add_user_story(&mut self, index: &mut ProjectIndex<'_>, found: &ImportedUserStory) {
        let matched = index.user_story(found);
        let links = found.requirement_ids.as_ref().map(|links| self.resolved(index, links, &found.place));
        match matched {
            Match::Item { item, by_id } => {
                let mut differences = Differences::default();
                differences.user_story(item, found, links);
                self.note_status(found.workflow_status.as_deref(), &item.workflow_status, &found.place);
                let head = (user_story_entry(item), item.version);
                self.add_known(head, found.version, by_id, differences);
            }
            Match::Repeated(code) => self.note(&found.place, repeated(&code)),
            Match::Unknown if is_blank(&found.title) && is_blank(&found.goal) => {
                self.note(&found.place, "The user story has neither a title nor a goal.".into());
            }
            Match::Unknown => {
                if found.workflow_status.as_deref().is_some_and(|status| status != "NEEDS_REVIEW") {
                    self.note(
                        &found.place,
                        "The status of a new user story is not taken over: it starts in review.".into(),
                    );
                }
                self.found.new_user_stories.push(ImportedUserStory { requirement_ids: links, ..found.clone() });
            }
        }
    }

    fn add_known(
        &mut self,
        (entry, current_version): (ComparisonEntry, i64),
        version_in_file: Option<i64>,
        matched_by_id: bool,
        Differences(fields): Differences,
    ) {
        if fields.is_empty() {
            self.found.unchanged.push(entry);
        } else {
            self.found.changed.push(ChangedEntry { entry, matched_by_id, current_version, version_in_file, fields });
        }
    }

    /// The ids that links mean; those that mean nothing are noted.
    fn resolved(&mut self, index: &ProjectIndex<'_>, links: &[String], place: &str) -> Vec<String> {
        let (mut resolved, mut seen) = (Vec::with_capacity(links.len()), HashSet::with_capacity(links.len()));
        for link in links {
            match index.requirement_id(link) {
                Some(id) if seen.contains(&id) => {}
                Some(id) => {
                    seen.insert(id.clone());
                    resolved.push(id);
                }
                None => self.note(place, format!("The link to {} leads to no requirement.", quoted(link))),
            }
        }
        resolved
    }

    /// What the file says differently and what files do not decide.
    fn note_kept_fields(&mut self, index: &ProjectIndex<'_>, item: &RequirementEntry, found: &ImportedRequirement) {
        self.note_status(found.workflow_status.as_deref(), &item.workflow_status, &found.place);
        if let Some(original) = &found.duplicate_of {
            let original = (!original.trim().is_empty())
                .then(|| index.requirement_id(original).unwrap_or_else(|| original.clone()));
            if original != item.duplicate_of {
                self.note(&found.place, "The file names another duplicate; duplicates are not taken over.".into());
            }
        }
        if found.conflicts_with.is_some() && index.has_other_conflicts(&item.id) {
            self.note(&found.place, "The file names other conflicts; conflicts are not taken over.".into());
        }
    }

    fn note_status(&mut self, in_file: Option<&str>, here: &str, place: &str) {
        if let Some(status) = in_file
            && status != here
        {
            self.note(place, format!("The status {status} is not taken over; it stays {here}."));
        }
    }

    fn note(&mut self, place: &str, reason: String) {
        self.notes.add(place, &reason);
    }
}

fn repeated(code: &str) -> String {
    format!("{code} is in the file more than once; only the first is compared.")
}

fn is_blank(text: &Option<String>) -> bool {
    text.as_deref().unwrap_or_default().trim().is_empty()
}

fn requirement_entry(item: &RequirementEntry) -> ComparisonEntry {
    ComparisonEntry {
        kind: EntryKind::Requirement,
        id: item.id.clone(),
        code: item.code.clone(),
        title: item.title.clone(),
    }
}

fn user_story_entry(item: &UserStoryEntry) -> ComparisonEntry {
    ComparisonEntry {
        kind: EntryKind::UserStory,
        id: item.id.clone(),
        code: item.code.clone(),
        title: item.title.clone(),
    }
}
