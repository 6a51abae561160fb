//! The XML of one part of a workbook, whose name is in the messages.

use super::super::fault::ImportFault;
use super::super::xml::{XmlToken, XmlTokens};

pub(super) struct PartTokens<'a> {
    part: &'a str,
    xml: XmlTokens<'a>,
}

impl<'a> PartTokens<'a> {
    /// `elements` are those of the parts before this one: the bound is common to all.
    pub(super) fn of(part: &'a str, bytes: &'a [u8], elements: usize) -> Self {
        Self { part, xml: XmlTokens::of(bytes, elements) }
    }

    pub(super) fn elements(&self) -> usize {
        self.xml.elements()
    }

    /// `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<XmlToken>, ImportFault> {
        self.xml.next().map_err(|message| ImportFault::at(self.part, message))
    }
}
