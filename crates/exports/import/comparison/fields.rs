//! How the fields of one item differ.

use super::{CriterionWording, FieldDifference, FieldValue};
use crate::import::imported::{ImportedCriterion, ImportedRequirement, ImportedUserStory};
use crate::specification::{CriterionEntry, RequirementEntry, UserStoryEntry};
use crate::text::{clean, clean_line};

#[derive(Default)]
pub(super) struct Differences(pub(super) Vec<FieldDifference>);

impl Differences {
    pub(super) fn requirement(&mut self, item: &RequirementEntry, found: &ImportedRequirement) {
        self.title(&item.title, found.title.as_deref());
        self.text("statement", Some(&item.statement), found.statement.as_deref());
        self.text("type", Some(&item.kind), found.kind.as_deref());
        self.text("category", item.category.as_deref(), found.category.as_deref());
        self.text("priority", Some(&item.priority), found.priority.as_deref());
    }

    /// `links` are the ids that `found.requirement_ids` mean.
    pub(super) fn user_story(&mut self, item: &UserStoryEntry, found: &ImportedUserStory, links: Option<Vec<String>>) {
        self.title(&item.title, found.title.as_deref());
        self.text("role", item.role.as_deref(), found.role.as_deref());
        self.text("goal", Some(&item.goal), found.goal.as_deref());
        self.text("benefit", item.benefit.as_deref(), found.benefit.as_deref());
        self.text("description", Some(&item.description), found.description.as_deref());
        self.text("priority", Some(&item.priority), found.priority.as_deref());
        if let Some(links) = links {
            self.links("requirementIds", &item.requirement_ids, links);
        }
        if let Some(criteria) = &found.acceptance_criteria {
            self.criteria(&item.acceptance_criteria, criteria);
        }
    }

    /// A title is one line: some formats carry no other.
    fn title(&mut self, before: &str, after: Option<&str>) {
        let Some(after) = after else { return };
        if clean_line(before) != clean_line(after) {
            let (before, after) = (text_value(Some(before)), text_value(Some(after)));
            self.0.push(FieldDifference { name: "title", before, after });
        }
    }

    fn text(&mut self, name: &'static str, before: Option<&str>, after: Option<&str>) {
        let Some(after) = after else { return };
        if comparable(before.unwrap_or_default()) != comparable(after) {
            self.0.push(FieldDifference { name, before: text_value(before), after: text_value(Some(after)) });
        }
    }

    /// The order of links means nothing.
    fn links(&mut self, name: &'static str, before: &[String], after: Vec<String>) {
        let sorted = |ids: &[String]| {
            let mut ids = ids.to_vec();
            ids.sort();
            ids.dedup();
            ids
        };
        if sorted(before) != sorted(&after) {
            let before = FieldValue::Links(before.to_vec());
            self.0.push(FieldDifference { name, before, after: FieldValue::Links(after) });
        }
    }

    fn criteria(&mut self, before: &[CriterionEntry], after: &[ImportedCriterion]) {
        let before: Vec<CriterionWording> = before.iter().map(CriterionWording::from).collect();
        let after: Vec<CriterionWording> = after.iter().map(CriterionWording::from).collect();
        let is_same = before.len() == after.len()
            && before.iter().zip(&after).all(|(before, after)| before.comparable() == after.comparable());
        if !is_same {
            let (before, after) = (FieldValue::Criteria(before), FieldValue::Criteria(after));
            self.0.push(FieldDifference { name: "acceptanceCriteria", before, after });
        }
    }
}

fn text_value(text: Option<&str>) -> FieldValue {
    match text {
        Some(text) if !text.trim().is_empty() => FieldValue::Text(text.to_owned()),
        _ => FieldValue::Nothing,
    }
}

/// A text as far as it is compared. Other programs indent, wrap and end lines in their own ways, and files carry no control characters.
fn comparable(text: &str) -> String {
    let text = clean(text);
    let lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n").trim().to_owned()
}

impl CriterionWording {
    fn comparable(&self) -> [String; 4] {
        let part = |part: &Option<String>| comparable(part.as_deref().unwrap_or_default());
        [comparable(&self.text), part(&self.given), part(&self.when), part(&self.then)]
    }
}

impl From<&CriterionEntry> for CriterionWording {
    fn from(criterion: &CriterionEntry) -> Self {
        Self {
            text: criterion.text.clone(),
            given: criterion.given.clone(),
            when: criterion.when.clone(),
            then: criterion.then.clone(),
        }
    }
}

impl From<&ImportedCriterion> for CriterionWording {
    fn from(criterion: &ImportedCriterion) -> Self {
        let part = |part: &Option<String>| part.clone().filter(|text| !text.trim().is_empty());
        Self {
            text: criterion.text.clone(),
            given: part(&criterion.given),
            when: part(&criterion.when),
            then: part(&criterion.then),
        }
    }
}
