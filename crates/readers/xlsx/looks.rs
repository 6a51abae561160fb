//! What the styles of cells mean for a reader of text: how a number is shown, and whether a cell is shown at all.

use std::collections::HashMap;

use super::super::package::{PartEvent, attribute, for_each_event};
use super::super::source::Unreadable;
use super::numbers::NumberFormat;

/// The looks of cells by the number that a cell names.
#[derive(Default)]
pub struct CellLooks(Vec<CellLook>);

/// The look of a cell.
#[derive(Debug, Clone, Copy, Default)]
pub struct CellLook {
    pub number: NumberFormat,
    /// White letters on no ground.
    pub is_white: bool,
}

/// The tables of styles that the looks of cells refer to.
#[derive(Default)]
struct StyleTables {
    formats: HashMap<u32, NumberFormat>,
    is_white_font: Vec<bool>,
    is_filled: Vec<bool>,
    looks: Vec<CellLook>,
    in_fonts: bool,
    in_fills: bool,
    in_cells: bool,
}

impl CellLooks {
    /// Reads `xl/styles.xml`.
    ///
    /// # Errors
    /// Those of [`for_each_event`].
    pub fn read(xml: &str) -> Result<Self, Unreadable> {
        let mut tables = StyleTables::default();
        for_each_event(xml, |event| tables.handle(event))?;
        Ok(Self(tables.looks))
    }

    /// Returns the look with this number; a cell without a number has the first one.
    pub fn get(&self, number: Option<&str>) -> CellLook {
        let at = number.map_or(Some(0), |number| number.parse().ok());
        at.and_then(|at: usize| self.0.get(at)).copied().unwrap_or_default()
    }
}

impl StyleTables {
    fn handle(&mut self, event: PartEvent) {
        match event {
            PartEvent::Opens("numFmt", tag) => {
                let id = attribute(tag, "numFmtId").and_then(|id| id.parse().ok());
                if let (Some(id), Some(code)) = (id, attribute(tag, "formatCode")) {
                    self.formats.insert(id, NumberFormat::of_code(&code));
                }
            }
            PartEvent::Opens("fonts", _) => self.in_fonts = true,
            PartEvent::Closes("fonts") => self.in_fonts = false,
            PartEvent::Opens("fills", _) => self.in_fills = true,
            PartEvent::Closes("fills") => self.in_fills = false,
            PartEvent::Opens("cellXfs", _) => self.in_cells = true,
            PartEvent::Closes("cellXfs") => self.in_cells = false,
            PartEvent::Opens("font", _) if self.in_fonts => self.is_white_font.push(false),
            PartEvent::Opens("color", tag) if self.in_fonts => {
                let is_white = attribute(tag, "rgb").is_some_and(|rgb| rgb.to_ascii_lowercase().ends_with("ffffff"))
                    || attribute(tag, "theme").is_some_and(|theme| theme == "0")
                        && attribute(tag, "tint").is_none_or(|tint| tint.parse() == Ok(0.0_f64));
                if let Some(font) = self.is_white_font.last_mut() {
                    *font = is_white;
                }
            }
            PartEvent::Opens("fill", _) if self.in_fills => self.is_filled.push(false),
            PartEvent::Opens("patternFill", tag) if self.in_fills => {
                let is_filled = attribute(tag, "patternType").is_some_and(|pattern| pattern != "none");
                if let Some(fill) = self.is_filled.last_mut() {
                    *fill = is_filled;
                }
            }
            PartEvent::Opens("gradientFill", _) if self.in_fills => {
                if let Some(fill) = self.is_filled.last_mut() {
                    *fill = true;
                }
            }
            PartEvent::Opens("xf", tag) if self.in_cells => {
                let number = |name: &str| attribute(tag, name).and_then(|id| id.parse::<u32>().ok()).unwrap_or(0);
                let in_table = |table: &[bool], at: u32| {
                    usize::try_from(at).ok().and_then(|at| table.get(at)).copied().unwrap_or(false)
                };
                let format = number("numFmtId");
                self.looks.push(CellLook {
                    number: self.formats.get(&format).copied().unwrap_or_else(|| NumberFormat::built_in(format)),
                    is_white: in_table(&self.is_white_font, number("fontId"))
                        && !in_table(&self.is_filled, number("fillId")),
                });
            }
            _ => {}
        }
    }
}
