//! Which characters of a PDF page nobody sees.
//!
//! Not seen are characters in white, or nearly, where nothing is painted behind them; transparent ones; ones that are
//! less than a point high or wide; ones outside of the page. Characters that are not painted at all (render mode 3) are
//! read if the page looks scanned: if they are most of its text, and over a picture or alone on the page. They are then
//! the words of the picture, and otherwise hidden.
//!
//! In doubt a character is seen: where any colour is painted behind it or a picture is anywhere there, where only its
//! font would say where it is or how large, and on a page that was not walked as pdf-extract reads it.

use pdf_extract::{Dictionary, Document, Object, ObjectId, Transform};

use super::painted::{Area, PaintedCells};
use super::pdf_steps::{DrawnString, Ink, PageSteps, PaintStep, moved};

/// Smallest height and width of letters, in points; `TINY_SHARE` of the page's longer side if that is less: a small page
/// is meant to be enlarged.
const TINY: f64 = 1.0;
const TINY_SHARE: f64 = 1.0 / 400.0;
/// How far outside of the page, in points, a character must be.
const SLACK: f64 = 1.0;
/// Height of most letters, as a share of the font size.
const HEIGHT: f64 = 0.6;
/// Depth of the page tree up to which inherited entries are looked for.
const TREE_DEPTH: usize = 64;

/// A page of which characters are being read.
pub struct PageSight {
    steps: std::vec::IntoIter<PaintStep>,
    spaces: Vec<Transform>,
    view: Area,
    tiny: f64,
    painted: PaintedCells,
    pictured: PaintedCells,
    string: Option<DrawnString>,
    /// About the last character whose place was given, from which those of the characters behind it follow.
    anchor: Option<CharacterPlace>,
    /// Whether the walk had each string that was read.
    agrees: bool,
    characters: Vec<(CharacterSight, usize)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CharacterSight {
    Seen,
    Hidden,
    Unpainted { is_over_picture: bool },
}

#[derive(Clone, Copy)]
struct CharacterPlace {
    /// Bits of the sides of the page beyond which it lies.
    beyond: u8,
    is_on_paint: bool,
}

impl PageSight {
    /// Walks a page; `None` if it can't be said what is seen on it.
    pub fn of(document: &Document, page: ObjectId) -> Option<Self> {
        let nothing = Dictionary::new();
        let resources = inherited(document, page, b"Resources").and_then(|object| object.as_dict().ok());
        let PageSteps { steps, spaces } = PageSteps::of(document, page, resources.unwrap_or(&nothing))?;
        let media = corners(document, page, b"MediaBox")?;
        let view = corners(document, page, b"CropBox").map_or(media, |crop| media.shared(crop));
        let view = if view.is_empty() { media } else { view };
        let unit = document.get_dictionary(page).and_then(|page| page.get_deref(b"UserUnit", document));
        let unit = unit.and_then(Object::as_float).ok().filter(|unit| *unit > 0.0).map_or(1.0, f64::from);
        let long = f64::from((view.right - view.left).max(view.top - view.bottom)) * unit;
        let mut pictured = PaintedCells::new(view);
        for step in &steps {
            if let PaintStep::Pictures(area) = step {
                pictured.paint(*area);
            }
        }
        Some(Self {
            steps: steps.into_iter(),
            spaces,
            view,
            tiny: TINY.min(long * TINY_SHARE) / unit,
            painted: PaintedCells::new(view),
            pictured,
            string: None,
            anchor: None,
            agrees: true,
            characters: Vec::new(),
        })
    }

    /// Goes on to the next string, past all that is painted before it.
    pub fn next_string(&mut self) {
        for step in self.steps.by_ref() {
            match step {
                PaintStep::Paints(area) => self.painted.paint(area),
                PaintStep::Whitens(area) => self.painted.erase(area),
                PaintStep::Pictures(_) => {}
                PaintStep::Shows(mut string) => {
                    if string.is_placed {
                        self.anchor = None;
                    }
                    // The place that was given to a string without characters is that of the next one.
                    string.is_placed |= self.string.is_some_and(|before| before.is_placed);
                    self.string = Some(string);
                    return;
                }
            }
        }
        self.agrees = false;
    }

    /// Looks at a character of the string: its transformation in pdf-extract's space, its width as a share of the font
    /// size, the font size, and how many characters of text it is.
    pub fn character(&mut self, at: &Transform, width: f64, font_size: f64, count: usize) {
        let sight = self.sight(at, width, font_size).unwrap_or(CharacterSight::Seen);
        self.characters.push((sight, count));
    }

