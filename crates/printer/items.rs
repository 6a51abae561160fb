//! Requirements and user stories.

use std::collections::HashMap;

use exports::specification::{
    CriterionEntry, QualityNote, RequirementEntry, Specification, SpecificationSummary, UserStoryEntry,
};
use exports::words::{Label, TermSet};

use crate::compose::{BODY, Composer, SMALL, SMALL_MUTED, style};
use crate::flow::TEXT_WIDTH;
use crate::plan::PlannedSection;
use crate::structure::{ElementIndex, ElementRole};
use crate::typeset::{SpanStyle, StyledText, TextColor};

/// What is in the column of labels but is no label: codes of criteria, bullets.
const CODE: SpanStyle = style(8.5, true, TextColor::Accent);

/// The codes of requirements by their ids.
pub(crate) type CodesById<'a> = HashMap<&'a str, &'a str>;

pub(crate) fn requirement_codes(specification: &Specification) -> CodesById<'_> {
    specification.requirements.iter().map(|item| (item.id.as_str(), item.code.as_str())).collect()
}

impl Composer {
    pub(crate) fn summary(&mut self, planned: &PlannedSection<'_>, summary: &SpecificationSummary) {
        let section = self.section(planned.label, planned.anchor);
        self.text(section, &summary.text, 0..0);
        let lists = [
            (Label::KeyDecisions, &summary.key_decisions),
            (Label::Scope, &summary.scope),
            (Label::OutOfScope, &summary.out_of_scope),
            (Label::Assumptions, &summary.assumptions),
        ];
        if summary.text.trim().is_empty() && lists.iter().all(|(_, texts)| texts.is_empty()) {
            self.nothing(section);
        }
        for (label, texts) in lists.into_iter().filter(|(_, texts)| !texts.is_empty()) {
            self.group(section, self.label(label), 3);
            self.bullets(section, texts);
        }
    }

    pub(crate) fn requirements(
        &mut self,
        planned: &PlannedSection<'_>,
        requirements: &[RequirementEntry],
        codes: &CodesById<'_>,
    ) {
        let section = self.section(planned.label, planned.anchor);
        if requirements.is_empty() {
            self.nothing(section);
        }
        // Types become groups only where the data has each in one piece: its order is kept in any case.
        let groups = requirements.chunk_by(|one, next| one.kind == next.kind);
        let grouped = is_grouped(requirements);
        let mut index = 0;
        for group in groups {
            if let Some(first) = group.first().filter(|_| grouped) {
                let title = self.term(TermSet::RequirementType, &first.kind);
                self.group(section, &title, 3);
            }
            for requirement in group {
                let anchor = planned.item_anchor(index);
                let level = if grouped { 4 } else { 3 };
                let item = self.item(section, level, anchor, (&requirement.code, &requirement.title));
                self.requirement(item, requirement, codes);
                index += 1;
            }
        }
    }

    fn requirement(&mut self, item: ElementIndex, requirement: &RequirementEntry, codes: &CodesById<'_>) {
        let notes = self.numbers(&requirement.sources);
        self.text(item, &requirement.statement, notes.clone());
        let head = [Label::Type, Label::Category, Label::Priority, Label::Status, Label::Confidence];
        let category = requirement.category.as_deref().unwrap_or_default();
        let facts = vec![
            self.term(TermSet::RequirementType, &requirement.kind),
            self.term(TermSet::Category, category),
            self.term(TermSet::Priority, &requirement.priority),
            self.term(TermSet::WorkflowStatus, &requirement.workflow_status),
            percent(requirement.confidence),
        ];
        self.table(item, &[head.map(|label| self.label(label).to_owned()).to_vec(), facts], false);
        let list = self.list(item);
        self.suspicion(list, requirement.suspect);
        self.quality(list, &requirement.quality_issues);
        let duplicate: Vec<&str> = requirement.duplicate_of.as_deref().into_iter().collect();
        self.codes(list, Label::DuplicateOf, &duplicate, codes);
        let conflicts: Vec<&str> = requirement.conflicts_with.iter().map(String::as_str).collect();
        self.codes(list, Label::ConflictsWith, &conflicts, codes);
        self.sources(list, &requirement.sources, notes);
    }

