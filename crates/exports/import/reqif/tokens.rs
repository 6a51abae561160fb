//! The XML of a ReqIF document, element by element, with the line in the messages.

use crate::import::fault::ImportFault;
use crate::import::xml::{XmlElement, XmlToken, XmlTokens};

pub(super) struct ReqifTokens<'a> {
    xml: XmlTokens<'a>,
    text: &'a str,
    document: Option<&'a str>,
    /// How far the lines are counted, and how many there are until there.
    counted: usize,
    lines: usize,
}

impl<'a> ReqifTokens<'a> {
    /// `elements` are those of the documents before this one: the bound is common to all.
    pub(super) fn of(text: &'a str, document: Option<&'a str>, elements: usize) -> Self {
        Self { xml: XmlTokens::of(text.as_bytes(), elements), text, document, counted: 0, lines: 1 }
    }

    pub(super) fn elements(&self) -> usize {
        self.xml.elements()
    }

    /// `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<XmlToken>, ImportFault> {
        self.xml.next().map_err(|message| self.fault(message))
    }

    /// Visits the children of the element that was opened last, up to its end. A visit leaves its element at its end.
    pub(super) fn children(
        &mut self,
        mut visit: impl FnMut(&mut Self, XmlElement) -> Result<(), ImportFault>,
    ) -> Result<(), ImportFault> {
        while let Some(token) = self.next()? {
            match token {
                XmlToken::Start(element) => visit(self, element)?,
                XmlToken::End(_) => return Ok(()),
                XmlToken::Text(_) => {}
            }
        }
        Ok(())
    }

    /// To the end of the element that was opened last; whether there were elements within it.
    pub(super) fn skip(&mut self) -> Result<bool, ImportFault> {
        let (outside, before) = (self.xml.depth().saturating_sub(1), self.xml.elements());
        while self.xml.depth() > outside && self.next()?.is_some() {}
        Ok(self.xml.elements() > before)
    }

    /// The text of the element that was opened last.
    pub(super) fn text(&mut self) -> Result<String, ImportFault> {
        let outside = self.xml.depth().saturating_sub(1);
        let mut text = String::new();
        while self.xml.depth() > outside {
            match self.next()? {
                Some(XmlToken::Text(part)) => text.push_str(&part),
                Some(_) => {}
                None => break,
            }
        }
        Ok(text.trim().to_owned())
    }

    /// Where the reader stands, for messages.
    pub(super) fn place(&mut self) -> String {
        let here = self.xml.position();
        let passed = self.text.as_bytes().get(self.counted..here).unwrap_or_default();
        self.lines += passed.iter().filter(|byte| **byte == b'\n').count();
        self.counted = self.counted.max(here);
        match self.document {
            Some(name) => format!("{name}, line {}", self.lines),
            None => format!("line {}", self.lines),
        }
    }

    pub(super) fn fault(&mut self, message: impl Into<String>) -> ImportFault {
        ImportFault::at(self.place(), message)
    }
}
