//! Text between tags (HTML, Markdown): collects inline text and writes it as one block of the enclosing kind.

use super::draft::TextDraft;
use super::source::{BlockKind, SourceText, Unreadable};

/// The current line and the state of the elements that enclose it.
#[derive(Default)]
pub struct TextFlow {
    draft: TextDraft,
    line: String,
    row: Option<Vec<String>>,
    pub heading: Option<u8>,
    /// Whether white space is preserved.
    pub preformatted: bool,
    pub item: bool,
    pub quotes: usize,
    pub boilerplate: usize,
}

impl TextFlow {
    /// Appends text to the current block; white space runs become one space unless preformatted.
    pub fn write(&mut self, text: &str) {
        if self.preformatted {
            self.line.push_str(text);
            return;
        }
        for c in text.chars() {
            if !c.is_whitespace() || c == '\u{a0}' {
                self.line.push(c);
            } else if !self.line.is_empty() && !self.line.ends_with([' ', '\n']) {
                self.line.push(' ');
            }
        }
    }

    /// Counts text that is not shown, and leaves it out.
    pub fn hide(&mut self, text: &str) {
        self.draft.hide(text);
    }

    /// Appends a line break set by the author.
    pub fn line_break(&mut self) {
        let kept = self.line.trim_end_matches(' ').len();
        self.line.truncate(kept);
        self.line.push('\n');
    }

    /// Ends the current block of any kind.
    pub fn close(&mut self) {
        let line = std::mem::take(&mut self.line);
        if let Some(cell) = self.row.as_mut().and_then(|row| row.last_mut()) {
            if !cell.is_empty() && !line.trim().is_empty() {
                cell.push(' ');
            }
            cell.push_str(&line.split_whitespace().collect::<Vec<_>>().join(" "));
            return;
        }
        match self.heading {
            Some(level) => self.draft.heading(level, &line),
            None => self.draft.block(self.kind(), &line),
        }
    }

    /// Starts a table row and ends the open one, if any.
    pub fn open_row(&mut self) {
        self.close_row();
        self.row = Some(Vec::new());
    }

    /// Starts a cell.
    pub fn open_cell(&mut self) {
        self.close();
        if let Some(row) = &mut self.row {
            row.push(String::new());
        }
    }

    /// Ends the row. A row with a single cell is a frame, not a table.
    pub fn close_row(&mut self) {
        self.close();
        let Some(row) = self.row.take() else { return };
        match row.as_slice() {
            [only] => self.draft.block(BlockKind::Paragraph, only),
            cells if cells.iter().all(String::is_empty) => {}
            cells => self.draft.block(BlockKind::TableRow, &cells.join(" | ")),
        }
    }

    /// Whether a limit was exceeded; the document is then rejected.
    pub fn is_full(&self) -> bool {
        self.draft.is_full()
    }

    /// Closes what is open and returns the text.
    ///
    /// # Errors
    /// `TooLarge` if a limit was exceeded.
    pub fn finish(self) -> Result<SourceText, Unreadable> {
        self.into_draft().finish()
    }

    /// Closes what is open and returns the draft.
    pub fn into_draft(mut self) -> TextDraft {
        self.close_row();
        self.draft
    }

    fn kind(&self) -> BlockKind {
        if self.boilerplate > 0 {
            BlockKind::Boilerplate
        } else if self.preformatted {
            BlockKind::Code
        } else if self.item {
            BlockKind::ListItem
        } else if self.quotes > 0 {
            BlockKind::Quote
        } else {
            BlockKind::Paragraph
        }
    }
}