    pub(crate) fn stories(&mut self, planned: &PlannedSection<'_>, stories: &[UserStoryEntry], codes: &CodesById<'_>) {
        let section = self.section(planned.label, planned.anchor);
        if stories.is_empty() {
            self.nothing(section);
        }
        for (index, story) in stories.iter().enumerate() {
            let item = self.item(section, 3, planned.item_anchor(index), (&story.code, &story.title));
            self.story(item, story, codes);
        }
    }

    fn story(&mut self, item: ElementIndex, story: &UserStoryEntry, codes: &CodesById<'_>) {
        let notes = self.numbers(&story.sources);
        self.text(item, &story.description, notes.clone());
        let head = [Label::Priority, Label::Status, Label::QualityScore, Label::Version];
        let facts = vec![
            self.term(TermSet::Priority, &story.priority),
            self.term(TermSet::WorkflowStatus, &story.workflow_status),
            percent(story.quality_score),
            story.version.to_string(),
        ];
        self.table(item, &[head.map(|label| self.label(label).to_owned()).to_vec(), facts], false);
        let list = self.list(item);
        self.fact_text(list, Label::Role, story.role.as_deref());
        self.fact_text(list, Label::Goal, Some(&story.goal));
        self.fact_text(list, Label::Benefit, story.benefit.as_deref());
        if !story.acceptance_criteria.is_empty() {
            self.fact(list, Label::AcceptanceCriteria, |composer, body| {
                let criteria = composer.list(body);
                story.acceptance_criteria.iter().for_each(|criterion| composer.criterion(criteria, criterion));
            });
        }
        self.suspicion(list, story.suspect);
        self.quality(list, &story.quality_issues);
        let covered: Vec<&str> = story.requirement_ids.iter().map(String::as_str).collect();
        self.codes(list, Label::Requirements, &covered, codes);
        self.fact_text(list, Label::TrackerIssue, story.tracker_key.as_deref());
        self.fact_text(list, Label::TrackerUrl, story.tracker_url.as_deref());
        self.sources(list, &story.sources, notes);
    }

    /// The code, and beside it the text, or its three parts where it says nothing but them.
    fn criterion(&mut self, list: ElementIndex, criterion: &CriterionEntry) {
        let parts = [
            (Label::Given, criterion.given.as_deref()),
            (Label::When, criterion.when.as_deref()),
            (Label::Then, criterion.then.as_deref()),
        ];
        let parts: Vec<(Label, &str)> = parts
            .into_iter()
            .filter_map(|(label, part)| Some((label, part?.trim())))
            .filter(|(_, part)| !part.is_empty())
            .collect();
        let text = criterion.text.trim();
        let said = text.to_lowercase();
        let repeats = !parts.is_empty() && parts.iter().all(|(_, part)| said.contains(&part.to_lowercase()));
        let mut code = self.in_page();
        code.push_code(&self.shortened(&criterion.code, 24), CODE);
        let (start, width) = Self::body_box();
        self.labelled(list, &code, (start, NESTED_LABEL), |composer, body| {
            let inner = (start + NESTED_LABEL, width - NESTED_LABEL);
            if !text.is_empty() && !repeats {
                let shown = composer.shown(text);
                composer.boxed_text(body, &shown, SMALL, inner);
            }
            for (label, part) in parts {
                let shown = composer.shown(part);
                let mut paragraph = composer.in_page();
                paragraph.push(composer.label(label), SpanStyle { bold: true, ..SMALL });
                paragraph.push("  ", SMALL);
                paragraph.push_isolated(&shown, SMALL);
                composer.boxed(body, &paragraph, inner);
            }
        });
    }

