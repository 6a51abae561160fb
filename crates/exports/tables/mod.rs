//! A specification as tables: one of each kind of item. Workbooks and comma-separated files show the same ones.

mod columns;
mod rows;

use std::borrow::Cow;

use crate::references::RequirementCodes;
use crate::specification::Specification;
use crate::words::{Label, Words};

pub(crate) use columns::{ColumnReader, TableColumn};

/// What a cell holds. Texts are cleaned, but not yet made inert: what that takes depends on the format.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum CellContent<'a> {
    Empty,
    Text(Cow<'a, str>),
    Number(f64),
    /// A time in RFC 3339 or a date: `2026-11-25T10:00:00Z`, `2026-11-25`.
    Time(Cow<'a, str>),
}

pub(crate) struct SpecificationTable<'a> {
    /// Its heading, which is also the name of the sheet or the file.
    pub(crate) label: Label,
    pub(crate) columns: &'static [TableColumn],
    /// Made while they are written: a large specification never stands twice in memory.
    pub(crate) rows: Box<dyn Iterator<Item = Vec<CellContent<'a>>> + 'a>,
}

/// The version of the layout of tables, written into the overview, so that a file that comes back says how it is to be read.
pub(crate) const TABLE_FORMAT: &str = "colloquy-tables/1";

/// All tables, in the order in which they are shown; also those without rows.
pub(crate) fn tables<'a>(
    specification: &'a Specification,
    words: Words,
    codes: &'a RequirementCodes<'a>,
) -> Vec<SpecificationTable<'a>> {
    let table = |label, rows| SpecificationTable { label, columns: columns::of(label), rows };
    vec![
        table(Label::Overview, Box::new(rows::overview(specification, words))),
        table(Label::Requirements, Box::new(rows::requirements(specification, words, codes))),
        table(Label::UserStories, Box::new(rows::user_stories(specification, words, codes))),
        table(Label::AcceptanceCriteria, Box::new(rows::criteria(specification))),
        table(Label::Risks, Box::new(rows::risks(specification, words))),
        table(Label::OpenQuestions, Box::new(rows::open_questions(specification, words))),
        table(Label::ActionItems, Box::new(rows::action_items(specification, words))),
        table(Label::Decisions, Box::new(rows::decisions(specification, words))),
        table(Label::Sources, Box::new(rows::sources(specification, words))),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file_tests::samples;

    #[test]
    fn every_row_has_a_cell_for_each_column() {
        for language in ["EN", "DE", "AR"] {
            let specification = samples::hostile(language);
            let codes = RequirementCodes::of(&specification);
            for table in tables(&specification, Words::of(language), &codes) {
                let mut rows = 0;
                for row in table.rows {
                    assert_eq!(row.len(), table.columns.len(), "{:?}", table.label);
                    rows += 1;
                }
                assert!(rows > 0, "{:?}", table.label);
            }
        }
    }
}
