//! What a page of a PDF paints, step by step: in which colour and mode each string is drawn, and on what.
//!
//! pdf-extract finds the characters and their places but not how they look. So the operators are walked here as well, in
//! the same order and into the same forms: the nth string here is the nth there. Of a page there remain only the strings'
//! looks and the painted areas, which are far smaller than its operators. The work is that of reading the page once more,
//! which `pdf_bounds` has limited.
//!
//! Deliberately not looked at: layers that are switched off, text outside of the clipping path or under what is painted
//! later.

use pdf_extract::{Dictionary, Document, Object, ObjectId, Stream, Transform, content::Content};

use super::painted::Area;
use super::pdf_colours::ColourFamily;

/// Maximum nesting of forms.
const FORM_DEPTH: usize = 32;
/// Thinnest line, in points, that may be the ground of a text.
const GROUND_LINE: f64 = 2.0;
/// How opaque the least visible fill and the least covering one are.
const FAINT: f32 = 0.05;
const OPAQUE: f32 = 0.99;

/// The steps of a page in their order.
pub struct PageSteps {
    pub steps: Vec<PaintStep>,
    /// For the page and each form that was drawn, how its space becomes that of the page. pdf-extract reports places in
    /// the space of the form.
    pub spaces: Vec<Transform>,
}

#[derive(Debug, Clone, Copy)]
pub enum PaintStep {
    Shows(DrawnString),
    Paints(Area),
    /// Paints white over everything in the area.
    Whitens(Area),
    Pictures(Area),
}

/// How a string is drawn.
#[derive(Debug, Clone, Copy)]
pub struct DrawnString {
    pub ink: Ink,
    /// Whether the size of the font says how large the letters are. That of a Type 3 font does not.
    pub is_sized: bool,
    /// Whether a place was given for it, so that it does not follow from the widths of the letters before.
    pub is_placed: bool,
    /// Position in `PageSteps::spaces`.
    pub space: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    Coloured,
    White,
    /// Render mode 3, which lays text over the picture of a scanned page, or hides it.
    Unpainted,
    /// Wholly transparent.
    Clear,
}

impl PageSteps {
    /// Walks a page; `None` if something on it is not as pdf-extract would read it.
    pub fn of(document: &Document, page: ObjectId, resources: &Dictionary) -> Option<Self> {
        let mut walk =
            Walk { document, page: Self { steps: Vec::new(), spaces: vec![Transform::identity()] }, depth: 0 };
        let content = document.get_page_content(page).ok()?;
        walk.stream(&content, resources, State::default(), 0)?;
        Some(walk.page)
    }
}

#[derive(Clone, Copy)]
struct Colour {
    family: ColourFamily,
    is_white: bool,
}

impl Colour {
    fn of(family: ColourFamily, operands: &[Object]) -> Self {
        Self { family, is_white: family.is_white(operands) }
    }
}

/// The part of the graphics state that matters here.
#[derive(Clone, Copy)]
struct State {
    space: Transform,
    clip: Area,
    /// Whether all of `clip` is left by the clipping path, not only some of it.
    is_clip_exact: bool,
    fill: Colour,
    stroke: Colour,
    opacity: f32,
    line_width: f64,
    mode: i64,
    has_drawn_letters: bool,
}

impl Default for State {
    fn default() -> Self {
        let black = Colour { family: ColourFamily::Light, is_white: false };
        Self {
            space: Transform::identity(),
            clip: Area::ALL,
            is_clip_exact: true,
            fill: black,
            stroke: black,
            opacity: 1.0,
            line_width: 1.0,
            mode: 0,
            has_drawn_letters: false,
        }
    }
}

impl State {
    fn ink(&self) -> Ink {
        let (fills, strokes) = (matches!(self.mode, 0 | 2 | 4 | 6), matches!(self.mode, 1 | 2 | 5 | 6));
        // The mode means nothing for letters that are drawings, and their colour may be their own.
        if self.has_drawn_letters {
            Ink::Coloured
        } else if self.mode == 3 {
            Ink::Unpainted
        } else if fills && !strokes && self.opacity <= FAINT {
            Ink::Clear
        } else if (fills || strokes) && (!fills || self.fill.is_white) && (!strokes || self.stroke.is_white) {
            Ink::White
        } else {
            Ink::Coloured
        }
    }

