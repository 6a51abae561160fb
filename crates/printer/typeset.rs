//! Text becomes lines of glyphs: spans of one paragraph with their styles in, positioned glyphs of each line out.
//!
//! The paragraph has a direction of its own; what is pushed as isolated cannot change the order of what stands around it. Lines break
//! where Unicode allows it, and anywhere in a word that is longer than a line.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

use exports::words::Direction;
use parley::style::{FontFamily, FontFamilyName, FontWeight, LineHeight, OverflowWrap, StyleProperty};
use parley::{AlignmentOptions, BaseDirection, Layout, LayoutContext};

use crate::fonts::{EmbeddedFonts, FAMILIES, FaceIndex, is_invisible_to_print};

/// The colours of text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum TextColor {
    #[default]
    Body,
    Muted,
    Accent,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct SpanStyle {
    /// In points.
    pub(crate) size: f32,
    pub(crate) bold: bool,
    pub(crate) color: TextColor,
}

/// Where lines stand in their width.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) enum LineSide {
    /// Where the text begins in its own direction.
    #[default]
    Start,
    /// A side of the paper, whatever the direction of the text.
    Page(PageSide),
}

/// A side of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum PageSide {
    Left,
    Right,
}

/// One paragraph before it is set.
#[derive(Debug, Clone)]
pub(crate) struct StyledText {
    text: String,
    spans: Vec<(Range<usize>, SpanStyle)>,
    direction: Direction,
    pub(crate) side: LineSide,
}

impl StyledText {
    pub(crate) fn new(direction: Direction) -> Self {
        Self { text: String::new(), spans: Vec::new(), direction, side: LineSide::Start }
    }

    pub(crate) fn push(&mut self, text: &str, style: SpanStyle) {
        let start = self.text.len();
        self.text.push_str(text);
        self.spans.push((start..self.text.len(), style));
    }

    /// In the direction of its own first strong character.
    pub(crate) fn push_isolated(&mut self, text: &str, style: SpanStyle) {
        self.push_between('\u{2068}', text, style);
    }

    /// Codes, dates and numbers: from left to right everywhere.
    pub(crate) fn push_code(&mut self, text: &str, style: SpanStyle) {
        self.push_between('\u{2066}', text, style);
    }

    fn push_between(&mut self, opening: char, text: &str, style: SpanStyle) {
        let start = self.text.len();
        self.text.push(opening);
        self.text.push_str(text);
        self.text.push('\u{2069}');
        self.spans.push((start..self.text.len(), style));
    }
}

/// A glyph with its place in the line, in points.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SetGlyph {
    pub(crate) id: u16,
    /// Bytes of the text that it shows; several glyphs may share them.
    pub(crate) length: u16,
    pub(crate) start: u32,
    pub(crate) advance: f32,
    pub(crate) dx: f32,
    /// Upwards, as the file counts; shaping counts downwards.
    pub(crate) dy: f32,
}

/// Neighbouring glyphs of one face, size and colour.
#[derive(Debug)]
pub(crate) struct GlyphSpan {
    pub(crate) face: FaceIndex,
    pub(crate) size: f32,
    pub(crate) color: TextColor,
    pub(crate) x: f32,
    pub(crate) glyphs: Box<[SetGlyph]>,
}

#[derive(Debug)]
pub(crate) struct SetLine {
    pub(crate) spans: Box<[GlyphSpan]>,
    pub(crate) height: f32,
    /// From the top of the line.
    pub(crate) baseline: f32,
}

/// One paragraph in lines.
#[derive(Debug)]
pub(crate) struct SetText {
    pub(crate) text: Box<str>,
    pub(crate) lines: Vec<SetLine>,
}

impl SetText {
    pub(crate) fn height(&self) -> f32 {
        self.lines.iter().map(|line| line.height).sum()
    }

    pub(crate) fn first_baseline(&self) -> f32 {
        self.lines.first().map_or(0.0, |line| line.baseline)
    }
}

/// What decides how a short text is set: labels and words of enumerations occur thousands of times.
type CacheKey = (String, u32, bool, TextColor, bool, LineSide, u32);

/// Longer texts hardly repeat.
const MAX_CACHED_BYTES: usize = 48;
/// Of entries: then the cache begins anew.
const MAX_CACHED: usize = 4096;

pub(crate) struct Typesetter {
    pub(crate) fonts: EmbeddedFonts,
    context: LayoutContext<TextColor>,
    layout: Layout<TextColor>,
    cache: HashMap<CacheKey, Rc<SetText>>,
}

impl Typesetter {
    pub(crate) fn new(fonts: EmbeddedFonts) -> Self {
        Self { fonts, context: LayoutContext::new(), layout: Layout::new(), cache: HashMap::new() }
    }

    /// The lines of the paragraph in this width, in points.
    pub(crate) fn set(&mut self, paragraph: &StyledText, width: f32) -> Rc<SetText> {
        let key = match paragraph.spans.as_slice() {
            [(_, style)] if paragraph.text.len() <= MAX_CACHED_BYTES => Some((
                paragraph.text.clone(),
                style.size.to_bits(),
                style.bold,
                style.color,
                paragraph.direction.is_rtl(),
                paragraph.side,
                width.to_bits(),
            )),
            _ => None,
        };
        if let Some(set) = key.as_ref().and_then(|key| self.cache.get(key)) {
            return Rc::clone(set);
        }
        let set = Rc::new(self.shape(paragraph, width));
        if let Some(key) = key {
            if self.cache.len() >= MAX_CACHED {
                self.cache.clear();
            }
            self.cache.insert(key, Rc::clone(&set));
        }
        set
    }