    fn suspicion(&mut self, list: ElementIndex, suspect: bool) {
        if suspect {
            let note = self.label(Label::SuspectNote);
            self.fact(list, Label::Suspect, |composer, body| composer.body_text(body, note, SMALL));
        }
    }

    fn quality(&mut self, list: ElementIndex, issues: &[QualityNote]) {
        if issues.is_empty() {
            return;
        }
        self.fact(list, Label::QualityIssues, |composer, body| {
            for issue in issues {
                let mut paragraph = composer.in_page();
                paragraph.push_isolated(&composer.term(TermSet::QualityIssue, &issue.code), SMALL);
                paragraph.push(" (", SMALL_MUTED);
                paragraph.push_isolated(&composer.term(TermSet::Severity, &issue.severity), SMALL_MUTED);
                paragraph.push(")", SMALL_MUTED);
                let message = composer.shown_line(&issue.message);
                if !message.is_empty() {
                    paragraph.push(": ", SMALL_MUTED);
                    paragraph.push_isolated(&message, SMALL);
                }
                composer.body(body, &paragraph);
            }
        });
    }

    /// Other requirements by their codes; those that are not in the file are shown by their ids.
    fn codes(&mut self, list: ElementIndex, label: Label, ids: &[&str], codes: &CodesById<'_>) {
        if ids.is_empty() {
            return;
        }
        self.fact(list, label, |composer, body| {
            let mut paragraph = composer.in_page();
            for (index, id) in ids.iter().enumerate() {
                if index > 0 {
                    paragraph.push(composer.comma(), SMALL);
                }
                let code = codes.get(id).copied().unwrap_or(id);
                paragraph.push_code(&composer.shortened(code, 48), SMALL);
            }
            composer.body(body, &paragraph);
        });
    }

    pub(crate) fn bullets(&mut self, parent: ElementIndex, texts: &[String]) {
        let list = self.list(parent);
        let mut bullet = self.in_page();
        bullet.push("•", BODY);
        for text in texts {
            let shown = self.shown(text.trim());
            if shown.is_empty() {
                continue;
            }
            let inner = (BULLET_WIDTH, TEXT_WIDTH - BULLET_WIDTH);
            self.labelled(list, &bullet, (0.0, BULLET_WIDTH), |composer, body| {
                composer.boxed_text(body, &shown, BODY, inner);
            });
        }
    }

    pub(crate) fn boxed_text(&mut self, parent: ElementIndex, text: &str, look: SpanStyle, inner: (f32, f32)) {
        let mut paragraph = StyledText::new(self.direction_of(text));
        paragraph.push(text, look);
        paragraph.side = self.flow.page_start();
        self.boxed(parent, &paragraph, inner);
    }

    pub(crate) fn boxed(&mut self, parent: ElementIndex, paragraph: &StyledText, (start, width): (f32, f32)) {
        let element = self.flow.tree.add(parent, ElementRole::Paragraph);
        self.flow.paragraph(element, paragraph, start, width);
    }
}

const NESTED_LABEL: f32 = 46.0;
const BULLET_WIDTH: f32 = 14.0;

/// Whether each type stands in one piece, and there are several.
fn is_grouped(requirements: &[RequirementEntry]) -> bool {
    let mut kinds: Vec<&str> = requirements
        .chunk_by(|one, next| one.kind == next.kind)
        .filter_map(|group| Some(group.first()?.kind.as_str()))
        .collect();
    let pieces = kinds.len();
    kinds.sort_unstable();
    kinds.dedup();
    pieces > 1 && pieces == kinds.len()
}

/// `87 %` of .87, and nothing of what is no share.
fn percent(share: f64) -> String {
    if share.is_finite() { format!("{:.0} %", share.clamp(0.0, 1.0) * 100.0) } else { String::new() }
}
