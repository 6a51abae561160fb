//! XML token by token, within the bounds of files that come back. Document types, and with them entities of the file's own, are
//! refused. What goes wrong is a sentence; the reader of each format adds the place.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::bounds::{MAX_ATTRIBUTES, MAX_DEPTH, MAX_ELEMENTS};

pub(super) enum XmlToken {
    Start(XmlElement),
    /// With the name of the element, without its prefix.
    End(String),
    Text(String),
}

pub(super) struct XmlElement {
    /// Without its prefix.
    pub(super) name: String,
    attributes: Vec<(String, String)>,
}

impl XmlElement {
    /// The value of an attribute, by its name without a prefix.
    pub(super) fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// As [`Self::attribute`], taken out of the element; empty where there is none.
    pub(super) fn take(&mut self, name: &str) -> String {
        let found = self.attributes.iter_mut().find(|(key, _)| key == name);
        found.map(|(_, value)| std::mem::take(value)).unwrap_or_default()
    }
}

pub(super) struct XmlTokens<'a> {
    reader: Reader<&'a [u8]>,
    depth: usize,
    elements: usize,
}

impl<'a> XmlTokens<'a> {
    /// `elements` are those of the documents before this one, where a bound is common to several.
    pub(super) fn of(bytes: &'a [u8], elements: usize) -> Self {
        let mut reader = Reader::from_reader(bytes);
        reader.config_mut().expand_empty_elements = true;
        Self { reader, depth: 0, elements }
    }

    /// How many elements are open.
    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    /// How many elements were opened.
    pub(super) fn elements(&self) -> usize {
        self.elements
    }

    /// How many bytes were read.
    pub(super) fn position(&self) -> usize {
        usize::try_from(self.reader.buffer_position()).unwrap_or(usize::MAX)
    }

    /// `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<XmlToken>, String> {
        loop {
            let event = self.reader.read_event().map_err(|error| format!("The XML is damaged: {error}."))?;
            return Ok(Some(match event {
                Event::Eof if self.depth > 0 => return Err("The XML ends in the middle.".to_owned()),
                Event::Eof => return Ok(None),
                // Empty elements come as a start and an end.
                Event::Start(start) | Event::Empty(start) => {
                    self.elements += 1;
                    self.depth += 1;
                    if self.elements > MAX_ELEMENTS || self.depth > MAX_DEPTH {
                        return Err("The XML has too many elements, or they are nested too deeply.".to_owned());
                    }
                    XmlToken::Start(element(&start)?)
                }
                Event::End(end) => {
                    self.depth = self.depth.saturating_sub(1);
                    XmlToken::End(end.local_name().as_ref().to_owned())
                }
                Event::Text(text) => XmlToken::Text(text.xml10_content().into_owned()),
                Event::CData(text) => XmlToken::Text(text.xml10_content().into_owned()),
                Event::GeneralRef(reference) => {
                    let character = match reference.resolve_char_ref() {
                        Ok(Some(character)) => Some(character.to_string()),
                        Ok(None) => quick_xml::escape::resolve_xml_entity(&reference).map(str::to_owned),
                        Err(_) => None,
                    };
                    XmlToken::Text(character.ok_or("The XML uses an entity, which is not allowed.")?)
                }
                Event::DocType(_) => return Err("The XML has a document type, which is not allowed.".to_owned()),
                Event::Decl(_) | Event::Comment(_) | Event::PI(_) => continue,
            }));
        }
    }
}

fn element(start: &BytesStart<'_>) -> Result<XmlElement, String> {
    let damaged = "The XML has a damaged attribute.";
    let mut attributes = Vec::new();
    // The check for duplicates would take quadratic time; the first of a name counts.
    for attribute in start.attributes().with_checks(false) {
        let attribute = attribute.map_err(|_| damaged)?;
        if attributes.len() >= MAX_ATTRIBUTES {
            return Err(format!("An element of the XML has more than {MAX_ATTRIBUTES} attributes."));
        }
        let value = attribute.normalized_value(XmlVersion::Explicit1_0).map_err(|_| damaged)?;
        attributes.push((attribute.key.local_name().as_ref().to_owned(), value.into_owned()));
    }
    Ok(XmlElement { name: start.local_name().as_ref().to_owned(), attributes })
}
