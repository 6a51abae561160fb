//! XHTML as plain text: its lines, and the cells of its tables.

use super::tokens::ReqifTokens;
use crate::import::fault::ImportFault;
use crate::import::xml::{XmlElement, XmlToken};
use crate::text::clean;

#[derive(Debug, Default)]
pub(super) struct XhtmlText {
    pub(super) text: String,
    /// The rows of the outermost tables.
    pub(super) rows: Vec<Vec<String>>,
    /// Whether pictures or embedded files were left out.
    pub(super) has_objects: bool,
}

/// How an item of a list begins.
pub(super) const BULLET: &str = "- ";

impl XhtmlText {
    /// Reads up to the end of the element that was opened last.
    pub(super) fn read(tokens: &mut ReqifTokens<'_>) -> Result<Self, ImportFault> {
        let mut flow = XhtmlFlow::default();
        let mut open: Vec<String> = Vec::new();
        while let Some(token) = tokens.next()? {
            match token {
                XmlToken::Start(XmlElement { name, .. }) if matches!(name.as_str(), "object" | "img") => {
                    flow.result.has_objects = true;
                    tokens.skip()?;
                }
                XmlToken::Start(XmlElement { name, .. }) => {
                    flow.open(&name);
                    open.push(name);
                }
                XmlToken::End(_) => match open.pop() {
                    Some(name) => flow.close(&name),
                    None => break,
                },
                XmlToken::Text(text) => flow.push(&text),
            }
        }
        let mut result = flow.result;
        result.text = clean(result.text.trim()).into_owned();
        Ok(result)
    }
}

#[derive(Default)]
struct XhtmlFlow {
    result: XhtmlText,
    preformatted: usize,
    /// Where the open cells begin in the text.
    cells: Vec<usize>,
}

impl XhtmlFlow {
    fn open(&mut self, name: &str) {
        match name {
            "br" => self.result.text.push('\n'),
            "td" | "th" => {
                if !self.is_at_line_start() {
                    self.result.text.push(' ');
                }
                self.cells.push(self.result.text.len());
            }
            "tr" if self.cells.is_empty() => {
                self.break_line();
                self.result.rows.push(Vec::new());
            }
            "li" => {
                self.break_line();
                self.result.text.push_str(BULLET);
            }
            "pre" => {
                self.break_line();
                self.preformatted += 1;
            }
            _ if is_block(name) => self.break_line(),
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "td" | "th" => {
                let Some(start) = self.cells.pop() else { return };
                if !self.cells.is_empty() {
                    return;
                }
                let cell = clean(self.result.text.get(start..).unwrap_or_default().trim()).into_owned();
                if let Some(row) = self.result.rows.last_mut() {
                    row.push(cell);
                }
            }
            "pre" => {
                self.preformatted = self.preformatted.saturating_sub(1);
                self.break_line();
            }
            _ if is_block(name) => self.break_line(),
            _ => {}
        }
    }

    fn push(&mut self, text: &str) {
        if self.preformatted > 0 {
            self.result.text.push_str(text);
            return;
        }
        for character in text.chars() {
            let is_blank = matches!(character, ' ' | '\t' | '\n' | '\r');
            if !is_blank {
                self.result.text.push(character);
            } else if !self.result.text.is_empty() && !self.result.text.ends_with([' ', '\n']) {
                self.result.text.push(' ');
            }
        }
    }

    fn break_line(&mut self) {
        if !self.is_at_line_start() {
            self.result.text.push('\n');
        }
    }

    fn is_at_line_start(&self) -> bool {
        let text = self.result.text.strip_suffix(BULLET).unwrap_or(&self.result.text);
        text.is_empty() || text.ends_with('\n')
    }
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "p" | "div"
            | "h1"
            | "h2"
            | "h3"
            | "h4"
            | "h5"
            | "h6"
            | "ul"
            | "ol"
            | "li"
            | "dl"
            | "dt"
            | "dd"
            | "table"
            | "tr"
            | "blockquote"
            | "address"
            | "hr"
    )
}
