//! Assembles the glyphs of a PDF page into lines: baselines, spaces, cells, right-to-left order.
//!
//! All lengths are points of the page; `x` grows along the line, `y` downwards.

use unicode_normalization::UnicodeNormalization;

/// The text that one character code shows, with its position.
#[derive(Debug, Clone)]
pub struct Glyph {
    pub text: String,
    pub x: f64,
    pub x_end: f64,
    /// Baseline.
    pub y: f64,
    pub size: f64,
    /// Whether the file starts a new string here: only then does a small gap mean a space.
    pub starts: bool,
    /// Whether the file gives the glyph's width; if not, `x_end` is a guess.
    pub measured: bool,
}

/// Glyphs on one baseline that the file draws one after the other.
#[derive(Debug, Clone)]
pub struct GlyphLine {
    /// One cell, or several if gaps divide the line like the row of a table. No cell is empty.
    pub cells: Vec<String>,
    pub x: f64,
    /// `x` of the start of the last cell.
    pub last_cell_x: f64,
    pub x_end: f64,
    pub y: f64,
    pub size: f64,
}

/// Minimum gaps as shares of the font size: a space before a new string, a space within a string, and the gap between
/// cells.
const SPACE: f64 = 0.15;
const SPACE_IN_STRING: f64 = 0.4;
const CELL: f64 = 1.2;
/// Minimum gap between cells as a multiple of the line's narrowest word gap: justified lines have wide gaps, but all
/// alike.
const CELL_TO_WORD_GAP: f64 = 2.5;
const BASELINE: f64 = 0.45;
const BACK: f64 = 1.0;
/// pdf-extract's positions run ahead in kerned strings by up to this share of the font size, so that the next string
/// seems to start further back.
const DRIFT: f64 = 4.0;

impl GlyphLine {
    /// Returns the text of the line, cells joined by ` | `.
    pub fn text(&self) -> String {
        self.cells.join(" | ")
    }

    /// Estimates the width of the first word, assuming that all characters are equally wide.
    pub fn first_word_width(&self) -> f64 {
        let Some(first) = self.cells.first() else { return 0.0 };
        let chars = self.text().chars().count().max(1);
        let word = first.split_whitespace().next().map_or(0, |word| word.chars().count());
        (self.x_end - self.x) * word as f64 / chars as f64
    }
}

/// Splits the glyphs of a page into lines, in the file's order.
pub fn lines(glyphs: Vec<Glyph>) -> Vec<GlyphLine> {
    let mut lines = Vec::new();
    let mut open: Vec<Glyph> = Vec::new();
    for glyph in glyphs {
        if let Some(last) = open.last()
            && !continues(last, &glyph)
        {
            lines.extend(line(std::mem::take(&mut open)));
        }
        open.push(glyph);
    }
    lines.extend(line(open));
    lines
}

fn continues(last: &Glyph, next: &Glyph) -> bool {
    let size = last.size.max(next.size);
    let rise = (last.y - next.y).abs();
    let back = if next.starts && rise <= 0.02 * size { DRIFT } else { BACK };
    let same_baseline = rise <= BASELINE * size;
    // Right-to-left text may be drawn from either end.
    let forwards = next.x >= last.x_end - back * size || is_rtl_text(&next.text) || is_rtl_text(&last.text);
    same_baseline && forwards
}

fn line(mut glyphs: Vec<Glyph>) -> Option<GlyphLine> {
    if glyphs.iter().any(|glyph| is_rtl_text(&glyph.text)) {
        glyphs.sort_by(|a, b| a.x.total_cmp(&b.x));
        glyphs = logical(spaced(glyphs));
    } else {
        glyphs = spaced(glyphs);
    }
    let size = main_size(&glyphs);
    let x = glyphs.iter().map(|glyph| glyph.x).reduce(f64::min)?;
    let x_end = glyphs.iter().map(|glyph| glyph.x_end).reduce(f64::max)?;
    let y = glyphs.iter().find(|glyph| glyph.size == size).map(|glyph| glyph.y)?;
    let last_cell_x = glyphs.iter().rev().find(|glyph| glyph.text.contains(CELL_MARK)).map_or(x, |mark| mark.x_end);
    let whole: String = glyphs.iter().map(|glyph| glyph.text.as_str()).collect();
    let mut cells: Vec<String> = Vec::new();
    for cell in whole.split(CELL_MARK) {
        let cell = readable(cell);
        match cells.last_mut() {
            _ if cell.is_empty() => {}
            // The gap after a bullet or a number is an indent.
            Some(label) if is_label(label) => *label = format!("{label} {cell}"),
            _ => cells.push(cell),
        }
    }
    (!cells.is_empty()).then_some(GlyphLine { cells, x, last_cell_x, x_end, y, size })
}

/// Inserted between glyphs where a gap separates two cells; removed from the text of the file itself.
const CELL_MARK: char = '\u{1f}';

