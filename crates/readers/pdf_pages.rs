//! Takes the glyphs of each page of a PDF from pdf-extract, leaves out those that nobody sees and makes lines of the
//! others.

use std::collections::BTreeMap;

use pdf_extract::{Document, MediaBox, ObjectId, OutputDev, OutputError, Transform};
use unicode_normalization::char::is_combining_mark;

use super::pdf_lines::{Glyph, GlyphLine, lines};
use super::pdf_sight::PageSight;

/// Assumed width of a character without a reported width, as a share of the font size.
const UNKNOWN_WIDTH: f64 = 0.55;

/// A page: the lines that are seen on it, and what is not.
pub struct PrintedPage {
    pub lines: Vec<GlyphLine>,
    pub top: f64,
    pub bottom: f64,
    /// The second baseline from the top, plus a tolerance of 2 points; `second_last` is the second from the bottom,
    /// minus the tolerance.
    pub second: f64,
    pub second_last: f64,
    /// The text that nobody sees.
    pub hidden: String,
}

impl PrintedPage {
    fn new(lines: Vec<GlyphLine>, hidden: String, (top, bottom): (f64, f64)) -> Self {
        let mut baselines: Vec<f64> = lines.iter().map(|line| line.y).collect();
        baselines.sort_by(f64::total_cmp);
        baselines.dedup_by(|a, b| (*a - *b).abs() < 2.0);
        let second = baselines.get(1).copied().unwrap_or(bottom);
        let second_last = baselines.iter().rev().nth(1).copied().unwrap_or(top);
        Self { lines, top, bottom, second: second + 2.0, second_last: second_last - 2.0, hidden }
    }
}

/// The pages that were printed, and the glyphs of the open one.
#[derive(Default)]
pub struct Printed {
    pub pages: Vec<PrintedPage>,
    glyphs: Vec<Glyph>,
    extent: (f64, f64),
    /// Whether a page was begun and not ended.
    pub is_open: bool,
    starts: bool,
}

/// Collects the glyphs that pdf-extract outputs while it walks the pages.
pub struct Printer<'a> {
    document: &'a Document,
    ids: BTreeMap<u32, ObjectId>,
    printed: &'a mut Printed,
    /// What is seen on the open page, if it can be said.
    sight: Option<PageSight>,
}

impl<'a> Printer<'a> {
    pub fn new(document: &'a Document, printed: &'a mut Printed) -> Self {
        Self { document, ids: document.get_pages(), printed, sight: None }
    }
}

impl OutputDev for Printer<'_> {
    fn begin_page(&mut self, page: u32, media: &MediaBox, _: Option<(f64, f64, f64, f64)>) -> Result<(), OutputError> {
        self.printed.is_open = true;
        self.printed.glyphs.clear();
        self.printed.extent = (-media.ury, -media.lly);
        self.sight = self.ids.get(&page).and_then(|id| PageSight::of(self.document, *id));
        Ok(())
    }

    fn end_page(&mut self) -> Result<(), OutputError> {
        let Printed { pages, glyphs, extent, is_open, .. } = &mut *self.printed;
        *is_open = false;
        let mut is_hidden = self.sight.take().map(PageSight::hidden).unwrap_or_default().into_iter();
        let mut hidden = String::new();
        let mut seen = std::mem::take(glyphs);
        seen.retain(|glyph| {
            let is_hidden = is_hidden.next().unwrap_or(false);
            if is_hidden {
                hidden.push_str(&glyph.text);
            }
            !is_hidden
        });
        pages.push(PrintedPage::new(lines(seen), hidden, *extent));
        Ok(())
    }

    fn output_character(
        &mut self,
        at: &Transform,
        width: f64,
        _spacing: f64,
        font_size: f64,
        text: &str,
    ) -> Result<(), OutputError> {
        let size = (font_size * at.m21.hypot(at.m22)).abs();
        let advance = (width * font_size * at.m11.hypot(at.m12)).abs();
        // Text that runs up or down the page is read as if the page were rotated.
        let (x, y) = if at.m12 > at.m11.abs() {
            (at.m32, at.m31)
        } else if -at.m12 > at.m11.abs() {
            (-at.m32, -at.m31)
        } else {
            (at.m31, -at.m32)
        };
        if [x, y, size, advance].iter().all(|number| number.is_finite()) && size > 0.0 {
            let starts = std::mem::take(&mut self.printed.starts);
            // pdf-extract reports no width for some characters of some fonts. Combining marks really have none.
            let measured = advance > 0.0 || text.chars().all(is_combining_mark);
            let x_end = x + if measured { advance } else { UNKNOWN_WIDTH * size };
            self.printed.glyphs.push(Glyph { text: text.to_owned(), x, x_end, y, size, starts, measured });
            if let Some(sight) = &mut self.sight {
                let count = text.chars().filter(|character| !character.is_whitespace()).count();
                sight.character(at, width, font_size, count);
            }
        }
        Ok(())
    }

    fn begin_word(&mut self) -> Result<(), OutputError> {
        self.printed.starts = true;
        if let Some(sight) = &mut self.sight {
            sight.next_string();
        }
        Ok(())
    }

    fn end_word(&mut self) -> Result<(), OutputError> {
        Ok(())
    }

    fn end_line(&mut self) -> Result<(), OutputError> {
        Ok(())
    }
}
