//! What is behind the letters of a slide: its background, and the shapes of the slide, its layout and their master.

use super::super::painted::{Area, PaintedCells};
use super::fills::Fill;
use super::place::SlideExtent;

/// What a slide, a layout or a master paints.
#[derive(Default)]
pub struct Painting {
    /// Where filled shapes, pictures, tables and charts are.
    pub areas: Vec<Area>,
    pub background: Fill,
    /// Whether its first colour of the background is another than the theme's first light one; `None` if it does not say.
    pub is_remapped: Option<bool>,
}

/// What is painted on a slide. Of two shapes it is not looked at which is in front.
#[derive(Clone)]
pub struct SlideGround {
    cells: PaintedCells,
    background: Fill,
    is_remapped: bool,
}

impl SlideGround {
    /// A slide on which nothing is painted yet.
    pub fn new(extent: SlideExtent) -> Self {
        let view = Area::around(&[(0.0, 0.0), (extent.width, extent.height)]);
        Self { cells: PaintedCells::new(view), background: Fill::Inherited, is_remapped: false }
    }

    /// Adds what is painted in front of it: layouts come after their master, slides after their layout.
    pub fn add(&mut self, painting: &Painting) {
        for area in &painting.areas {
            self.cells.paint(*area);
        }
        if painting.background != Fill::Inherited {
            self.background = painting.background;
        }
        self.is_remapped = painting.is_remapped.unwrap_or(self.is_remapped);
    }

    /// Whether white letters are seen within this area.
    pub fn shows_white(&self, area: Area) -> bool {
        self.background == Fill::Painted || self.is_remapped || self.cells.touches(area)
    }
}