    fn sight(&mut self, at: &Transform, width: f64, font_size: f64) -> Option<CharacterSight> {
        let mut string = self.string?;
        let at = at.post_transform(self.spaces.get(string.space)?);
        let place = self.place(&at, width * font_size, font_size)?;
        // The first character of a string with a place of its own is the anchor of those behind it.
        if string.is_placed {
            self.anchor = Some(place);
            string.is_placed = false;
            self.string = Some(string);
        }
        let anchor = self.anchor;
        let size = (font_size * at.m21.hypot(at.m22)).abs().min((font_size * at.m11.hypot(at.m12)).abs());
        let is_beside = anchor.is_some_and(|anchor| anchor.beyond & place.beyond != 0);
        if is_beside || string.ink == Ink::Clear || (string.is_sized && size < self.tiny) {
            return Some(CharacterSight::Hidden);
        }
        Some(match string.ink {
            Ink::Unpainted => CharacterSight::Unpainted {
                is_over_picture: self.pictured.is_painted(self.middle(&at, width * font_size, font_size)),
            },
            // Places run ahead in some strings: they may end on what they do not stand on, and the other way round.
            Ink::White if !place.is_on_paint && anchor.is_some_and(|anchor| !anchor.is_on_paint) => {
                CharacterSight::Hidden
            }
            Ink::White | Ink::Coloured | Ink::Clear => CharacterSight::Seen,
        })
    }

    /// Returns where a character is; `None` if its place is no number.
    fn place(&self, at: &Transform, advance: f64, font_size: f64) -> Option<CharacterPlace> {
        let middle = self.middle(at, advance, font_size);
        let height = font_size * HEIGHT;
        let corners = [(0.0, 0.0), (advance, 0.0), (0.0, height), (advance, height)];
        // The width and the font size are in text space, in which `at` has no scale of its own.
        let area = Area::around(&corners.map(|corner| moved(at, corner)));
        if area == Area::ALL {
            return None;
        }
        let view = self.view.grown(SLACK as f32);
        let beyond = u8::from(area.right < view.left)
            | u8::from(area.left > view.right) << 1
            | u8::from(area.top < view.bottom) << 2
            | u8::from(area.bottom > view.top) << 3;
        Some(CharacterPlace {
            beyond,
            is_on_paint: self.painted.is_painted(middle) || self.pictured.is_painted(middle),
        })
    }

    fn middle(&self, at: &Transform, advance: f64, font_size: f64) -> (f64, f64) {
        moved(at, (advance / 2.0, font_size * HEIGHT / 2.0))
    }

    /// Returns for each character whether it is hidden.
    pub fn hidden(self) -> Vec<bool> {
        let Self { mut steps, agrees, characters, .. } = self;
        if !agrees || steps.any(|step| matches!(step, PaintStep::Shows(_))) {
            return vec![false; characters.len()];
        }
        let count = |wanted: &dyn Fn(CharacterSight) -> bool| -> usize {
            characters.iter().filter(|(sight, _)| wanted(*sight)).map(|(_, count)| count).sum()
        };
        let seen = count(&|sight| sight == CharacterSight::Seen);
        let is_scan = count(&|sight| matches!(sight, CharacterSight::Unpainted { .. })) > seen;
        let is_hidden = |sight| match sight {
            CharacterSight::Seen => false,
            CharacterSight::Hidden => true,
            CharacterSight::Unpainted { is_over_picture } => !is_scan || !(is_over_picture || seen == 0),
        };
        characters.into_iter().map(|(sight, _)| is_hidden(sight)).collect()
    }
}

/// Returns an entry of a page or of its nearest ancestor that has it.
fn inherited<'a>(document: &'a Document, page: ObjectId, key: &[u8]) -> Option<&'a Object> {
    let mut node = document.get_dictionary(page).ok()?;
    for _ in 0..=TREE_DEPTH {
        if let Ok(entry) = node.get_deref(key, document) {
            return Some(entry);
        }
        node = document.get_dictionary(node.get(b"Parent").and_then(Object::as_reference).ok()?).ok()?;
    }
    None
}

fn corners(document: &Document, page: ObjectId, key: &[u8]) -> Option<Area> {
    let corners = inherited(document, page, key)?.as_array().ok()?;
    let number = |at: usize| {
        let number = corners.get(at).and_then(|corner| document.dereference(corner).ok())?.1.as_float();
        number.ok().map(f64::from)
    };
    let area = Area::around(&[(number(0)?, number(1)?), (number(2)?, number(3)?)]);
    (area.left < area.right && area.bottom < area.top).then_some(area)
}
