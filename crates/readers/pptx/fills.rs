//! What letters, shapes and backgrounds of slides are filled with, as far as it matters for what is seen.

use quick_xml::events::BytesStart;

use super::super::package::{PartEvent, attribute};

/// Least value of each component of a colour that is not seen on white.
const LIGHT: u8 = 0xf0;

/// A fill as it is written where it is looked for. What is inherited is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fill {
    #[default]
    Inherited,
    None,
    White,
    /// A colour, a picture, a pattern.
    Painted,
}

/// Follows the elements of a part and knows the fill that was read last.
#[derive(Default)]
pub struct FillReader {
    fill: Fill,
    /// Whether letters have an outline, a shadow or a marker, and so are seen in any colour.
    is_adorned: bool,
    is_open: bool,
    is_plain: bool,
    /// Depth within outlines and effects, whose colours are not those of the fill.
    aside: usize,
}

impl FillReader {
    /// Takes an event before others look at the fill.
    pub fn follow(&mut self, event: &PartEvent) {
        match event {
            PartEvent::Opens("rPr" | "spPr" | "grpSpPr" | "bgPr", _) => {
                *self = Self { is_open: true, ..Self::default() };
            }
            // The theme's first fill is plain; the others are usually gradients and pictures.
            PartEvent::Opens("bgRef", tag) => {
                let is_plain = attribute(tag, "idx").is_some_and(|at| at == "1001");
                *self = Self { is_open: true, is_plain, fill: Fill::Painted, ..Self::default() };
            }
            PartEvent::Closes("rPr" | "spPr" | "grpSpPr" | "bgPr" | "bgRef") => self.is_open = false,
            PartEvent::Opens(element, tag) if self.is_open => self.opens(element, tag),
            PartEvent::Closes(element) if self.is_open => self.closes(element),
            _ => {}
        }
    }

    /// Returns the fill of the element that just ended.
    pub fn fill(&self) -> Fill {
        self.fill
    }

    /// Whether the letters whose look just ended are seen by more than their fill.
    pub fn is_adorned(&self) -> bool {
        self.is_adorned
    }

    /// Whether the letters whose look just ended are white and nothing else.
    pub fn is_white_only(&self) -> bool {
        self.fill == Fill::White && !self.is_adorned
    }

    fn opens(&mut self, element: &str, tag: &BytesStart) {
        if is_aside(element) {
            self.aside += 1;
            self.is_adorned |= element == "highlight";
            return;
        }
        if self.aside > 0 {
            self.is_adorned |= matches!(
                element,
                "solidFill" | "gradFill" | "pattFill" | "outerShdw" | "innerShdw" | "prstShdw" | "glow" | "reflection"
            );
            return;
        }
        match element {
            "noFill" => self.fill = Fill::None,
            "solidFill" => (self.fill, self.is_plain) = (Fill::Painted, true),
            "gradFill" | "blipFill" | "pattFill" | "grpFill" => (self.fill, self.is_plain) = (Fill::Painted, false),
            "srgbClr" | "schemeClr" | "sysClr" | "prstClr" if self.is_plain => {
                self.fill = if is_white(element, tag) { Fill::White } else { Fill::Painted };
            }
            "lumMod" | "lumOff" | "lum" | "shade" | "tint" | "inv" | "comp" | "gray" if self.is_plain => {
                self.fill = Fill::Painted;
            }
            _ => {}
        }
    }

    fn closes(&mut self, element: &str) {
        if is_aside(element) {
            self.aside = self.aside.saturating_sub(1);
        } else if element == "solidFill" && self.aside == 0 {
            self.is_plain = false;
        }
    }
}

fn is_aside(element: &str) -> bool {
    matches!(element, "ln" | "uLn" | "uFill" | "effectLst" | "effectDag" | "highlight" | "scene3d" | "sp3d")
}

/// Whether a colour is white, or nearly, where the first colour of the background is.
fn is_white(element: &str, tag: &BytesStart) -> bool {
    let Some(value) = attribute(tag, "val") else { return false };
    match element {
        "srgbClr" => is_light(&value),
        "schemeClr" => value == "bg1" || value == "lt1",
        "sysClr" => attribute(tag, "lastClr").is_some_and(|colour| is_light(&colour)),
        _ => value == "white",
    }
}

fn is_light(colour: &str) -> bool {
    u32::from_str_radix(colour, 16).is_ok_and(|colour| {
        let [above, red, green, blue] = colour.to_be_bytes();
        above == 0 && [red, green, blue].iter().all(|part| *part >= LIGHT)
    })
}
