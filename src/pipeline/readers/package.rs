//! A DOCX as a ZIP that is not trusted: parts are read by name, within limits on number, ratio and size; and its XML event by event.

use std::io::{Cursor, Read};

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;
use zip::result::ZipError;

use super::source::{Reason, Unreadable};

/// Parts of the package. A long report with pictures has a few hundred.
const PARTS: usize = 2_000;
/// Bytes unpacked, over all parts that are there, by what they declare; and over those that are read, by what they give.
const UNPACKED: u64 = 100 * 1024 * 1024;
/// Unpacked to packed bytes of one part. XML reaches about 30; deflate cannot pass 1,032.
const RATIO: u64 = 200;
/// A part smaller than this may have any ratio.
const RATIO_FROM: u64 = 1024 * 1024;
/// Elements within elements. Word writes about thirty.
const DEPTH: usize = 256;

/// An opened package.
pub struct Package<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    left: u64,
}

impl<'a> Package<'a> {
    /// Opens it and holds its list of parts against the limits.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
            return Err(Unreadable::new(Reason::Encrypted, "This document is protected by a password."));
        }
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| damaged())?;
        if zip.len() > PARTS {
            return Err(too_large());
        }
        let mut total: u64 = 0;
        for at in 0..zip.len() {
            let part = zip.by_index_raw(at).map_err(|_| damaged())?;
            total = total.saturating_add(part.size());
            if total > UNPACKED || (part.size() > RATIO_FROM && part.size() / RATIO > part.compressed_size()) {
                return Err(too_large());
            }
            if part.encrypted() {
                return Err(Unreadable::new(Reason::Encrypted, "This document is protected by a password."));
            }
            if part.enclosed_name().is_none() {
                return Err(Unreadable::new(Reason::Damaged, "This document holds parts with forbidden names."));
            }
        }
        Ok(Self { zip, left: UNPACKED })
    }

    /// Reads a part as UTF-8, or None if there is no such part.
    pub fn part(&mut self, name: &str) -> Result<Option<String>, Unreadable> {
        let part = match self.zip.by_name(name) {
            Ok(part) => part,
            Err(ZipError::FileNotFound) => return Ok(None),
            Err(_) => return Err(damaged()),
        };
        let packed = part.compressed_size().max(1);
        let mut bytes = Vec::new();
        // What it declares may be a lie: what it gives is counted.
        part.take(self.left + 1).read_to_end(&mut bytes).map_err(|_| damaged())?;
        let size = bytes.len() as u64;
        if size > self.left || (size > RATIO_FROM && size / RATIO > packed) {
            return Err(too_large());
        }
        self.left -= size;
        Ok(Some(super::text::decode(&bytes).trim_start_matches('\u{feff}').to_owned()))
    }
}

/// What a part's XML says, as far as a reader of text cares.
pub enum Said<'e, 'x> {
    /// The element's local name and its tag.
    Opens(&'e str, &'e BytesStart<'x>),
    /// The element's local name.
    Closes(&'e str),
    Text(&'e str),
}

/// Goes through XML once, from start to end, without building a tree. Refuses document type declarations and every entity but the
/// five of XML and character references; a limit on depth keeps what follows it safe.
pub fn walk(xml: &str, mut hear: impl FnMut(Said)) -> Result<(), Unreadable> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut depth: usize = 0;
    loop {
        match reader.read_event().map_err(|_| damaged())? {
            Event::Start(tag) => {
                depth += 1;
                if depth > DEPTH {
                    return Err(Unreadable::new(Reason::Damaged, "This document is nested too deeply."));
                }
                hear(Said::Opens(local(tag.name().as_ref()), &tag));
            }
            Event::Empty(tag) => {
                let name = tag.name();
                let name = local(name.as_ref());
                hear(Said::Opens(name, &tag));
                hear(Said::Closes(name));
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                hear(Said::Closes(local(tag.name().as_ref())));
            }
            Event::Text(text) => hear(Said::Text(&text)),
            Event::CData(text) => hear(Said::Text(&text)),
            Event::GeneralRef(entity) => {
                let resolved = match entity.resolve_char_ref().map_err(|_| damaged())? {
                    Some(character) => character.to_string(),
                    None => predefined(&entity).ok_or_else(forbidden)?.to_owned(),
                };
                hear(Said::Text(&resolved));
            }
            Event::DocType(_) => return Err(forbidden()),
            Event::Eof if depth > 0 => return Err(damaged()),
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => {}
        }
    }
}

/// The value of an attribute by its local name, entities of XML resolved.
pub fn attribute(tag: &BytesStart, name: &str) -> Option<String> {
    // The first one counts. Looking for a second of the same name takes time by the square of their number.
    tag.attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| local(attribute.key.as_ref()) == name)
        .and_then(|attribute| attribute.normalized_value(XmlVersion::Explicit1_0).ok().map(|value| value.into_owned()))
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn predefined(entity: &str) -> Option<&'static str> {
    quick_xml::escape::resolve_xml_entity(entity)
}

/// The file breaks its own format.
pub fn damaged() -> Unreadable {
    Unreadable::new(Reason::Damaged, "This document is damaged or not a real DOCX.")
}

fn forbidden() -> Unreadable {
    Unreadable::new(Reason::Damaged, "This document declares XML entities, which a DOCX never does.")
}

fn too_large() -> Unreadable {
    Unreadable::new(Reason::TooLarge, "This document unpacks to more than is read.")
}
