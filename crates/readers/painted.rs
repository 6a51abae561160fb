//! Rectangles of a page or a slide, and a coarse picture of where something is painted.

/// A rectangle along the axes, in the units of its page.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Area {
    pub left: f32,
    pub bottom: f32,
    pub right: f32,
    pub top: f32,
}

impl Area {
    /// Everything. Used for what has no place that can be computed.
    pub const ALL: Self = Self { left: f32::MIN, bottom: f32::MIN, right: f32::MAX, top: f32::MAX };

    /// Returns the smallest area around these points.
    pub fn around(points: &[(f64, f64)]) -> Self {
        let mut area = Self { left: f32::MAX, bottom: f32::MAX, right: f32::MIN, top: f32::MIN };
        for (x, y) in points {
            if !x.is_finite() || !y.is_finite() {
                return Self::ALL;
            }
            area = area.joined(Self { left: *x as f32, bottom: *y as f32, right: *x as f32, top: *y as f32 });
        }
        area
    }

    pub fn joined(self, other: Self) -> Self {
        Self {
            left: self.left.min(other.left),
            bottom: self.bottom.min(other.bottom),
            right: self.right.max(other.right),
            top: self.top.max(other.top),
        }
    }

    /// Returns what both areas have, which is empty (its sides the wrong way round) if they do not touch.
    pub fn shared(self, other: Self) -> Self {
        Self {
            left: self.left.max(other.left),
            bottom: self.bottom.max(other.bottom),
            right: self.right.min(other.right),
            top: self.top.min(other.top),
        }
    }

    pub fn is_empty(self) -> bool {
        self.left > self.right || self.bottom > self.top
    }

    pub fn grown(self, by: f32) -> Self {
        Self { left: self.left - by, bottom: self.bottom - by, right: self.right + by, top: self.top + by }
    }
}

/// Which cells of a page are painted. A page has so few cells (some 5 by 3 points on A4) that marking an area costs the
/// same, and little, whatever its size: what covers what is then found without comparing all with all.
#[derive(Clone)]
pub struct PaintedCells {
    view: Area,
    /// A bit for each column, from the bottom.
    rows: Vec<u128>,
}

const COLUMNS: f32 = 128.0;
const ROWS: usize = 256;

impl PaintedCells {
    pub fn new(view: Area) -> Self {
        Self { view, rows: vec![0; ROWS] }
    }

    /// Marks all cells that the area touches as painted.
    pub fn paint(&mut self, area: Area) {
        let seen = area.shared(self.view);
        if seen.is_empty() {
            return;
        }
        let columns = columns(self.column(seen.left).floor(), self.column(seen.right).floor());
        let (first, count) = rows(self.row(seen.bottom).floor(), self.row(seen.top).floor());
        self.rows.iter_mut().skip(first).take(count).for_each(|row| *row |= columns);
    }

    /// Marks all cells that lie wholly within the area as unpainted.
    pub fn erase(&mut self, area: Area) {
        let seen = area.shared(self.view);
        if seen.is_empty() {
            return;
        }
        let columns = columns(self.column(seen.left).ceil(), self.column(seen.right).floor() - 1.0);
        let (first, count) = rows(self.row(seen.bottom).ceil(), self.row(seen.top).floor() - 1.0);
        self.rows.iter_mut().skip(first).take(count).for_each(|row| *row &= !columns);
    }

    /// Whether a cell that the area touches is painted.
    pub fn touches(&self, area: Area) -> bool {
        let seen = area.shared(self.view);
        if seen.is_empty() {
            return false;
        }
        let columns = columns(self.column(seen.left).floor(), self.column(seen.right).floor());
        let (first, count) = rows(self.row(seen.bottom).floor(), self.row(seen.top).floor());
        self.rows.iter().skip(first).take(count).any(|row| row & columns != 0)
    }

    /// Whether the cell at this point is painted; there are none outside of the view.
    pub fn is_painted(&self, (x, y): (f64, f64)) -> bool {
        let (column, row) = (self.column(x as f32).floor(), self.row(y as f32).floor());
        if !(0.0..=COLUMNS).contains(&column) || !(0.0..=ROWS as f32).contains(&row) {
            return false;
        }
        self.rows.get((row as usize).min(ROWS - 1)).is_some_and(|row| row & columns(column, column) != 0)
    }

    fn column(&self, x: f32) -> f32 {
        (x - self.view.left) / (self.view.right - self.view.left) * COLUMNS
    }

    fn row(&self, y: f32) -> f32 {
        (y - self.view.bottom) / (self.view.top - self.view.bottom) * ROWS as f32
    }
}

/// Returns the first row and how many there are up to the last.
fn rows(first: f32, last: f32) -> (usize, usize) {
    if first > last {
        return (0, 0);
    }
    let first = (first.max(0.0) as usize).min(ROWS - 1);
    (first, (last.max(0.0) as usize).min(ROWS - 1) + 1 - first)
}

/// Returns the bits of the columns from the first to the last.
fn columns(first: f32, last: f32) -> u128 {
    if first > last {
        return 0;
    }
    let first = (first.max(0.0) as u32).min(127);
    let last = (last.max(0.0) as u32).min(127);
    (u128::MAX << first) & (u128::MAX >> (127 - last))
}

#[cfg(test)]
mod tests {
    use super::*;

    const VIEW: Area = Area { left: 0.0, bottom: 0.0, right: 128.0, top: 256.0 };

    #[test]
    fn what_is_painted_covers_what_it_touches_and_white_erases_what_it_covers() {
        let mut cells = PaintedCells::new(VIEW);
        cells.paint(Area { left: 10.5, bottom: 20.5, right: 30.5, top: 40.5 });
        assert!(cells.is_painted((10.1, 20.1)) && cells.is_painted((30.9, 40.9)));
        assert!(cells.touches(Area { left: 30.7, bottom: 0.0, right: 99.0, top: 99.0 }));
        assert!(!cells.touches(Area { left: 31.1, bottom: 0.0, right: 99.0, top: 99.0 }));
        assert!(!cells.is_painted((9.9, 30.0)) && !cells.is_painted((20.0, 41.1)) && !cells.is_painted((-5.0, 30.0)));
        cells.erase(Area { left: 15.5, bottom: 25.0, right: 20.5, top: 30.0 });
        assert!(cells.is_painted((15.6, 26.0)) && cells.is_painted((20.1, 26.0)) && cells.is_painted((17.0, 30.1)));
        assert!(!cells.is_painted((16.1, 25.1)) && !cells.is_painted((19.9, 29.9)));
        cells.erase(Area { left: 0.2, bottom: 0.0, right: 0.8, top: 256.0 });
        cells.paint(Area::ALL);
        assert!(cells.is_painted((0.0, 0.0)) && cells.is_painted((128.0, 256.0)));
        cells.erase(VIEW);
        assert!(!cells.is_painted((0.0, 0.0)) && !cells.is_painted((127.9, 255.9)));
    }
}
