//! Reads one slide, or the notes to one: its shapes in their order, each with its paragraphs or its table.

use quick_xml::events::BytesStart;

use super::super::package::{PartEvent, attribute, for_each_event, is_on};
use super::super::source::{BlockKind, Unreadable};

/// Width and height of a slide, in the units of its shapes.
#[derive(Debug, Clone, Copy)]
pub struct SlideExtent {
    pub width: f64,
    pub height: f64,
}

/// What is on a slide.
#[derive(Default)]
pub struct Slide {
    pub is_hidden: bool,
    /// Empty if it has none.
    pub title: String,
    pub contents: Vec<Content>,
    /// Texts that are not shown.
    pub hidden: Vec<String>,
}

/// A piece of a slide.
pub enum Content {
    Block(BlockKind, String),
    /// The id of the relation to the points of a diagram.
    Diagram(String),
}

impl Slide {
    /// Reads a slide. Without an extent nothing is beside it.
    ///
    /// # Errors
    /// Those of [`for_each_event`].
    pub fn read(xml: &str, extent: Option<SlideExtent>) -> Result<Self, Unreadable> {
        let mut reader = SlideReader { extent, ..SlideReader::default() };
        for_each_event(xml, |event| reader.handle(event))?;
        Ok(reader.slide)
    }

    /// Reads the notes to a slide and returns their text, without the picture of the slide and the page's header.
    ///
    /// # Errors
    /// Those of [`for_each_event`].
    pub fn read_notes(xml: &str) -> Result<Vec<(BlockKind, String)>, Unreadable> {
        let mut reader = SlideReader { is_notes: true, ..SlideReader::default() };
        for_each_event(xml, |event| reader.handle(event))?;
        let blocks = reader.slide.contents.into_iter().filter_map(|content| match content {
            Content::Block(kind, text) => Some((kind, text)),
            Content::Diagram(_) => None,
        });
        Ok(blocks.collect())
    }
}

/// Returns the texts of the points of a diagram (SmartArt), in the order in which they were entered.
///
/// # Errors
/// Those of [`for_each_event`].
pub fn points_of_diagram(xml: &str) -> Result<Vec<String>, Unreadable> {
    let (mut points, mut point, mut in_text) = (Vec::new(), None::<String>, false);
    for_each_event(xml, |event| match event {
        // The other types are those of the lines between points and of their layout.
        PartEvent::Opens("pt", tag) => {
            let is_text = attribute(tag, "type").is_none_or(|kind| kind == "node" || kind == "asst");
            point = is_text.then(String::new);
        }
        PartEvent::Closes("pt") => {
            points.extend(point.take().filter(|point| !point.trim().is_empty()));
        }
        PartEvent::Opens("t", _) => in_text = true,
        PartEvent::Closes("t") => in_text = false,
        PartEvent::Closes("p" | "br") => {
            if let Some(point) = &mut point {
                point.push(' ');
            }
        }
        PartEvent::Text(text) if in_text => {
            if let Some(point) = &mut point {
                point.push_str(text);
            }
        }
        _ => {}
    })?;
    Ok(points)
}

/// A shape that is being read; groups are shapes with shapes in them.
struct Shape {
    is_hidden: bool,
    placeholder: Option<Placeholder>,
    place: ShapePlace,
    /// How the places of its own shapes become places on the slide.
    around: Mapping,
    blocks: Vec<Content>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Placeholder {
    Title,
    Subtitle,
    /// Text that has bullets unless they are switched off.
    Body,
    Footer,
    /// Date, slide number, header, picture of the slide.
    Passing,
}

/// Offset and size as written, and for a group also those that its shapes count in.
#[derive(Default, Clone, Copy)]
struct ShapePlace {
    offset: Option<(f64, f64)>,
    size: Option<(f64, f64)>,
    inner_offset: Option<(f64, f64)>,
    inner_size: Option<(f64, f64)>,
}

/// Converts places within a group to places on the slide: factor and summand of x and y.
#[derive(Clone, Copy)]
struct Mapping {
    x: (f64, f64),
    y: (f64, f64),
}

impl Mapping {
    const NONE: Self = Self { x: (1.0, 0.0), y: (1.0, 0.0) };