    /// Width of a line on the page, at least.
    fn width_on_page(&self) -> f64 {
        let Transform { m11, m12, m21, m22, .. } = self.space;
        self.line_width * m11.hypot(m12).min(m21.hypot(m22))
    }
}

/// The path that is being built.
#[derive(Default)]
struct Path {
    area: Option<Area>,
    at: (f64, f64),
    start: (f64, f64),
    /// Its pieces, as far as they are wide lines.
    lines: Vec<Area>,
    rectangles: usize,
    has_others: bool,
    clips: bool,
}

impl Path {
    fn add(&mut self, area: Area, is_line: bool) {
        self.area = Some(self.area.map_or(area, |all| all.joined(area)));
        if is_line {
            self.lines.push(area);
        }
    }

    fn is_rectangle(&self) -> bool {
        self.rectangles == 1 && !self.has_others
    }
}

struct Walk<'a> {
    document: &'a Document,
    page: PageSteps,
    depth: usize,
}

/// One content stream that is being walked.
struct OpenStream<'a> {
    resources: &'a Dictionary,
    state: State,
    saved: Vec<State>,
    path: Path,
    space: usize,
    /// Whether a place was given since the string before, and whether pdf-extract then knows it.
    is_placed: bool,
    is_place_known: bool,
}

impl<'a> Walk<'a> {
    fn stream(&mut self, content: &[u8], resources: &'a Dictionary, state: State, space: usize) -> Option<()> {
        let content = Content::decode(content).ok()?;
        let mut drawing = OpenStream {
            resources,
            state,
            saved: Vec::new(),
            path: Path::default(),
            space,
            is_placed: false,
            is_place_known: true,
        };
        for operation in &content.operations {
            self.operation(&mut drawing, &operation.operator, &operation.operands)?;
        }
        Some(())
    }

    fn operation(&mut self, drawing: &mut OpenStream<'a>, operator: &str, operands: &[Object]) -> Option<()> {
        let state = &mut drawing.state;
        match operator {
            "q" => drawing.saved.push(*state),
            "Q" => *state = drawing.saved.pop().unwrap_or(*state),
            "cm" => state.space = state.space.pre_transform(&matrix(operands)?),
            "w" => state.line_width = numbers::<1>(operands)?[0],
            "gs" => self.graphics_state(drawing, operands)?,
            "g" | "rg" => state.fill = Colour::of(ColourFamily::Light, operands),
            "k" => state.fill = Colour::of(ColourFamily::Ink, operands),
            "G" | "RG" => state.stroke = Colour::of(ColourFamily::Light, operands),
            "K" => state.stroke = Colour::of(ColourFamily::Ink, operands),
            "sc" | "scn" => state.fill = Colour::of(state.fill.family, operands),
            "SC" | "SCN" => state.stroke = Colour::of(state.stroke.family, operands),
            "cs" | "CS" => {
                let family = ColourFamily::named(operands.first()?.as_name().ok()?, drawing.resources, self.document);
                let of = if operator == "cs" { &mut state.fill } else { &mut state.stroke };
                *of = Colour { family, is_white: false };
            }
            "BT" | "Tm" => (drawing.is_placed, drawing.is_place_known) = (true, true),
            "Td" | "TD" | "T*" => drawing.is_placed = true,
            // Strings of these operators are not read by pdf-extract, which does not go to the next line either.
            "'" | "\"" => drawing.is_place_known = false,
            "Tr" => state.mode = operands.first()?.as_i64().unwrap_or(0),
            "Tf" => state.has_drawn_letters = self.has_drawn_letters(drawing.resources, operands.first()?),
            "Tj" => self.shows(drawing, operands.get(..1)?),
            "TJ" => self.shows(drawing, operands.first()?.as_array().map_or(&[], Vec::as_slice)),
            "sh" => self.page.steps.push(PaintStep::Paints(state.clip)),
            "BI" => self.picture(drawing),
            "Do" => self.object(drawing, operands.first()?.as_name().ok()?)?,
            _ => self.path(drawing, operator, operands)?,
        }
        Some(())
    }

