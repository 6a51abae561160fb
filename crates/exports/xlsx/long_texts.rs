//! Texts that are too long for a cell: the cell holds the beginning and names the row of the sheet where it continues.

use crate::tables::{CellContent, ColumnReader, TableColumn};
use crate::text::split_at_utf16;
use crate::words::{Label, Words};

pub(super) const COLUMNS: &[TableColumn] = &[
    column(Label::Sheet, 20, ColumnReader::Anyone),
    column(Label::Column, 18, ColumnReader::Anyone),
    column(Label::Part, 8, ColumnReader::Anyone),
    column(Label::Text, 100, ColumnReader::Anyone),
    column(Label::Id, 38, ColumnReader::Program),
];

const fn column(label: Label, width: u8, reader: ColumnReader) -> TableColumn {
    TableColumn { label, width, choices: None, reader }
}

/// What the note about the continuation takes at most, in UTF-16 code units.
const NOTE_UNITS: usize = 100;

/// The cell that a long text belongs to.
#[derive(Debug, Clone, Copy)]
pub(super) struct CellOwner<'a> {
    pub(super) table: Label,
    pub(super) column: Label,
    /// The id of the item.
    pub(super) item: &'a str,
}

/// What did not fit, piece by piece in the order of the sheet.
#[derive(Default)]
pub(super) struct LongTexts(Vec<LongTextPiece>);

pub(super) struct LongTextPiece {
    table: Label,
    column: Label,
    item: String,
    /// The cell itself holds the first part: pieces count from 2.
    part: u32,
    text: String,
}

impl LongTexts {
    /// What the cell shows: the text, or its beginning with the row where the rest is.
    pub(super) fn cut(&mut self, text: &str, limit: usize, words: Words, owner: CellOwner<'_>) -> String {
        if split_at_utf16(text, limit).1.is_empty() {
            return text.to_owned();
        }
        let (beginning, mut rest) = split_at_utf16(text, limit.saturating_sub(NOTE_UNITS));
        // Below the row of headings, counted from 1 as Excel does.
        let first_row = self.0.len() + 2;
        let mut part = 2;
        while !rest.is_empty() {
            let (piece, after) = split_at_utf16(rest, limit);
            self.0.push(LongTextPiece {
                table: owner.table,
                column: owner.column,
                item: owner.item.to_owned(),
                part,
                text: piece.to_owned(),
            });
            (part, rest) = (part + 1, after);
        }
        format!("{beginning}\n… ({} {first_row})", words.label(Label::ContinuesInRow))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn pieces(&self) -> impl Iterator<Item = &LongTextPiece> {
        self.0.iter()
    }
}

impl LongTextPiece {
    pub(super) fn cells(&self, words: Words) -> [CellContent<'_>; 5] {
        [
            CellContent::Text(words.label(self.table).into()),
            CellContent::Text(words.label(self.column).into()),
            CellContent::Number(f64::from(self.part)),
            CellContent::Text(self.text.as_str().into()),
            CellContent::Text(self.item.as_str().into()),
        ]
    }
}
