//! The texts of cells, which a workbook stores once however many cells have them.

use super::super::package::{PartEvent, for_each_event};
use super::super::source::Unreadable;

/// All shared texts in one, so that many empty ones cost little.
#[derive(Default)]
pub struct SharedStrings {
    text: String,
    /// The end of each in `text`.
    ends: Vec<usize>,
}

impl SharedStrings {
    /// Reads `xl/sharedStrings.xml`.
    ///
    /// # Errors
    /// Those of [`for_each_event`].
    pub fn read(xml: &str) -> Result<Self, Unreadable> {
        let mut strings = Self::default();
        let mut scope = TextScope::default();
        for_each_event(xml, |event| match event {
            PartEvent::Closes("si") => strings.ends.push(strings.text.len()),
            PartEvent::Text(text) if scope.is_shown() => strings.text.push_str(text),
            other => scope.follow(&other),
        })?;
        Ok(strings)
    }

    /// Returns the text with this number, as a cell refers to it.
    pub fn get(&self, number: &str) -> Option<&str> {
        let at: usize = number.trim().parse().ok()?;
        let start = match at.checked_sub(1) {
            Some(before) => *self.ends.get(before)?,
            None => 0,
        };
        self.text.get(start..*self.ends.get(at)?)
    }
}

/// Tells text that is shown from the reading aids beside it (`rPh`).
#[derive(Default)]
pub struct TextScope {
    in_text: bool,
    aids: usize,
}

impl TextScope {
    pub fn is_shown(&self) -> bool {
        self.in_text && self.aids == 0
    }

    pub fn follow(&mut self, event: &PartEvent) {
        match event {
            PartEvent::Opens("t", _) => self.in_text = true,
            PartEvent::Closes("t") => self.in_text = false,
            PartEvent::Opens("rPh", _) => self.aids += 1,
            PartEvent::Closes("rPh") => self.aids = self.aids.saturating_sub(1),
            _ => {}
        }
    }
}

/// Resolves the escapes of characters that XML cannot hold, such as `_x000D_`.
pub fn unescaped(text: &str) -> String {
    if !text.contains("_x") {
        return text.to_owned();
    }
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("_x") {
        let (before, escape) = rest.split_at(at);
        kept.push_str(before);
        let code = escape.get(2..6).filter(|_| escape.get(6..7) == Some("_"));
        match code.and_then(|code| u32::from_str_radix(code, 16).ok()).and_then(char::from_u32) {
            Some(character) => {
                kept.push(character);
                rest = escape.get(7..).unwrap_or_default();
            }
            None => {
                kept.push_str("_x");
                rest = escape.get(2..).unwrap_or_default();
            }
        }
    }
    kept.push_str(rest);
    kept
}
