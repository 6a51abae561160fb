//! Access to an untrusted package (DOCX, PPTX, XLSX, ODT): reads the parts of the ZIP by name, within limits on number,
//! compression ratio and size, and their XML event by event.

use std::collections::{BTreeMap, HashMap};
use std::io::{Cursor, Read};
use std::ops::ControlFlow;

use quick_xml::XmlVersion;
use quick_xml::events::{BytesStart, Event};
use zip::ZipArchive;

use super::source::{Unreadable, UnreadableReason};

/// Maximum number of parts. A long report with pictures has a few hundred, a long presentation with notes some thousands.
const PARTS: usize = 10_000;
/// Maximum unpacked bytes: of all parts together by their declared sizes, and of the parts that are read by their
/// actual sizes.
const UNPACKED: u64 = 100 * 1024 * 1024;
/// Maximum ratio of unpacked to packed bytes of one part. XML reaches about 30; deflate cannot exceed 1,032.
const RATIO: u64 = 200;
/// Unpacked bytes up to which a part may have any ratio.
const RATIO_FROM: u64 = 1024 * 1024;
/// Maximum number of relations of one part; they refer to parts or to places on the web.
const RELATIONS: usize = 20_000;
/// Maximum nesting depth of elements. Word writes about thirty levels.
const DEPTH: usize = 256;

/// An opened package with the number of bytes that may still be unpacked.
pub struct Package<'a> {
    zip: ZipArchive<Cursor<&'a [u8]>>,
    /// Where each part is in the list of parts.
    places: HashMap<String, usize>,
    left: u64,
}

