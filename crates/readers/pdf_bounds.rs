//! Bounds on the work that a PDF causes, checked before its pages are read: no cycles and no excessive repetition.
//!
//! A small file can reference its large parts from many places (pages, forms within forms, fonts), and pdf-extract
//! processes them each time. So parts that the text does not need are emptied first, and the rest is counted as often
//! as it is used.

use std::collections::{HashMap, HashSet};

use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream};

use super::pdf_colours;
use super::source::{Unreadable, UnreadableReason};

/// Maximum depth of the page tree above a page. Trees of thousands of pages have four or five levels.
const TREE_DEPTH: usize = 64;
/// Maximum nesting of forms.
const FORM_DEPTH: usize = 32;
/// Maximum bytes that may be processed: a base for any file plus a multiple of its size. Fonts are read anew on each
/// page, which adds up in long legitimate documents.
const WORK_BASE: u64 = 4 * 1024 * 1024;
const WORK_PER_BYTE: u64 = 64;
/// Maximum number of objects of a font that are visited; `FONT_DEPTH` is how deep.
const FONT_PARTS: usize = 100_000;
const FONT_DEPTH: usize = 6;

/// Empties the objects that the text does not need.
pub fn strip_unused(document: &mut Document) {
    let mut strip = Strip::default();
    for (id, object) in &document.objects {
        strip.opacities.extend(pdf_colours::opacity(object).map(|opacity| (*id, opacity)));
    }
    for object in document.objects.values_mut() {
        strip.object(object);
    }
    for (kind, id) in &strip.named {
        if let Some(object) = document.objects.get_mut(id) {
            strip.simplify(*kind, object);
        }
    }
}

/// A kind of entry that is simplified: in place, or at the object it references.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum ObjectKind {
    /// Colour spaces. pdf-extract unpacks their profiles each time one is selected. What they are is kept.
    Colours,
    /// Graphics states. pdf-extract copies their masks. How opaque fills are is kept.
    States,
    /// A page rectangle. pdf-extract copies it for every page.
    Extent,
}

impl ObjectKind {
    fn of(key: &[u8]) -> Option<Self> {
        match key {
            b"ColorSpace" => Some(Self::Colours),
            b"ExtGState" => Some(Self::States),
            b"MediaBox" | b"ArtBox" => Some(Self::Extent),
            _ => None,
        }
    }
}

/// What is known while a document is stripped.
#[derive(Default)]
struct Strip {
    /// The objects that are to be simplified where they are.
    named: HashSet<(ObjectKind, ObjectId)>,
    /// How opaque fills are in the objects that may be graphics states.
    opacities: HashMap<ObjectId, f32>,
}

impl Strip {
    fn simplify(&self, kind: ObjectKind, object: &mut Object) {
        match (kind, object) {
            (ObjectKind::Colours, Object::Dictionary(spaces)) => {
                spaces.iter_mut().for_each(|(_, space)| *space = pdf_colours::simplified(space));
            }
            (ObjectKind::States, Object::Dictionary(states)) => {
                for (_, state) in states.iter_mut() {
                    let opacity = match &*state {
                        Object::Reference(id) => self.opacities.get(id).copied(),
                        state => pdf_colours::opacity(state),
                    };
                    *state = pdf_colours::simplified_state(opacity);
                }
            }
            (ObjectKind::Extent, Object::Array(corners)) => corners.truncate(4),
            _ => {}
        }
    }

    /// Simplifies an object and all within it. The recursion is bounded, as the crate's parser limits how deep objects
    /// are nested.
    fn object(&mut self, object: &mut Object) {
        match object {
            Object::Dictionary(dictionary) => self.dictionary(dictionary),
            Object::Stream(stream) => {
                // pdf-extract draws images like forms.
                if stream.dict.get(b"Subtype").is_ok_and(|kind| matches!(kind, Object::Name(name) if name == b"Image"))
                {
                    stream.dict.remove(b"Filter");
                    stream.content = Vec::new();
                }
                self.dictionary(&mut stream.dict);
            }
            Object::Array(items) => items.iter_mut().for_each(|item| self.object(item)),
            _ => {}
        }
    }

    fn dictionary(&mut self, dictionary: &mut Dictionary) {
        // The outlines of a TrueType font are unpacked by pdf-extract but not used.
        dictionary.remove(b"FontFile2");
        for (key, value) in dictionary.iter_mut() {
            match (ObjectKind::of(key), &mut *value) {
                (Some(kind), Object::Reference(id)) => self.named.extend([(kind, *id)]),
                (Some(kind), simple) => self.simplify(kind, simple),
                (None, _) => {}
            }
            self.object(value);
        }
    }
}