    fn graphics_state(&self, drawing: &mut OpenStream, operands: &[Object]) -> Option<()> {
        let states = drawing.resources.get_deref(b"ExtGState", self.document).and_then(Object::as_dict).ok()?;
        let state =
            states.get_deref(operands.first()?.as_name().ok()?, self.document).and_then(Object::as_dict).ok()?;
        if let Ok(opacity) = state.get(b"ca").and_then(Object::as_float) {
            drawing.state.opacity = opacity;
        }
        Some(())
    }

    fn has_drawn_letters(&self, resources: &Dictionary, name: &Object) -> bool {
        let fonts = resources.get_deref(b"Font", self.document).and_then(Object::as_dict);
        let font = fonts.and_then(|fonts| fonts.get_deref(name.as_name()?, self.document)).and_then(Object::as_dict);
        font.and_then(|font| font.get_deref(b"Subtype", self.document))
            .is_ok_and(|kind| matches!(kind, Object::Name(kind) if kind == b"Type3"))
    }

    fn shows(&mut self, drawing: &mut OpenStream, strings: &[Object]) {
        for _ in strings.iter().filter(|string| matches!(string, Object::String(..))) {
            self.page.steps.push(PaintStep::Shows(DrawnString {
                ink: drawing.state.ink(),
                is_sized: !drawing.state.has_drawn_letters,
                is_placed: std::mem::take(&mut drawing.is_placed) && drawing.is_place_known,
                space: drawing.space,
            }));
        }
    }

    fn picture(&mut self, drawing: &OpenStream) {
        let area = around_rectangle(&drawing.state.space, (0.0, 0.0, 1.0, 1.0)).shared(drawing.state.clip);
        self.page.steps.push(PaintStep::Pictures(area));
    }

    fn object(&mut self, drawing: &mut OpenStream<'a>, name: &[u8]) -> Option<()> {
        let objects = drawing.resources.get_deref(b"XObject", self.document).and_then(Object::as_dict).ok()?;
        let object = objects.get_deref(name, self.document).and_then(Object::as_stream).ok()?;
        if object.dict.get(b"Subtype").is_ok_and(|kind| matches!(kind, Object::Name(kind) if kind == b"Image")) {
            self.picture(drawing);
            return Some(());
        }
        self.form(drawing, object)
    }

    fn form(&mut self, drawing: &mut OpenStream<'a>, form: &'a Stream) -> Option<()> {
        if self.depth >= FORM_DEPTH {
            return None;
        }
        let entry = |key: &[u8]| form.dict.get_deref(key, self.document).and_then(Object::as_array).ok();
        let mut state = drawing.state;
        if let Some(own) = entry(b"Matrix").and_then(|own| matrix(own)) {
            state.space = state.space.pre_transform(&own);
        }
        let frame = entry(b"BBox").and_then(|corners| numbers(corners));
        if let Some([left, bottom, right, top]) = frame {
            let frame = around_rectangle(&state.space, (left, bottom, right - left, top - bottom));
            state.clip = state.clip.shared(frame);
        }
        state.is_clip_exact &= frame.is_some() && keeps_axes(&state.space);
        let own = form.dict.get_deref(b"Resources", self.document).and_then(Object::as_dict);
        let content = form.decompressed_content().unwrap_or_else(|_| form.content.clone());
        let space = self.page.spaces.len();
        self.page.spaces.push(state.space);
        self.depth += 1;
        self.stream(&content, own.unwrap_or(drawing.resources), state, space)?;
        self.depth -= 1;
        Some(())
    }