    fn shape(&mut self, paragraph: &StyledText, width: f32) -> SetText {
        let families: Vec<_> = FAMILIES.iter().map(|name| FontFamilyName::Named(Cow::Borrowed(name))).collect();
        let mut builder = self.context.ranged_builder(&mut self.fonts.context, &paragraph.text, 1.0, false);
        builder.set_base_direction(match paragraph.direction {
            Direction::LeftToRight => BaseDirection::Ltr,
            Direction::RightToLeft => BaseDirection::Rtl,
        });
        builder.push_default(StyleProperty::FontFamily(FontFamily::List(Cow::Owned(families))));
        builder.push_default(LineHeight::FontSizeRelative(LINE_HEIGHT));
        builder.push_default(OverflowWrap::Anywhere);
        if let Some((_, style)) = paragraph.spans.first() {
            builder.push_default(StyleProperty::FontSize(style.size));
        }
        for (range, style) in &paragraph.spans {
            builder.push(StyleProperty::FontSize(style.size), range.clone());
            builder.push(StyleProperty::Brush(style.color), range.clone());
            if style.bold {
                builder.push(FontWeight::BOLD, range.clone());
            }
        }
        builder.build_into(&mut self.layout, &paragraph.text);
        self.layout.break_all_lines(Some(width));
        let alignment = match paragraph.side {
            LineSide::Start => parley::Alignment::Start,
            LineSide::Page(PageSide::Left) => parley::Alignment::Left,
            LineSide::Page(PageSide::Right) => parley::Alignment::Right,
        };
        self.layout.align(alignment, AlignmentOptions::default());
        let lines =
            self.layout.lines().map(|line| set_line(&line, &self.layout, &paragraph.text, &self.fonts)).collect();
        SetText { text: paragraph.text.as_str().into(), lines }
    }
}

/// Arabic with its marks needs the room, Latin is pleasant in it.
const LINE_HEIGHT: f32 = 1.5;

fn set_line(
    line: &parley::layout::Line<'_, TextColor>,
    layout: &Layout<TextColor>,
    text: &str,
    fonts: &EmbeddedFonts,
) -> SetLine {
    let metrics = line.metrics();
    let mut x = metrics.inline_min_coord + metrics.offset;
    let mut spans: Vec<GlyphSpan> = Vec::new();
    for run in line.runs() {
        let size = run.font_size();
        let Some(face) = fonts.face_of(run.font().data.id()) else { continue };
        let mut glyphs: Vec<SetGlyph> = Vec::new();
        let mut current = None;
        let mut span_x = x;
        let mut continued: Option<usize> = None;
        for cluster in run.visual_clusters() {
            let range = cluster.text_range();
            if cluster.is_ligature_continuation() {
                // Seen from the left, the rest of a ligature follows its glyph, or goes before it where text runs from the right.
                if run.is_rtl() {
                    continued = Some(continued.map_or(range.end, |end| end.max(range.end)));
                } else if let Some(last) = glyphs.last_mut() {
                    last.length = length_of(last.start as usize, range.end);
                }
                continue;
            }
            let end = continued.take().map_or(range.end, |end| end.max(range.end));
            let shown = text.get(range.start..end).unwrap_or_default();
            let invisible = shown.chars().all(|character| character == '\n' || is_invisible_to_print(character));
            let style = cluster.style_index();
            for glyph in cluster.glyphs() {
                if current != Some(style) {
                    finish(&mut spans, &mut glyphs, layout, current, (face, size, span_x));
                    current = Some(style);
                    span_x = x;
                }
                x += glyph.advance;
                if invisible {
                    // Its advance is nil, and what it says is not read.
                    continue;
                }
                let id = u16::try_from(glyph.id).ok().filter(|id| *id != 0).or_else(|| fonts.replacement_glyph(face));
                let Some(id) = id else { continue };
                let start = u32::try_from(range.start).unwrap_or(u32::MAX);
                let length = length_of(range.start, end);
                glyphs.push(SetGlyph { id, length, start, advance: glyph.advance, dx: glyph.x, dy: -glyph.y });
            }
        }
        finish(&mut spans, &mut glyphs, layout, current, (face, size, span_x));
    }
    SetLine {
        spans: spans.into_boxed_slice(),
        height: metrics.line_height,
        baseline: metrics.baseline - metrics.block_min_coord,
    }
}

fn length_of(start: usize, end: usize) -> u16 {
    u16::try_from(end.saturating_sub(start)).unwrap_or(u16::MAX)
}

fn finish(
    spans: &mut Vec<GlyphSpan>,
    glyphs: &mut Vec<SetGlyph>,
    layout: &Layout<TextColor>,
    style: Option<u16>,
    (face, size, x): (FaceIndex, f32, f32),
) {
    if glyphs.is_empty() {
        return;
    }
    let color =
        style.and_then(|index| layout.styles().get(usize::from(index))).map(|style| style.brush).unwrap_or_default();
    spans.push(GlyphSpan { face, size, color, x, glyphs: std::mem::take(glyphs).into_boxed_slice() });
}