/// Rejects cyclic pages and forms, and documents whose parts would be processed too many times.
///
/// # Errors
/// `Damaged`.
pub fn check(document: &Document, size: usize) -> Result<(), Unreadable> {
    check_page_tree(document)?;
    let most = WORK_BASE + WORK_PER_BYTE * size as u64;
    let mut work = Work {
        document,
        left: most,
        most,
        drawings: HashMap::new(),
        streams: HashMap::new(),
        fonts: HashMap::new(),
        open: HashSet::new(),
    };
    let nothing = Dictionary::new();
    for page in document.get_pages().into_values() {
        let resources = inherited(document, page)?.unwrap_or(&nothing);
        let mut drawn = Drawn::default();
        for id in document.get_page_contents(page) {
            if let Ok(stream) = document.get_object(id).and_then(Object::as_stream) {
                drawn.add(&work.stream(stream, resources)?);
                // Checked here already: the same stream may be referenced many times, with many fonts each time.
                if drawn.bytes > work.most {
                    return Err(repeated());
                }
            }
        }
        // pdf-extract reads a font once per page.
        work.spend(drawn.fonts.values().fold(drawn.bytes, |all, font| all.saturating_add(*font)))?;
    }
    Ok(())
}

/// Checks that the page tree is a tree in which no page occurs twice.
fn check_page_tree(document: &Document) -> Result<(), Unreadable> {
    let root = document.catalog().and_then(|catalog| catalog.get(b"Pages")).and_then(Object::as_reference);
    let mut seen = HashSet::new();
    let mut open: Vec<(ObjectId, usize)> = root.into_iter().map(|root| (root, 0)).collect();
    while let Some((id, depth)) = open.pop() {
        if !seen.insert(id) || depth > TREE_DEPTH {
            return Err(cyclic());
        }
        let kids = document.get_dictionary(id).and_then(|node| node.get_deref(b"Kids", document));
        if let Ok(kids) = kids.and_then(Object::as_array) {
            open.extend(kids.iter().filter_map(|kid| Some((kid.as_reference().ok()?, depth + 1))));
        }
    }
    Ok(())
}

/// Returns the resources of a page or of its nearest ancestor that has some. Walks the whole chain of parents, as
/// pdf-extract does for other properties.
fn inherited(document: &Document, page: ObjectId) -> Result<Option<&Dictionary>, Unreadable> {
    let mut resources = None;
    let mut node = document.get_dictionary(page).ok();
    for _ in 0..=TREE_DEPTH {
        let Some(dictionary) = node else { return Ok(resources) };
        resources = resources.or(dictionary.get_deref(b"Resources", document).and_then(Object::as_dict).ok());
        let parent = dictionary.get(b"Parent").and_then(Object::as_reference);
        node = parent.and_then(|id| document.get_dictionary(id)).ok();
    }
    Err(cyclic())
}

/// The work of drawing a stream, including the forms within it.
#[derive(Clone, Default)]
struct Drawn {
    bytes: u64,
    /// Weight of each font, by address.
    fonts: HashMap<usize, u64>,
}

impl Drawn {
    fn add(&mut self, other: &Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.fonts.extend(&other.fonts);
    }
}

/// The forms and fonts that one content stream uses itself.
#[derive(Default)]
struct Drawing {
    bytes: u64,
    /// How often each form is drawn, by name.
    forms: HashMap<Vec<u8>, u64>,
    fonts: HashSet<Vec<u8>>,
}

/// The count of work. Objects are identified by their address in memory, which does not change while the document is
/// borrowed.
struct Work<'a> {
    document: &'a Document,
    left: u64,
    most: u64,
    drawings: HashMap<usize, Drawing>,
    /// By the addresses of the stream and the resources that it is drawn with.
    streams: HashMap<(usize, usize), Drawn>,
    fonts: HashMap<usize, u64>,
    open: HashSet<usize>,
}

impl<'a> Work<'a> {
    fn spend(&mut self, bytes: u64) -> Result<(), Unreadable> {
        self.left = self.left.checked_sub(bytes).ok_or_else(repeated)?;
        Ok(())
    }