/// Inserts spaces and cell marks where the gaps are.
fn spaced(glyphs: Vec<Glyph>) -> Vec<Glyph> {
    let cell_gap = cell_gap(&glyphs);
    // In reversed text the starts of strings mean nothing; such lines nearly always draw their spaces.
    let turned = glyphs.iter().any(|glyph| is_rtl_text(&glyph.text));
    let drawn = glyphs.iter().any(|glyph| glyph.text.trim().is_empty());
    let mut spaced: Vec<Glyph> = Vec::with_capacity(glyphs.len());
    let mut end: Option<f64> = None;
    let mut measured = true;
    for mut glyph in glyphs {
        glyph.text.retain(|c| c != CELL_MARK);
        let gap = end.map_or(0.0, |end| glyph.x - end);
        let blank = glyph.text.chars().all(char::is_whitespace);
        let least = match (turned, drawn) {
            (true, true) => CELL,
            (false, _) if glyph.starts && measured => SPACE,
            _ => SPACE_IN_STRING,
        };
        measured = glyph.measured;
        if !blank && gap > least * glyph.size {
            let text = if gap > cell_gap { CELL_MARK } else { ' ' }.to_string();
            spaced.push(Glyph { text, x: glyph.x - gap, x_end: glyph.x, ..glyph.clone() });
        }
        // Blanks do not end a gap: some files draw a space and then jump to the next cell.
        if !blank || end.is_none() {
            end = Some(glyph.x_end);
        } else if let Some(end) = &mut end {
            *end = glyph.x_end.max(*end);
        }
        spaced.push(glyph);
    }
    spaced
}

/// Returns the minimum gap between two cells of this line.
fn cell_gap(glyphs: &[Glyph]) -> f64 {
    let size = main_size(glyphs);
    let words: Vec<&Glyph> = glyphs.iter().filter(|glyph| !glyph.text.trim().is_empty()).collect();
    let gaps: Vec<f64> = words
        .iter()
        .zip(words.iter().skip(1))
        .map(|(word, next)| next.x - word.x_end)
        .filter(|gap| *gap > SPACE * size)
        .collect();
    let narrowest = gaps.iter().copied().reduce(f64::min).filter(|_| gaps.len() > 2).unwrap_or(0.0);
    (CELL * size).max(CELL_TO_WORD_GAP * narrowest)
}

/// Converts glyphs from visual order, left to right, to reading order. Reorders runs of one direction only, which is
/// enough for single lines: the full bidirectional algorithm would only improve brackets.
fn logical(seen: Vec<Glyph>) -> Vec<Glyph> {
    let strong_characters = |rtl: bool| seen.iter().filter(|glyph| direction(glyph) == Some(rtl)).count();
    let base_is_rtl = strong_characters(true) >= strong_characters(false);
    let mut stretches: Vec<(bool, Vec<Glyph>)> = Vec::new();
    let mut neutral: Vec<Glyph> = Vec::new();
    for glyph in seen {
        let Some(rtl) = direction(&glyph) else {
            neutral.push(glyph);
            continue;
        };
        match stretches.last_mut() {
            Some((last, stretch)) if *last == rtl => stretch.append(&mut neutral),
            _ if !neutral.is_empty() => stretches.push((base_is_rtl, std::mem::take(&mut neutral))),
            _ => {}
        }
        match stretches.last_mut() {
            Some((last, stretch)) if *last == rtl => stretch.push(glyph),
            _ => stretches.push((rtl, vec![glyph])),
        }
    }
    stretches.push((base_is_rtl, neutral));
    if base_is_rtl {
        stretches.reverse();
    }
    for (rtl, stretch) in &mut stretches {
        if *rtl {
            stretch.reverse();
        }
    }
    stretches.into_iter().flat_map(|(_, stretch)| stretch).collect()
}

/// `Some(true)` for right to left, `Some(false)` for left to right (digits too), `None` for glyphs that follow their
/// neighbours.
fn direction(glyph: &Glyph) -> Option<bool> {
    let strong = glyph.text.chars().find(|c| c.is_alphanumeric())?;
    Some(is_rtl(strong) && !strong.is_numeric())
}

/// Whether the text contains a right-to-left character.
pub fn is_rtl_text(text: &str) -> bool {
    text.chars().any(is_rtl)
}

/// Hebrew, Arabic, Syriac, Thaana, N'Ko and the presentation forms of the first two.
fn is_rtl(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}')
}

/// Returns the median font size: a footnote's number does not make a line small.
fn main_size(glyphs: &[Glyph]) -> f64 {
    let mut sizes: Vec<f64> =
        glyphs.iter().filter(|glyph| !glyph.text.trim().is_empty()).map(|glyph| glyph.size).collect();
    sizes.sort_by(f64::total_cmp);
    sizes.get(sizes.len() / 2).copied().or_else(|| glyphs.first().map(|glyph| glyph.size)).unwrap_or_default()
}

/// Normalises a cell: one space between words; ligatures and Arabic presentation forms, which are about shapes, become
/// the letters they stand for.
fn readable(cell: &str) -> String {
    let mut normalized = String::with_capacity(cell.len());
    for c in cell.chars() {
        match c {
            '\u{fb00}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' => normalized.extend(std::iter::once(c).nfkc()),
            c if c.is_whitespace() => normalized.push(' '),
            c => normalized.push(c),
        }
    }
    normalized.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn is_label(cell: &str) -> bool {
    let short = cell.chars().count() <= 8;
    short
        && !cell.chars().any(char::is_alphabetic)
        && !cell.is_empty()
        && super::text::is_list_item(&format!("{cell} x"))
        || short && cell.contains('.') && cell.chars().all(|c| c.is_ascii_digit() || c == '.')
}