impl<'a> Package<'a> {
    /// Opens a package and checks its list of parts against the limits.
    ///
    /// # Errors
    /// `Encrypted` for a password-protected file; `TooLarge` past a limit; `Damaged` for a malformed ZIP or forbidden
    /// part names.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Unreadable> {
        if bytes.starts_with(&[0xd0, 0xcf, 0x11, 0xe0]) {
            return Err(Unreadable::new(UnreadableReason::Encrypted, "This document is protected by a password."));
        }
        let mut zip = ZipArchive::new(Cursor::new(bytes)).map_err(|_| damaged())?;
        if zip.len() > PARTS {
            return Err(too_large());
        }
        let mut total: u64 = 0;
        let mut places = HashMap::with_capacity(zip.len());
        for at in 0..zip.len() {
            let part = zip.by_index_raw(at).map_err(|_| damaged())?;
            total = total.saturating_add(part.size());
            if total > UNPACKED || (part.size() > RATIO_FROM && part.size() / RATIO > part.compressed_size()) {
                return Err(too_large());
            }
            if part.encrypted() {
                return Err(Unreadable::new(UnreadableReason::Encrypted, "This document is protected by a password."));
            }
            if part.enclosed_name().is_none() {
                return Err(Unreadable::new(
                    UnreadableReason::Damaged,
                    "This document holds parts with forbidden names.",
                ));
            }
            places.insert(normalized(&part.name().map_err(|_| damaged())?), at);
        }
        Ok(Self { zip, places, left: UNPACKED })
    }

    /// Reads and decodes a part, or returns `None` if there is no such part.
    ///
    /// # Errors
    /// `Damaged` if it cannot be unpacked; `TooLarge` past a limit.
    pub fn part(&mut self, name: &str) -> Result<Option<String>, Unreadable> {
        let Some(at) = self.places.get(&normalized(name)) else { return Ok(None) };
        let part = self.zip.by_index(*at).map_err(|_| damaged())?;
        let packed = part.compressed_size().max(1);
        let mut bytes = Vec::new();
        // The declared size may be wrong, so the actual bytes are counted.
        part.take(self.left + 1).read_to_end(&mut bytes).map_err(|_| damaged())?;
        let size = bytes.len() as u64;
        if size > self.left || (size > RATIO_FROM && size / RATIO > packed) {
            return Err(too_large());
        }
        self.left -= size;
        // UTF-8 is taken as it is: a second copy of a large part would take the memory that its reader needs.
        let xml = String::from_utf8(bytes).unwrap_or_else(|error| super::text::decode(error.as_bytes()).into_owned());
        Ok(Some(match xml.strip_prefix('\u{feff}') {
            Some(unmarked) => unmarked.to_owned(),
            None => xml,
        }))
    }

    /// Returns the name of the part that holds the content: the one that the package refers to, else `usual`.
    ///
    /// # Errors
    /// Those of [`Self::relations`].
    pub fn main_part(&mut self, usual: &str) -> Result<String, Unreadable> {
        let named = self.relations("")?.of_kind("officeDocument").map(str::to_owned);
        Ok(named.filter(|name| self.places.contains_key(&normalized(name))).unwrap_or_else(|| usual.to_owned()))
    }

    /// Reads the relations of a part of an Office Open XML package; the part "" is the package itself.
    ///
    /// # Errors
    /// Those of [`Self::part`] and [`for_each_event`]; `TooLarge` for more than [`RELATIONS`].
    pub fn relations(&mut self, part: &str) -> Result<PartRelations, Unreadable> {
        let (folder, name) = part.rsplit_once('/').unwrap_or(("", part));
        let path = if folder.is_empty() { format!("_rels/{name}.rels") } else { format!("{folder}/_rels/{name}.rels") };
        let mut relations = PartRelations::default();
        let Some(xml) = self.part(&path)? else { return Ok(relations) };
        let mut count = 0;
        for_each_event_until(&xml, |event| {
            if let PartEvent::Opens("Relationship", tag) = event {
                relations.learn(folder, tag);
                count += 1;
            }
            if count > RELATIONS { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        if count > RELATIONS { Err(too_large()) } else { Ok(relations) }
    }
}

/// The relations of a part, by their ids.
#[derive(Default)]
pub struct PartRelations(BTreeMap<String, PartRelation>);

/// A reference to another part of the package.
pub struct PartRelation {
    /// The last word of the type, such as "slide": the rest differs between the two variants of the standard.
    pub kind: String,
    /// Name of the part.
    pub target: String,
}

impl PartRelations {
    /// Returns the relation with this id.
    pub fn get(&self, id: &str) -> Option<&PartRelation> {
        self.0.get(id)
    }

    /// Returns the part that the only, or any, relation of a kind refers to.
    pub fn of_kind(&self, kind: &str) -> Option<&str> {
        self.0.values().find(|relation| relation.kind == kind).map(|relation| relation.target.as_str())
    }

    fn learn(&mut self, folder: &str, tag: &BytesStart) {
        if attribute(tag, "TargetMode").is_some_and(|mode| mode.eq_ignore_ascii_case("external")) {
            return;
        }
        if let (Some(id), Some(kind), Some(target)) =
            (attribute(tag, "Id"), attribute(tag, "Type"), attribute(tag, "Target"))
        {
            let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
            self.0.insert(id, PartRelation { kind, target: resolved(folder, &target) });
        }
    }
}

/// Returns the name of a part as names are compared: without regard to case, and some programs write backslashes.
fn normalized(name: &str) -> String {
    name.to_ascii_lowercase().replace('\\', "/")
}

/// Returns the name of the part that a target means which is given relative to a folder.
fn resolved(folder: &str, target: &str) -> String {
    let (mut names, relative) = match target.strip_prefix('/') {
        Some(absolute) => (Vec::new(), absolute),
        None => (folder.split('/').filter(|name| !name.is_empty()).collect(), target),
    };
    for name in relative.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    names.join("/")
}

/// An XML event of a part, reduced to what a reader of text needs.
pub enum PartEvent<'e, 'x> {
    /// An opening tag: the element's local name and the tag.
    Opens(&'e str, &'e BytesStart<'x>),
    /// A closing tag: the element's local name.
    Closes(&'e str),
    Text(&'e str),
}

/// Reads the XML once from start to end without building a tree and calls `handle` for each event.
///
/// # Errors
/// `Damaged` for malformed XML, document type declarations and every entity except the five predefined ones and
/// character references, and past a nesting depth of [`DEPTH`], which protects the code that consumes the events.
pub fn for_each_event(xml: &str, mut handle: impl FnMut(PartEvent)) -> Result<(), Unreadable> {
    for_each_event_until(xml, |event| {
        handle(event);
        ControlFlow::Continue(())
    })
}

/// Same as [`for_each_event`], but ends without an error where `handle` breaks off.
///
/// # Errors
/// Those of [`for_each_event`].
pub fn for_each_event_until(xml: &str, mut handle: impl FnMut(PartEvent) -> ControlFlow<()>) -> Result<(), Unreadable> {
    let mut reader = quick_xml::Reader::from_str(xml);
    let mut depth: usize = 0;
    loop {
        let flow = match reader.read_event().map_err(|_| damaged())? {
            Event::Start(tag) => {
                depth += 1;
                if depth > DEPTH {
                    return Err(Unreadable::new(UnreadableReason::Damaged, "This document is nested too deeply."));
                }
                handle(PartEvent::Opens(local(tag.name().as_ref()), &tag))
            }
            Event::Empty(tag) => {
                let name = tag.name();
                let name = local(name.as_ref());
                match handle(PartEvent::Opens(name, &tag)) {
                    ControlFlow::Continue(()) => handle(PartEvent::Closes(name)),
                    ended => ended,
                }
            }
            Event::End(tag) => {
                depth = depth.saturating_sub(1);
                handle(PartEvent::Closes(local(tag.name().as_ref())))
            }
            Event::Text(text) => handle(PartEvent::Text(&text)),
            Event::CData(text) => handle(PartEvent::Text(&text)),
            Event::GeneralRef(entity) => {
                let resolved = match entity.resolve_char_ref().map_err(|_| damaged())? {
                    Some(character) => character.to_string(),
                    None => predefined(&entity).ok_or_else(forbidden)?.to_owned(),
                };
                handle(PartEvent::Text(&resolved))
            }
            Event::DocType(_) => return Err(forbidden()),
            Event::Eof if depth > 0 => return Err(damaged()),
            Event::Eof => return Ok(()),
            Event::Comment(_) | Event::Decl(_) | Event::PI(_) => ControlFlow::Continue(()),
        };
        if flow.is_break() {
            return Ok(());
        }
    }
}

/// Returns the value of an attribute by its local name, with XML entities resolved.
pub fn attribute(tag: &BytesStart, name: &str) -> Option<String> {
    // The first attribute of this name counts. The check for duplicates would take quadratic time.
    tag.attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| local(attribute.key.as_ref()) == name)
        .and_then(|attribute| attribute.normalized_value(XmlVersion::Explicit1_0).ok().map(|value| value.into_owned()))
}

/// Returns the id of the relation that a tag names (`r:id`), which may have an `id` of its own beside it.
pub fn relation_id(tag: &BytesStart) -> Option<String> {
    tag.attributes()
        .with_checks(false)
        .flatten()
        .find(|attribute| attribute.key.as_ref().ends_with(":id"))
        .and_then(|attribute| attribute.normalized_value(XmlVersion::Explicit1_0).ok().map(|value| value.into_owned()))
}

/// Whether the value of an attribute is "on" in one of its spellings.
pub fn is_on(value: &str) -> bool {
    matches!(value, "1" | "true" | "on")
}

fn local(name: &str) -> &str {
    name.rsplit(':').next().unwrap_or(name)
}

fn predefined(entity: &str) -> Option<&'static str> {
    quick_xml::escape::resolve_xml_entity(entity)
}

/// Returns the error for a file that violates its format.
pub fn damaged() -> Unreadable {
    Unreadable::new(UnreadableReason::Damaged, "This document is damaged or not really of its format.")
}

fn forbidden() -> Unreadable {
    Unreadable::new(UnreadableReason::Damaged, "This document declares XML entities, which no office program writes.")
}

fn too_large() -> Unreadable {
    Unreadable::new(UnreadableReason::TooLarge, "This document unpacks to more than is read.")
}
