//! Reads one slide, or the notes to one: its shapes in their order, each with its paragraphs or its table.

use quick_xml::events::BytesStart;

use super::super::package::{PartEvent, attribute, for_each_event, is_on};
use super::super::painted::Area;
use super::super::source::{BlockKind, Unreadable};
use super::fills::{Fill, FillReader};
use super::ground::{Painting, SlideGround};
use super::place::{Mapping, ShapePlace, SlideExtent};

/// What is on a slide.
#[derive(Default)]
pub struct Slide {
    pub is_hidden: bool,
    /// Empty if it has none.
    pub title: String,
    pub contents: Vec<Content>,
    /// Texts that are not shown.
    pub hidden: Vec<String>,
    /// Whether there are white letters.
    pub has_white: bool,
    pub painting: Painting,
}

/// A piece of a slide.
pub enum Content {
    Block(BlockKind, String),
    /// The id of the relation to the points of a diagram.
    Diagram(String),
}

impl Slide {
    /// Reads a slide, a layout or a master. Without an extent nothing is beside it, without a ground white letters are
    /// taken as shown.
    ///
    /// # Errors
    /// Those of [`for_each_event`].
    pub fn read(xml: &str, extent: Option<SlideExtent>, ground: Option<&SlideGround>) -> Result<Self, Unreadable> {
        let mut reader = SlideReader { extent, ground, ..SlideReader::default() };
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
    fill: Fill,
    /// Whether its style fills it.
    has_style_fill: bool,
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

#[derive(Default)]
struct SlideParagraph {
    text: String,
    has_bullet: Option<bool>,
}

#[derive(Default)]
struct SlideReader<'a> {
    slide: Slide,
    ground: Option<&'a SlideGround>,
    fills: FillReader,
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
    is_white: bool,
    is_number: bool,
    /// Depth within the older copy of a drawing.
    skipped: usize,
}

impl SlideReader<'_> {
    fn handle(&mut self, event: PartEvent) {
        self.fills.follow(&event);
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
            "xfrm" => {
                self.in_place = true;
                if let Some(shape) = self.shapes.last_mut() {
                    shape.place.is_turned = attribute(tag, "rot").is_some_and(|angle| angle != "0");
                }
            }
            "fillRef" => {
                if let Some(shape) = self.shapes.last_mut() {
                    shape.has_style_fill = attribute(tag, "idx").is_some_and(|at| at != "0");
                }
            }
            "clrMap" | "overrideClrMapping" => {
                self.slide.painting.is_remapped = attribute(tag, "bg1").map(|colour| colour != "lt1");
            }
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
            "r" => (self.is_invisible, self.is_white) = (false, false),
            "fld" => {
                (self.is_invisible, self.is_white) = (false, false);
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
            "sp" | "grpSp" | "graphicFrame" | "cxnSp" | "pic" => self.close_shape(element),
            "spPr" => {
                if let Some(shape) = self.shapes.last_mut() {
                    shape.fill = self.fills.fill();
                }
            }
            "bgPr" | "bgRef" => self.slide.painting.background = self.fills.fill(),
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
            "rPr" => {
                self.in_run_look = false;
                self.is_white = self.fills.is_white_only();
                self.is_invisible &= !self.fills.is_adorned();
            }
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
            fill: Fill::Inherited,
            has_style_fill: false,
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
        // White is the usual colour in the head of a table, whose style fills it.
        let is_white = self.is_white && self.row.is_none();
        self.slide.has_white |= is_white;
        let is_hidden = self.is_invisible || (is_white && self.is_on_white());
        let Some(paragraph) = &mut self.paragraph else { return };
        if self.is_number {
            return;
        }
        if is_hidden {
            self.slide.hidden.push(text.to_owned());
        } else {
            paragraph.text.push_str(text);
        }
    }

    /// Whether nothing is painted where the open shape is. One without a place of its own may be anywhere.
    fn is_on_white(&self) -> bool {
        let (Some(ground), Some((shape, groups))) = (self.ground, self.shapes.split_last()) else { return false };
        !ground.shows_white(area(shape, groups))
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

    fn close_shape(&mut self, element: &str) {
        let Some(shape) = self.shapes.pop() else { return };
        let is_painted = match shape.fill {
            _ if matches!(element, "pic" | "graphicFrame") => true,
            Fill::Inherited => shape.has_style_fill,
            fill => fill == Fill::Painted,
        };
        if is_painted && !shape.is_hidden {
            self.slide.painting.areas.push(area(&shape, &self.shapes));
        }
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
        let around = self.shapes.last().map_or(Mapping::NONE, |group| group.around);
        self.extent.zip(around.area(shape.place)).is_some_and(|(extent, area)| {
            let (width, height) = (extent.width as f32, extent.height as f32);
            area.right < 0.0 || area.left > width || area.top < 0.0 || area.bottom > height
        })
    }
}

/// Returns where a shape is for certain not beyond: everywhere for one that is turned or has no place of its own.
fn area(shape: &Shape, groups: &[Shape]) -> Area {
    let around = groups.last().map_or(Mapping::NONE, |group| group.around);
    let is_turned = shape.place.is_turned || groups.iter().any(|group| group.place.is_turned);
    around.area(shape.place).filter(|_| !is_turned).unwrap_or(Area::ALL)
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
