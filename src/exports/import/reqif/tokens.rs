//! The XML of a document, element by element, within the bounds of files that come back. Document types, and with them entities of the
//! file's own, are refused.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::import::ImportFault;
use crate::import::bounds::{MAX_DEPTH, MAX_ELEMENTS};

pub(super) enum ReqifToken {
    Start(ReqifElement),
    /// Of the element that was opened last.
    End,
    Text(String),
}

pub(super) struct ReqifElement {
    /// Without its prefix.
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl ReqifElement {
    /// The value of an attribute, by its name without a prefix; empty where there is none.
    pub(super) fn take(&mut self, name: &str) -> String {
        let found = self.attributes.iter_mut().find(|(key, _)| key == name);
        found.map(|(_, value)| std::mem::take(value)).unwrap_or_default()
    }
}

pub(super) struct ReqifTokens<'a> {
    reader: Reader<&'a [u8]>,
    text: &'a str,
    document: Option<&'a str>,
    /// How far the lines are counted, and how many there are until there.
    counted: usize,
    lines: usize,
    depth: usize,
    elements: usize,
}

impl<'a> ReqifTokens<'a> {
    /// `elements` are those of the documents before this one: the bound is common to all.
    pub(super) fn of(text: &'a str, document: Option<&'a str>, elements: usize) -> Self {
        let mut reader = Reader::from_str(text);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, text, document, counted: 0, lines: 1, depth: 0, elements }
    }

    pub(super) fn elements(&self) -> usize {
        self.elements
    }

    /// `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<ReqifToken>, ImportFault> {
        loop {
            let event =
                self.reader.read_event().map_err(|error| self.fault(format!("The XML is damaged: {error}.")))?;
            return Ok(Some(match event {
                Event::Eof if self.depth > 0 => return Err(self.fault("The XML ends in the middle.")),
                Event::Eof => return Ok(None),
                // Empty elements come as a start and an end.
                Event::Start(start) | Event::Empty(start) => {
                    self.elements += 1;
                    self.depth += 1;
                    if self.elements > MAX_ELEMENTS || self.depth > MAX_DEPTH {
                        return Err(self.fault("The XML has too many elements, or they are nested too deeply."));
                    }
                    ReqifToken::Start(self.element(&start)?)
                }
                Event::End(_) => {
                    self.depth = self.depth.saturating_sub(1);
                    ReqifToken::End
                }
                Event::Text(text) => ReqifToken::Text(text.xml10_content().into_owned()),
                Event::CData(text) => ReqifToken::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => {
                    let character = match reference.resolve_char_ref() {
                        Ok(Some(character)) => Some(character.to_string()),
                        Ok(None) => quick_xml::escape::resolve_xml_entity(&reference).map(str::to_owned),
                        Err(_) => None,
                    };
                    ReqifToken::Text(
                        character.ok_or_else(|| self.fault("The XML uses an entity, which is not allowed."))?,
                    )
                }
                Event::DocType(_) => return Err(self.fault("The XML has a document type, which is not allowed.")),
                Event::Decl(_) | Event::Comment(_) | Event::PI(_) => continue,
            }));
        }
    }

    /// Visits the children of the element that was opened last, up to its end. A visit leaves its element at its end.
    pub(super) fn children(
        &mut self,
        mut visit: impl FnMut(&mut Self, ReqifElement) -> Result<(), ImportFault>,
    ) -> Result<(), ImportFault> {
        while let Some(token) = self.next()? {
            match token {
                ReqifToken::Start(element) => visit(self, element)?,
                ReqifToken::End => return Ok(()),
                ReqifToken::Text(_) => {}
            }
        }
        Ok(())
    }

    /// To the end of the element that was opened last; whether there were elements within it.
    pub(super) fn skip(&mut self) -> Result<bool, ImportFault> {
        let (outside, before) = (self.depth.saturating_sub(1), self.elements);
        while self.depth > outside && self.next()?.is_some() {}
        Ok(self.elements > before)
    }

    /// The text of the element that was opened last.
    pub(super) fn text(&mut self) -> Result<String, ImportFault> {
        let outside = self.depth.saturating_sub(1);
        let mut text = String::new();
        while self.depth > outside {
            match self.next()? {
                Some(ReqifToken::Text(part)) => text.push_str(&part),
                Some(_) => {}
                None => break,
            }
        }
        Ok(text.trim().to_owned())
    }

    /// Where the reader stands, for messages.
    pub(super) fn place(&mut self) -> String {
        let here = usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX);
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

    fn element(&mut self, start: &BytesStart<'_>) -> Result<ReqifElement, ImportFault> {
        let mut attributes = Vec::new();
        // The check for duplicates would take quadratic time; the first of a name counts.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|_| self.fault("The XML has a damaged attribute."))?;
            let value = attribute
                .normalized_value(XmlVersion::Explicit1_0)
                .map_err(|_| self.fault("The XML has a damaged attribute."))?;
            attributes.push((attribute.key.local_name().as_ref().to_owned(), value.into_owned()));
        }
        Ok(ReqifElement { name: start.local_name().as_ref().to_owned(), attributes })
    }
}
