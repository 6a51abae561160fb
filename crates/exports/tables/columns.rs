//! The columns of each table.

use crate::words::{Label, TermSet};

#[derive(Debug, Clone, Copy)]
pub(crate) struct TableColumn {
    pub(crate) label: Label,
    /// In characters.
    pub(crate) width: u8,
    /// The words that a person may choose from when they edit the cell.
    pub(crate) choices: Option<TermSet>,
    pub(crate) reader: ColumnReader,
}

/// Who a column is for. Workbooks print the first, show the second beside them, and hide the third.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ColumnReader {
    Anyone,
    Editor,
    /// Ids, versions and times, which an import needs.
    Program,
}

const fn column(label: Label, width: u8) -> TableColumn {
    TableColumn { label, width, choices: None, reader: ColumnReader::Anyone }
}

const fn choice(label: Label, width: u8, set: TermSet) -> TableColumn {
    TableColumn { label, width, choices: Some(set), reader: ColumnReader::Anyone }
}

const fn for_editors(label: Label, width: u8) -> TableColumn {
    TableColumn { label, width, choices: None, reader: ColumnReader::Editor }
}

const fn for_programs(label: Label, width: u8) -> TableColumn {
    TableColumn { label, width, choices: None, reader: ColumnReader::Program }
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
    column(Label::Code, 10),
    column(Label::Title, 28),
    column(Label::Statement, 54),
    choice(Label::Type, 14, TermSet::RequirementType),
    choice(Label::Category, 16, TermSet::Category),
    choice(Label::Priority, 10, TermSet::Priority),
    column(Label::Status, 13),
    column(Label::Sources, 32),
    for_editors(Label::ConflictsWith, 18),
    for_editors(Label::DuplicateOf, 14),
    for_editors(Label::Suspect, 10),
    for_editors(Label::QualityIssues, 40),
    for_programs(Label::Confidence, 11),
    for_programs(Label::Version, 9),
    for_programs(Label::RevisionSource, 18),
    for_programs(Label::CreatedAt, 17),
    for_programs(Label::UpdatedAt, 17),
    for_programs(Label::Id, 38),
];

const USER_STORIES: &[TableColumn] = &[
    column(Label::Code, 10),
    column(Label::Title, 26),
    column(Label::Role, 14),
    column(Label::Goal, 32),
    column(Label::Benefit, 26),
    column(Label::Story, 44),
    column(Label::Requirements, 14),
    choice(Label::Priority, 10, TermSet::Priority),
    column(Label::Status, 13),
    for_editors(Label::Sources, 40),
    for_editors(Label::Suspect, 10),
    for_editors(Label::QualityIssues, 40),
    for_editors(Label::TrackerIssue, 14),
    for_editors(Label::TrackerUrl, 36),
    for_programs(Label::QualityScore, 12),
    for_programs(Label::Version, 9),
    for_programs(Label::RevisionSource, 18),
    for_programs(Label::CreatedAt, 17),
    for_programs(Label::UpdatedAt, 17),
    for_programs(Label::Id, 38),
];

const CRITERIA: &[TableColumn] = &[
    column(Label::StoryCode, 14),
    column(Label::Code, 11),
    column(Label::Criterion, 60),
    column(Label::Given, 36),
    column(Label::When, 36),
    column(Label::Then, 36),
    for_programs(Label::Id, 38),
];

const RISKS: &[TableColumn] = &[
    column(Label::Code, 11),
    column(Label::Title, 32),
    column(Label::Description, 60),
    column(Label::Severity, 12),
    column(Label::Likelihood, 16),
    column(Label::Mitigation, 44),
    column(Label::Sources, 40),
    for_programs(Label::Id, 38),
];

const OPEN_QUESTIONS: &[TableColumn] = &[
    column(Label::Code, 11),
    column(Label::Question, 60),
    column(Label::Why, 44),
    column(Label::RaisedBy, 22),
    column(Label::Sources, 40),
    for_programs(Label::Id, 38),
];

const ACTION_ITEMS: &[TableColumn] = &[
    column(Label::Code, 11),
    column(Label::ActionItem, 60),
    column(Label::Assignee, 22),
    column(Label::DueDate, 12),
    column(Label::Sources, 40),
    for_programs(Label::Id, 38),
];

const DECISIONS: &[TableColumn] =
    &[column(Label::Code, 11), column(Label::Decision, 60), column(Label::Sources, 40), for_programs(Label::Id, 38)];

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
    for_editors(Label::StartOffset, 14),
    for_editors(Label::EndOffset, 14),
    for_programs(Label::SourceId, 38),
];