    /// Returns the mapping of the shapes in a group that lies at `place`.
    fn within(self, place: ShapePlace) -> Self {
        let (Some(offset), Some(size), Some(inner), Some(inner_size)) =
            (place.offset, place.size, place.inner_offset, place.inner_size)
        else {
            return self;
        };
        let axis = |(factor, summand): (f64, f64), offset: f64, size: f64, inner: f64, inner_size: f64| {
            let scale = if inner_size == 0.0 { 1.0 } else { size / inner_size };
            (factor * scale, summand + factor * (offset - inner * scale))
        };
        Self {
            x: axis(self.x, offset.0, size.0, inner.0, inner_size.0),
            y: axis(self.y, offset.1, size.1, inner.1, inner_size.1),
        }
    }
}

#[derive(Default)]
struct SlideParagraph {
    text: String,
    has_bullet: Option<bool>,
}

#[derive(Default)]
struct SlideReader {
    slide: Slide,
    extent: Option<SlideExtent>,
    is_notes: bool,
    shapes: Vec<Shape>,
    paragraph: Option<SlideParagraph>,
    /// The cells of the open row of a table; `None` for one that another covers.
    row: Option<Vec<Option<String>>>,
    in_place: bool,
    in_text: bool,
    in_run_look: bool,
    in_outline: bool,
    is_invisible: bool,
    is_number: bool,
    /// Depth within the older copy of a drawing.
    skipped: usize,
}

impl SlideReader {
    fn handle(&mut self, event: PartEvent) {
        match &event {
            PartEvent::Opens("Fallback", _) => self.skipped += 1,
            PartEvent::Closes("Fallback") => self.skipped = self.skipped.saturating_sub(1),
            _ if self.skipped > 0 => {}
            PartEvent::Opens(element, tag) => self.opens(element, tag),
            PartEvent::Closes(element) => self.closes(element),
            PartEvent::Text(text) if self.in_text => self.write(text),
            PartEvent::Text(_) => {}
        }
    }

    fn opens(&mut self, element: &str, tag: &BytesStart) {
        match element {
            "sld" => self.slide.is_hidden = attribute(tag, "show").is_some_and(|show| !is_on(&show)),
            "sp" | "grpSp" | "graphicFrame" | "cxnSp" | "pic" => self.open_shape(),
            "cNvPr" => {
                let is_hidden = attribute(tag, "hidden").is_some_and(|hidden| is_on(&hidden));
                if let Some(shape) = self.shapes.last_mut() {
                    shape.is_hidden |= is_hidden;
                }
            }
            "ph" => {
                let placeholder = placeholder(attribute(tag, "type").as_deref());
                if let Some(shape) = self.shapes.last_mut() {
                    shape.placeholder = Some(placeholder);
                }
            }
            "xfrm" => self.in_place = true,
            "off" | "ext" | "chOff" | "chExt" if self.in_place => self.place(element, tag),
            "relIds" => {
                if let (Some(shape), Some(data)) = (self.shapes.last_mut(), attribute(tag, "dm")) {
                    shape.blocks.push(Content::Diagram(data));
                }
            }
            "tr" => self.row = Some(Vec::new()),
            "tc" => {
                let covered = ["hMerge", "vMerge"].iter().any(|name| attribute(tag, name).is_some_and(|on| is_on(&on)));
                if let Some(row) = &mut self.row {
                    row.push((!covered).then(String::new));
                }
            }
            "p" => self.paragraph = Some(SlideParagraph::default()),
            "buNone" => self.bullet(false),
            "buChar" | "buAutoNum" | "buBlip" => self.bullet(true),
            "r" => self.is_invisible = false,
            "fld" => {
                self.is_invisible = false;
                self.is_number = attribute(tag, "type").is_some_and(|kind| kind == "slidenum");
            }
            "rPr" => self.in_run_look = true,
            "ln" => self.in_outline = true,
            "noFill" if self.in_run_look && !self.in_outline => self.is_invisible = true,
            "alpha" if self.in_run_look && !self.in_outline => {
                self.is_invisible |= attribute(tag, "val").is_some_and(|alpha| matches!(alpha.as_str(), "0" | "0%"));
            }
            "t" => self.in_text = true,
            "br" => {
                if let Some(paragraph) = &mut self.paragraph {
                    paragraph.text.push('\n');
                }
            }
            _ => {}
        }
    }

    fn closes(&mut self, element: &str) {
        match element {
            "sp" | "grpSp" | "graphicFrame" | "cxnSp" | "pic" => self.close_shape(),
            "grpSpPr" => {
                // From here on come the shapes of the group.
                if let Some(group) = self.shapes.last_mut() {
                    group.around = group.around.within(group.place);
                }
            }
            "xfrm" => self.in_place = false,
            "p" => self.close_paragraph(),
            "tr" => self.close_row(),
            "fld" => self.is_number = false,
            "rPr" => self.in_run_look = false,
            "ln" => self.in_outline = false,
            "t" => self.in_text = false,
            _ => {}
        }
    }

    fn open_shape(&mut self) {
        let (is_hidden, around) =
            self.shapes.last().map_or((false, Mapping::NONE), |group| (group.is_hidden, group.around));
        self.shapes.push(Shape {
            is_hidden,
            placeholder: None,
            place: ShapePlace::default(),
            around,
            blocks: Vec::new(),
        });
    }

