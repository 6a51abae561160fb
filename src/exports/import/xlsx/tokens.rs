//! The XML of a workbook, token by token, within the bounds of files that come back.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::super::ImportFault;
use super::super::bounds::{MAX_DEPTH, MAX_ELEMENTS};

pub(super) enum XmlToken {
    /// The name without its prefix.
    Start(XmlElement),
    End(String),
    Text(String),
}

pub(super) struct XmlElement {
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl XmlElement {
    /// By its name without a prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// Reads one part of the workbook. Document types, and with them entities of the file's own, are refused.
pub(super) struct XmlTokens<'a> {
    reader: Reader<&'a [u8]>,
    part: &'a str,
    depth: usize,
    elements: usize,
}

impl<'a> XmlTokens<'a> {
    pub(super) fn of(part: &'a str, bytes: &'a [u8]) -> Self {
        let mut reader = Reader::from_reader(bytes);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, part, depth: 0, elements: 0 }
    }

    /// `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<XmlToken>, ImportFault> {
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
                        return Err(self.fault("The XML has too many elements."));
                    }
                    XmlToken::Start(self.element(&start)?)
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    XmlToken::End(end.local_name().as_ref().to_owned())
                }
                Event::Text(text) => XmlToken::Text(text.xml10_content().into_owned()),
                Event::CData(text) => XmlToken::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => {
                    let character = match reference.resolve_char_ref() {
                        Ok(Some(character)) => Some(character),
                        Ok(None) => predefined(reference.as_ref()),
                        Err(_) => None,
                    };
                    let character =
                        character.ok_or_else(|| self.fault("The XML uses an entity, which is not allowed."))?;
                    XmlToken::Text(character.to_string())
                }
                Event::DocType(_) => return Err(self.fault("The XML has a document type, which is not allowed.")),
                Event::Decl(_) | Event::Comment(_) | Event::PI(_) => continue,
            }));
        }
    }

    fn element(&self, start: &BytesStart<'_>) -> Result<XmlElement, ImportFault> {
        let mut attributes = Vec::new();
        // The check for duplicates would take quadratic time; the first of a name counts.
        for attribute in start.attributes().with_checks(false) {
            let attribute = attribute.map_err(|_| self.fault("The XML has a damaged attribute."))?;
            let value = attribute
                .normalized_value(XmlVersion::Explicit1_0)
                .map_err(|_| self.fault("The XML has a damaged attribute."))?;
            let name = attribute.key.local_name().as_ref().to_owned();
            attributes.push((name, value.into_owned()));
        }
        Ok(XmlElement { name: start.local_name().as_ref().to_owned(), attributes })
    }

    fn fault(&self, message: impl Into<String>) -> ImportFault {
        ImportFault::at(self.part, message)
    }
}

fn predefined(name: &str) -> Option<char> {
    Some(match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        _ => return None,
    })
}