    fn stream(&mut self, stream: &'a Stream, resources: &'a Dictionary) -> Result<Drawn, Unreadable> {
        let at = address(stream);
        let key = (at, address(resources));
        if let Some(known) = self.streams.get(&key) {
            return Ok(known.clone());
        }
        if self.open.len() >= FORM_DEPTH || !self.open.insert(at) {
            return Err(Unreadable::new(UnreadableReason::Damaged, "This PDF draws a part of it within itself."));
        }
        let drawing = self.drawings.entry(at).or_insert_with(|| drawing(stream));
        let forms: Vec<(Vec<u8>, u64)> = drawing.forms.iter().map(|(name, times)| (name.clone(), *times)).collect();
        let fonts: Vec<Vec<u8>> = drawing.fonts.iter().cloned().collect();
        let mut drawn = Drawn { bytes: drawing.bytes, ..Drawn::default() };
        drawn.fonts = fonts.iter().filter_map(|name| self.font(resources, name)).collect();
        for (name, times) in forms {
            let Some(form) = self.form(resources, &name) else { continue };
            let own = form.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict).unwrap_or(resources);
            let mut inner = self.stream(form, own)?;
            inner.bytes = inner.bytes.saturating_mul(times);
            drawn.add(&inner);
            if drawn.bytes > self.most {
                return Err(repeated());
            }
        }
        self.open.remove(&at);
        self.streams.insert(key, drawn.clone());
        Ok(drawn)
    }

    fn form(&self, resources: &'a Dictionary, name: &[u8]) -> Option<&'a Stream> {
        let objects = resources.get_deref(b"XObject", self.document).and_then(Object::as_dict).ok()?;
        objects.get_deref(name, self.document).and_then(Object::as_stream).ok()
    }

    /// Returns the address and the weight of a font.
    fn font(&mut self, resources: &'a Dictionary, name: &[u8]) -> Option<(usize, u64)> {
        let fonts = resources.get_deref(b"Font", self.document).and_then(Object::as_dict).ok()?;
        let font = fonts.get_deref(name, self.document).and_then(Object::as_dict).ok()?;
        let at = address(font);
        if let Some(known) = self.fonts.get(&at) {
            return Some((at, *known));
        }
        let mut parts = FONT_PARTS;
        let weight = font.iter().map(|(_, value)| weight(self.document, value, FONT_DEPTH, &mut parts)).sum();
        self.fonts.insert(at, weight);
        Some((at, weight))
    }
}

/// Estimates the bytes that reading a part of a font processes.
fn weight(document: &Document, object: &Object, depth: usize, parts: &mut usize) -> u64 {
    if depth == 0 || *parts == 0 {
        return 0;
    }
    *parts -= 1;
    let mut inner = |object: &Object| weight(document, object, depth - 1, parts);
    match object {
        Object::Reference(id) => document.objects.get(id).map_or(0, inner),
        Object::Array(items) => items.iter().map(inner).sum(),
        Object::Dictionary(dictionary) => dictionary.iter().map(|(_, value)| inner(value)).sum(),
        Object::Stream(stream) => stream.content.len() as u64,
        _ => 8,
    }
}

/// Counts the forms and fonts that a content stream uses: `/Name Do` and `/Name 12 Tf`. A match within a string counts
/// too.
fn drawing(stream: &Stream) -> Drawing {
    let content = stream.decompressed_content().unwrap_or_else(|_| stream.content.clone());
    let mut drawing = Drawing { bytes: content.len() as u64, ..Drawing::default() };
    let mut name: Option<&[u8]> = None;
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/[]()<>{}\0".contains(byte);
    let mut rest = content.as_slice();
    while let Some((first, after)) = rest.split_first() {
        let length = after.iter().position(ends).unwrap_or(after.len());
        let (word, next) = after.split_at_checked(length).unwrap_or((after, &[]));
        match (first, word) {
            (b'/', word) => name = Some(word),
            (b'D', b"o") => {
                if let Some(name) = name.take() {
                    *drawing.forms.entry(name.to_vec()).or_default() += 1;
                }
            }
            (b'T', b"f") => drawing.fonts.extend(name.take().map(<[u8]>::to_vec)),
            _ if ends(first) => {
                rest = after;
                continue;
            }
            _ => {}
        }
        rest = next;
    }
    drawing
}

fn address<T>(of: &T) -> usize {
    std::ptr::from_ref(of).addr()
}

fn cyclic() -> Unreadable {
    Unreadable::new(
        UnreadableReason::Damaged,
        "The pages of this PDF are part of each other in a circle, or nested too deeply.",
    )
}

fn repeated() -> Unreadable {
    Unreadable::new(UnreadableReason::Damaged, "This PDF draws the same parts of it over and over.")
}
