//! The requirements, user stories and acceptance criteria in the rows of sheets.

use std::collections::HashMap;

use super::super::bounds::{ItemBudget, name};
use super::super::fault::ImportFault;
use super::super::imported::{Imported, ImportedCriterion, ImportedRequirement, ImportedUserStory};
use super::super::notes::NoteList;
use super::{Continuations, ImportedRows, ImportedSheet};
use crate::words::{Label, TermSet};

/// The columns that are read; the others are exported for people to read.
pub(super) fn columns_of(sheet: Label) -> &'static [Label] {
    match sheet {
        Label::Requirements => &[
            Label::Code,
            Label::Title,
            Label::Statement,
            Label::Type,
            Label::Category,
            Label::Priority,
            Label::Status,
            Label::DuplicateOf,
            Label::ConflictsWith,
            Label::Version,
            Label::Id,
        ],
        Label::UserStories => &[
            Label::Code,
            Label::Title,
            Label::Role,
            Label::Goal,
            Label::Benefit,
            Label::Requirements,
            Label::Priority,
            Label::Status,
            Label::Version,
            Label::Id,
        ],
        Label::AcceptanceCriteria => {
            &[Label::StoryCode, Label::Code, Label::Criterion, Label::Given, Label::When, Label::Then, Label::Id]
        }
        Label::LongTexts => &[Label::Sheet, Label::Column, Label::Part, Label::Text, Label::Id],
        _ => &[],
    }
}

pub(super) fn read(
    sheets: Vec<ImportedSheet>,
    continuations: &mut Continuations,
    notes: &mut NoteList,
) -> Result<Imported, ImportFault> {
    let mut imported = Imported::default();
    let mut budget = ItemBudget::default();
    let mut criteria: HashMap<String, Vec<(String, ImportedCriterion)>> = HashMap::new();
    let mut has_criteria = false;
    for mut sheet in sheets {
        has_criteria |= sheet.label == Label::AcceptanceCriteria && !sheet.columns().is_empty();
        // A row goes once it is an item.
        for row in std::mem::take(&mut sheet.rows) {
            let place = sheet.place(&row);
            let fault = |message| ImportFault::at(&*place, message);
            let budget = &mut budget;
            let mut reader = ImportedRows { sheet: &sheet, row: &row, continuations, budget, notes };
            match sheet.label {
                Label::Requirements => imported.requirements.push(reader.requirement().map_err(fault)?),
                Label::UserStories => imported.user_stories.push(reader.user_story().map_err(fault)?),
                Label::AcceptanceCriteria => {
                    let story = reader.filled(Label::StoryCode).unwrap_or_default();
                    let criterion = reader.criterion();
                    criteria.entry(key(&story)).or_default().push((place, criterion));
                }
                _ => {}
            }
        }
    }
    if has_criteria {
        for story in &mut imported.user_stories {
            let own = story.code.as_deref().and_then(|code| criteria.remove(&key(code))).unwrap_or_default();
            story.acceptance_criteria = Some(own.into_iter().map(|(_, criterion)| criterion).collect());
        }
    }
    let mut without_story: Vec<String> = criteria.into_values().flatten().map(|(place, _)| place).collect();
    without_story.sort();
    for place in &without_story {
        notes.add(place, "No user story of this file has the code that the criterion names.");
    }
    Ok(imported)
}

fn key(code: &str) -> String {
    code.trim().to_lowercase()
}

impl ImportedRows<'_> {
    fn requirement(&mut self) -> Result<ImportedRequirement, String> {
        Ok(ImportedRequirement {
            id: self.name(Label::Id)?,
            code: self.name(Label::Code)?,
            version: self.version(),
            title: self.text(Label::Title),
            statement: self.text(Label::Statement),
            kind: self.word(Label::Type, TermSet::RequirementType),
            category: self.category(),
            priority: self.word(Label::Priority, TermSet::Priority),
            workflow_status: self.word(Label::Status, TermSet::WorkflowStatus),
            duplicate_of: self.filled(Label::DuplicateOf),
            conflicts_with: self.list(Label::ConflictsWith)?,
            place: self.sheet.place(self.row),
        })
    }

    fn user_story(&mut self) -> Result<ImportedUserStory, String> {
        Ok(ImportedUserStory {
            id: self.name(Label::Id)?,
            code: self.name(Label::Code)?,
            version: self.version(),
            requirement_ids: self.list(Label::Requirements)?,
            title: self.text(Label::Title),
            role: self.text(Label::Role),
            goal: self.text(Label::Goal),
            benefit: self.text(Label::Benefit),
            description: self.text(Label::Story),
            priority: self.word(Label::Priority, TermSet::Priority),
            acceptance_criteria: None,
            workflow_status: self.word(Label::Status, TermSet::WorkflowStatus),
            place: self.sheet.place(self.row),
        })
    }

    fn name(&mut self, label: Label) -> Result<Option<String>, String> {
        self.filled(label).map(name).transpose()
    }

    fn criterion(&mut self) -> ImportedCriterion {
        ImportedCriterion {
            id: self.filled(Label::Id),
            code: self.filled(Label::Code),
            text: self.text(Label::Criterion).unwrap_or_default(),
            given: self.text(Label::Given),
            when: self.text(Label::When),
            then: self.text(Label::Then),
        }
    }

    fn version(&mut self) -> Option<i64> {
        let text = self.filled(Label::Version)?;
        // Programs write whole numbers as `3` or as `3.0`.
        let whole = text.split_once('.').filter(|(_, zeros)| zeros.bytes().all(|digit| digit == b'0'));
        let version = whole.map_or(text.as_str(), |(whole, _)| whole).parse().ok();
        if version.is_none() {
            self.note(Label::Version, "The version is not a whole number.");
        }
        version
    }

    fn word(&mut self, label: Label, set: TermSet) -> Option<String> {
        let text = self.filled(label)?;
        let word = set.parse(&text).map(str::to_owned);
        if word.is_none() {
            let start: String = text.chars().take(60).collect();
            self.note(label, &format!("“{start}” is not one of the words for this column."));
        }
        word
    }

    /// An empty cell takes the category away.
    fn category(&mut self) -> Option<String> {
        match self.text(Label::Category)?.trim() {
            "" => Some(String::new()),
            _ => self.word(Label::Category, TermSet::Category),
        }
    }

    fn list(&mut self, label: Label) -> Result<Option<Vec<String>>, String> {
        let Some(text) = self.text(label) else { return Ok(None) };
        let separators = [',', ';', '،', '؛', '\n'];
        let codes = text.split(separators).map(str::trim).filter(|code| !code.is_empty());
        self.budget.links(codes.map(str::to_owned)).map(Some)
    }
}
