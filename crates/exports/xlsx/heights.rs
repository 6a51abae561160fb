//! Rows as high as their texts. Excel finds that out when a file is opened, other programs take what the file says.

use crate::tables::{CellContent, ColumnReader, TableColumn};

/// Of a line in the font of the workbook, in points.
const LINE: f64 = 15.0;
/// The most that Excel takes, in points.
const HIGHEST: f64 = 409.0;

/// The height of a row, in lines of its highest cell.
pub(super) struct RowHeight(usize);

impl Default for RowHeight {
    fn default() -> Self {
        Self(1)
    }
}

impl RowHeight {
    pub(super) fn add(&mut self, column: &TableColumn, content: &CellContent<'_>) {
        if let CellContent::Text(text) = content
            && column.reader != ColumnReader::Program
        {
            // Lines end between words: about a tenth of them stays empty.
            let width = (usize::from(column.width) * 9 / 10).max(1);
            let lines = text.split('\n').map(|line| units(line).div_ceil(width).max(1)).sum();
            self.0 = self.0.max(lines);
        }
    }

    pub(super) fn points(&self) -> f64 {
        u32::try_from(self.0).map_or(HIGHEST, |lines| (f64::from(lines) * LINE).min(HIGHEST))
    }
}

/// The width of a line, in digits of the font.
fn units(line: &str) -> usize {
    line.chars().map(|character| if is_wide(character) { 2 } else { 1 }).sum()
}

/// Han, Kana, Hangul and pictures.
fn is_wide(character: char) -> bool {
    matches!(character, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}'
        | '\u{fe30}'..='\u{fe4f}' | '\u{ff00}'..='\u{ff60}' | '\u{1f300}'..='\u{1faff}' | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Label;

    fn height(width: u8, reader: ColumnReader, text: &str) -> f64 {
        let mut height = RowHeight::default();
        height.add(&TableColumn { label: Label::Text, width, choices: None, reader }, &CellContent::Text(text.into()));
        height.points()
    }

    #[test]
    fn a_row_is_as_high_as_the_lines_of_its_texts_and_no_higher_than_excel_takes() {
        assert_eq!(height(60, ColumnReader::Anyone, ""), LINE);
        assert_eq!(height(60, ColumnReader::Anyone, "The system shall print."), LINE);
        assert_eq!(height(60, ColumnReader::Anyone, &"word ".repeat(24)), 3.0 * LINE);
        assert_eq!(height(60, ColumnReader::Editor, "one\n\nthree"), 3.0 * LINE);
        assert_eq!(height(10, ColumnReader::Anyone, &"字".repeat(9)), 2.0 * LINE);
        assert_eq!(height(8, ColumnReader::Anyone, &"x".repeat(30_000)), HIGHEST);
        assert_eq!(height(8, ColumnReader::Program, &"x".repeat(30_000)), LINE, "nobody sees it");
    }
}
