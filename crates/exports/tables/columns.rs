//! The columns of each table.

use crate::words::{Label, TermSet};

#[derive(Debug, Clone, Copy)]
pub(crate) struct TableColumn {
    pub(crate) label: Label,
    /// In characters.
    pub(crate) width: u8,
    /// The words that a person may choose from when they edit the cell.
    pub(crate) choices: Option<TermSet>,
}

const fn column(label: Label, width: u8) -> TableColumn {
    TableColumn { label, width, choices: None }
}

const fn choice(label: Label, width: u8, set: TermSet) -> TableColumn {
    TableColumn { label, width, choices: Some(set) }
}

pub(super) fn of(table: Label) -> &'static [TableColumn] {
    match table {
        Label::Requirements => REQUIREMENTS,
        Label::UserStories => USER_STORIES,
        Label::AcceptanceCriteria => CRITERIA,
        Label::Risks => RISKS,
        Label::OpenQuestions => OPEN_QUESTIONS,
        Label::ActionItems => ACTION_ITEMS,
        Label::Decisions => DECISIONS,
        Label::Sources => SOURCES,
        _ => OVERVIEW,
    }
}

const OVERVIEW: &[TableColumn] = &[column(Label::Item, 24), column(Label::Text, 100)];

const REQUIREMENTS: &[TableColumn] = &[
    column(Label::Code, 11),
    column(Label::Title, 32),
    column(Label::Statement, 60),
    choice(Label::Type, 16, TermSet::RequirementType),
    choice(Label::Category, 22, TermSet::Category),
    choice(Label::Priority, 11, TermSet::Priority),
    column(Label::Confidence, 11),
    column(Label::Status, 15),
    column(Label::Suspect, 10),
    column(Label::QualityIssues, 40),
    column(Label::DuplicateOf, 14),
    column(Label::ConflictsWith, 18),
    column(Label::Sources, 40),
    column(Label::Version, 9),
    column(Label::RevisionSource, 18),
    column(Label::CreatedAt, 17),
    column(Label::UpdatedAt, 17),
    column(Label::Id, 38),
];

const USER_STORIES: &[TableColumn] = &[
    column(Label::Code, 11),
    column(Label::Title, 32),
    column(Label::Role, 22),
    column(Label::Goal, 44),
    column(Label::Benefit, 36),
    column(Label::Story, 60),
    column(Label::Requirements, 18),
    choice(Label::Priority, 11, TermSet::Priority),
    column(Label::Status, 15),
    column(Label::Suspect, 10),
    column(Label::QualityScore, 12),
    column(Label::QualityIssues, 40),
    column(Label::TrackerIssue, 14),
    column(Label::TrackerUrl, 36),
    column(Label::Sources, 40),
    column(Label::Version, 9),
    column(Label::RevisionSource, 18),
    column(Label::CreatedAt, 17),
    column(Label::UpdatedAt, 17),
    column(Label::Id, 38),
];

const CRITERIA: &[TableColumn] = &[
    column(Label::StoryCode, 14),
    column(Label::Code, 11),
    column(Label::Criterion, 60),
    column(Label::Given, 36),
    column(Label::When, 36),
    column(Label::Then, 36),
    column(Label::Id, 38),
];

const RISKS: &[TableColumn] = &[
    column(Label::Code, 11),
    column(Label::Title, 32),
    column(Label::Description, 60),
    column(Label::Severity, 12),
    column(Label::Likelihood, 16),
    column(Label::Mitigation, 44),
    column(Label::Sources, 40),
    column(Label::Id, 38),
];

const OPEN_QUESTIONS: &[TableColumn] = &[
    column(Label::Code, 11),
    column(Label::Question, 60),
    column(Label::Why, 44),
    column(Label::RaisedBy, 22),
    column(Label::Sources, 40),
    column(Label::Id, 38),
];

const ACTION_ITEMS: &[TableColumn] = &[
    column(Label::Code, 11),
    column(Label::ActionItem, 60),
    column(Label::Assignee, 22),
    column(Label::DueDate, 12),
    column(Label::Sources, 40),
    column(Label::Id, 38),
];

const DECISIONS: &[TableColumn] =
    &[column(Label::Code, 11), column(Label::Decision, 60), column(Label::Sources, 40), column(Label::Id, 38)];

const SOURCES: &[TableColumn] = &[
    column(Label::Item, 11),
    column(Label::SourceKind, 14),
    column(Label::SourceName, 30),
    column(Label::Quote, 60),
    column(Label::Page, 8),
    column(Label::Section, 28),
    column(Label::StartTime, 9),
    column(Label::EndTime, 9),
    column(Label::Speaker, 20),
    column(Label::StartOffset, 14),
    column(Label::EndOffset, 14),
    column(Label::SourceId, 38),
];