    fn path(&mut self, drawing: &mut OpenStream, operator: &str, operands: &[Object]) -> Option<()> {
        let state = &drawing.state;
        let path = &mut drawing.path;
        let is_line = state.width_on_page() >= GROUND_LINE;
        match operator {
            "m" => {
                let [x, y] = numbers(operands)?;
                path.at = moved(&state.space, (x, y));
                path.start = path.at;
            }
            "re" => {
                let [x, y, width, height] = numbers(operands)?;
                let sides =
                    [(x, y, width, 0.0), (x, y, 0.0, height), (x + width, y, 0.0, height), (x, y + height, width, 0.0)];
                for side in sides.into_iter().filter(|_| is_line) {
                    path.add(around_rectangle(&state.space, side), true);
                }
                path.add(around_rectangle(&state.space, (x, y, width, height)), false);
                path.rectangles += 1;
                path.has_others |= !keeps_axes(&state.space);
            }
            "l" | "c" | "v" | "y" => {
                let mut points = vec![path.at];
                for pair in operands.chunks_exact(2) {
                    let [x, y] = numbers(pair)?;
                    points.push(moved(&state.space, (x, y)));
                }
                path.at = points.last().copied()?;
                path.add(Area::around(&points), is_line);
                path.has_others = true;
            }
            "h" => {
                path.add(Area::around(&[path.at, path.start]), is_line && path.has_others);
                path.at = path.start;
            }
            "W" | "W*" => path.clips = true,
            "f" | "F" | "f*" => self.paint(drawing, true, false),
            "B" | "B*" | "b" | "b*" => self.paint(drawing, true, true),
            "S" | "s" => self.paint(drawing, false, true),
            "n" => self.paint(drawing, false, false),
            _ => {}
        }
        Some(())
    }

    /// Paints the path and ends it.
    fn paint(&mut self, drawing: &mut OpenStream, fills: bool, strokes: bool) {
        let path = std::mem::take(&mut drawing.path);
        let state = &mut drawing.state;
        let Some(area) = path.area else { return };
        let seen = area.shared(state.clip);
        if fills && state.opacity > FAINT {
            if !state.fill.is_white {
                self.page.steps.push(PaintStep::Paints(seen));
            } else if path.is_rectangle() && area != Area::ALL && state.is_clip_exact && state.opacity >= OPAQUE {
                self.page.steps.push(PaintStep::Whitens(seen));
            }
        }
        if strokes && !state.stroke.is_white {
            let by = (state.width_on_page() / 2.0) as f32;
            let clip = state.clip;
            let lines = path.lines.iter().map(|line| PaintStep::Paints(line.grown(by).shared(clip)));
            self.page.steps.extend(lines);
        }
        if path.clips {
            state.clip = seen;
            state.is_clip_exact &= path.is_rectangle();
        }
    }
}

fn numbers<const COUNT: usize>(operands: &[Object]) -> Option<[f64; COUNT]> {
    let mut numbers = [0.0; COUNT];
    for (number, operand) in numbers.iter_mut().zip(operands.get(..COUNT)?) {
        *number = f64::from(operand.as_float().ok()?);
    }
    Some(numbers)
}

fn matrix(operands: &[Object]) -> Option<Transform> {
    let [a, b, c, d, e, f] = numbers(operands)?;
    Some(Transform::row_major(a, b, c, d, e, f))
}

/// Returns the area around a rectangle of another space: its corner, width and height.
fn around_rectangle(space: &Transform, (x, y, width, height): (f64, f64, f64, f64)) -> Area {
    let corners = [(x, y), (x + width, y), (x, y + height), (x + width, y + height)];
    Area::around(&corners.map(|corner| moved(space, corner)))
}

/// Returns where a point of another space is on the page.
pub fn moved(space: &Transform, (x, y): (f64, f64)) -> (f64, f64) {
    (x * space.m11 + y * space.m21 + space.m31, x * space.m12 + y * space.m22 + space.m32)
}

/// Whether rectangles stay rectangles along the axes.
fn keeps_axes(space: &Transform) -> bool {
    (space.m12 == 0.0 && space.m21 == 0.0) || (space.m11 == 0.0 && space.m22 == 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turned_rectangle_is_within_its_area() {
        let quarter = Transform::row_major(0.0, 2.0, -1.0, 0.0, 100.0, 0.0);
        let area = around_rectangle(&quarter, (0.0, 0.0, 10.0, 20.0));
        assert_eq!(area, Area { left: 80.0, bottom: 0.0, right: 100.0, top: 20.0 });
        assert!(keeps_axes(&quarter) && !keeps_axes(&Transform::row_major(1.0, 0.1, 0.0, 1.0, 0.0, 0.0)));
        assert_eq!(Area::around(&[(f64::NAN, 0.0)]), Area::ALL);
    }
}
