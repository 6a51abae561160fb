//! The XML of one part of a workbook, whose name is in the messages.

use super::super::ImportFault;
use super::super::xml::{XmlToken, XmlTokens};

pub(super) struct PartTokens<'a> {
    part: &'a str,
    xml: XmlTokens<'a>,
}

impl<'a> PartTokens<'a> {
    pub(super) fn of(part: &'a str, bytes: &'a [u8]) -> Self {
        Self { part, xml: XmlTokens::of(bytes, 0) }
    }

    /// `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<XmlToken>, ImportFault> {
        self.xml.next().map_err(|message| ImportFault::at(self.part, message))
    }
}
