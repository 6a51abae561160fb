//! Where shapes are on a slide.

use super::super::painted::Area;

/// Width and height of a slide, in the units of its shapes.
#[derive(Debug, Clone, Copy)]
pub struct SlideExtent {
    pub width: f64,
    pub height: f64,
}

/// Offset and size as written, and for a group also those that its shapes count in.
#[derive(Default, Clone, Copy)]
pub struct ShapePlace {
    pub offset: Option<(f64, f64)>,
    pub size: Option<(f64, f64)>,
    pub inner_offset: Option<(f64, f64)>,
    pub inner_size: Option<(f64, f64)>,
    pub is_turned: bool,
}

/// Converts places within a group to places on the slide: factor and summand of x and y.
#[derive(Clone, Copy)]
pub struct Mapping {
    x: (f64, f64),
    y: (f64, f64),
}

impl Mapping {
    pub const NONE: Self = Self { x: (1.0, 0.0), y: (1.0, 0.0) };

    /// Returns the mapping of the shapes in a group that lies at `place`.
    pub fn within(self, place: ShapePlace) -> Self {
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

    /// Returns where on the slide a shape lies; `None` for one that has no place of its own.
    pub fn area(self, place: ShapePlace) -> Option<Area> {
        let (offset, size) = (place.offset?, place.size?);
        let at = |(factor, summand): (f64, f64), along: f64| along * factor + summand;
        Some(Area::around(&[
            (at(self.x, offset.0), at(self.y, offset.1)),
            (at(self.x, offset.0 + size.0), at(self.y, offset.1 + size.1)),
        ]))
    }
}