    fn place(&mut self, element: &str, tag: &BytesStart) {
        let names = if matches!(element, "off" | "chOff") { ("x", "y") } else { ("cx", "cy") };
        let number = |name: &str| attribute(tag, name).and_then(|number| number.parse::<f64>().ok());
        let Some(pair) = number(names.0).zip(number(names.1)) else { return };
        let Some(shape) = self.shapes.last_mut() else { return };
        match element {
            "off" => shape.place.offset = Some(pair),
            "ext" => shape.place.size = Some(pair),
            "chOff" => shape.place.inner_offset = Some(pair),
            _ => shape.place.inner_size = Some(pair),
        }
    }

    fn bullet(&mut self, has_bullet: bool) {
        if let Some(paragraph) = &mut self.paragraph {
            paragraph.has_bullet = Some(has_bullet);
        }
    }

    fn write(&mut self, text: &str) {
        let Some(paragraph) = &mut self.paragraph else { return };
        if self.is_number {
            return;
        }
        if self.is_invisible {
            self.slide.hidden.push(text.to_owned());
        } else {
            paragraph.text.push_str(text);
        }
    }

    fn close_paragraph(&mut self) {
        let Some(paragraph) = self.paragraph.take() else { return };
        if let Some(row) = &mut self.row {
            if let Some(Some(cell)) = row.last_mut() {
                cell.push(' ');
                cell.push_str(&paragraph.text);
            }
            return;
        }
        let is_notes = self.is_notes;
        let Some(shape) = self.shapes.last_mut() else { return };
        let has_bullet = paragraph.has_bullet.unwrap_or(shape.placeholder == Some(Placeholder::Body) && !is_notes);
        let kind = match shape.placeholder {
            Some(Placeholder::Footer) => BlockKind::Boilerplate,
            _ if has_bullet => BlockKind::ListItem,
            _ => BlockKind::Paragraph,
        };
        shape.blocks.push(Content::Block(kind, paragraph.text));
    }

    /// Writes a row. A row with a single cell is a frame around a text, not a table.
    fn close_row(&mut self) {
        let (Some(row), Some(shape)) = (self.row.take(), self.shapes.last_mut()) else { return };
        let cells: Vec<String> =
            row.into_iter().flatten().map(|cell| cell.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        if cells.iter().all(String::is_empty) {
            return;
        }
        let kind = if cells.len() == 1 { BlockKind::Paragraph } else { BlockKind::TableRow };
        shape.blocks.push(Content::Block(kind, cells.join(" | ")));
    }

    fn close_shape(&mut self) {
        let Some(shape) = self.shapes.pop() else { return };
        let is_read = match shape.placeholder {
            Some(Placeholder::Passing) => false,
            Some(Placeholder::Body) => true,
            _ => !self.is_notes,
        };
        if !is_read {
            return;
        }
        if shape.is_hidden || self.is_beside(&shape) {
            self.slide.hidden.extend(shape.blocks.into_iter().filter_map(|content| match content {
                Content::Block(_, text) => Some(text),
                Content::Diagram(_) => None,
            }));
            return;
        }
        if shape.placeholder != Some(Placeholder::Title) {
            self.slide.contents.extend(shape.blocks);
            return;
        }
        for content in shape.blocks {
            if let Content::Block(_, text) = content {
                self.slide.title.push(' ');
                self.slide.title.push_str(&text);
            }
        }
    }

    /// Whether a shape lies wholly outside of the slide. One without a place of its own has that of the layout.
    fn is_beside(&self, shape: &Shape) -> bool {
        let (Some(extent), Some(offset), Some(size)) = (self.extent, shape.place.offset, shape.place.size) else {
            return false;
        };
        let around = self.shapes.last().map_or(Mapping::NONE, |group| group.around);
        let is_outside = |(factor, summand): (f64, f64), start: f64, length: f64, whole: f64| {
            let (one, other) = (start * factor + summand, (start + length) * factor + summand);
            one.max(other) < 0.0 || one.min(other) > whole
        };
        is_outside(around.x, offset.0, size.0, extent.width) || is_outside(around.y, offset.1, size.1, extent.height)
    }
}

fn placeholder(kind: Option<&str>) -> Placeholder {
    match kind {
        Some("title" | "ctrTitle") => Placeholder::Title,
        Some("subTitle") => Placeholder::Subtitle,
        Some("ftr") => Placeholder::Footer,
        Some("dt" | "sldNum" | "hdr" | "sldImg") => Placeholder::Passing,
        _ => Placeholder::Body,
    }
}
