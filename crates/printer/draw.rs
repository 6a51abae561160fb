//! Pages become a file: PDF/A-2a for archives and PDF/UA-1 for screen readers, checked while it is written.

use krilla::Document;
use krilla::annotation::{Annotation, LinkAnnotation, Target};
use krilla::color::rgb;
use krilla::configure::{Accessibility, Archival, ConfigurationBuilder};
use krilla::destination::{Destination, XyzDestination};
use krilla::geom::{PathBuilder, Point, Rect};
use krilla::metadata::{DateTime, Metadata, TextDirection};
use krilla::num::NormalizedF32;
use krilla::outline::{Outline, OutlineNode};
use krilla::page::PageSettings;
use krilla::paint::{Fill, FillRule};
use krilla::surface::Surface;
use krilla::tagging::{Artifact, ArtifactType, ContentTag, SpanTag};
use krilla::text::{GlyphId, KrillaGlyph};
use krilla::{SerializeSettings, error::KrillaError};

use crate::flow::{
    AnchorIndex, AreaColor, FilledArea, LineOwner, PAGE_HEIGHT, PAGE_WIDTH, PageFlow, PagePlace, PageSheet, PlacedLine,
    text_edges,
};
use crate::fonts::EmbeddedFonts;
use crate::structure::StructureTree;
use crate::typeset::TextColor;

/// An entry of the outline that readers show beside the pages.
#[derive(Debug)]
pub(crate) struct Bookmark {
    pub(crate) title: String,
    pub(crate) anchor: AnchorIndex,
    pub(crate) children: Vec<Bookmark>,
}

/// What the file says of itself.
#[derive(Debug)]
pub(crate) struct FileFacts {
    pub(crate) id: String,
    pub(crate) title: String,
    /// BCP 47.
    pub(crate) language: String,
    /// RFC 3339 in UTC.
    pub(crate) as_of: String,
}

/// The bytes of the file.
pub(crate) fn write(flow: PageFlow, bookmarks: &[Bookmark], facts: &FileFacts) -> Result<Vec<u8>, KrillaError> {
    let configuration = ConfigurationBuilder::new()
        .with_archival_validator(Archival::A2_A)
        .with_accessibility_validator(Accessibility::UA1)
        .finish()
        .unwrap_or_default();
    let mut document =
        Document::new_with(SerializeSettings { configuration, enable_tagging: true, ..SerializeSettings::default() });
    let is_rtl = flow.direction.is_rtl();
    let PageFlow { typesetter, mut tree, pages, anchors, .. } = flow;
    let fonts = typesetter.fonts;
    for page in pages {
        draw_page(&mut document, page, &mut tree, &anchors, &fonts);
    }
    document.set_outline(outline(bookmarks, &anchors));
    document.set_tag_tree(tree.finish(&facts.language));
    let metadata = Metadata::new()
        .title(facts.title.clone())
        .language(facts.language.clone())
        .creator("Colloquy".to_owned())
        .producer("Colloquy".to_owned())
        .document_id(format!("{} {}", facts.id, facts.as_of))
        .creation_date(date_of(&facts.as_of).unwrap_or(DateTime::new(NO_YEAR)))
        .text_direction(if is_rtl { TextDirection::RightToLeft } else { TextDirection::LeftToRight });
    document.set_metadata(metadata);
    document.finish()
}

fn draw_page(
    document: &mut Document,
    sheet: PageSheet,
    tree: &mut StructureTree,
    anchors: &[PagePlace],
    fonts: &EmbeddedFonts,
) {
    let Some(settings) = PageSettings::from_wh(PAGE_WIDTH, PAGE_HEIGHT) else { return };
    let mut page = document.start_page_with(settings);
    for link in sheet.links {
        let (left, right) = text_edges();
        let (Some(area), Some(target)) =
            (Rect::from_ltrb(left, link.y, right, link.y + link.height), anchors.get(link.target).copied())
        else {
            continue;
        };
        let target = Target::Destination(Destination::Xyz(destination(target)));
        let identifier =
            page.add_tagged_annotation(Annotation::new_link(LinkAnnotation::new(area, target), Some(link.title)));
        tree.mark(link.element, identifier);
    }
    let mut surface = page.surface();
    if !sheet.areas.is_empty() {
        surface.start_tagged(ContentTag::Artifact(Artifact::with_kind(ArtifactType::Layout)));
        sheet.areas.iter().for_each(|area| fill(&mut surface, area));
        surface.end_tagged();
    }
    // Neighbouring lines of one element are one piece of content.
    for lines in sheet.lines.chunk_by(|one, next| one.owner == next.owner) {
        let Some(first) = lines.first() else { continue };
        let tag = match first.owner {
            LineOwner::Element(_) if lines.len() == 1 => ContentTag::Span(SpanTag::empty()),
            LineOwner::Element(_) => ContentTag::Other,
            LineOwner::Header => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Header)),
            LineOwner::Footer => ContentTag::Artifact(Artifact::with_kind(ArtifactType::Footer)),
        };
        let identifier = surface.start_tagged(tag);
        lines.iter().for_each(|line| draw_line(&mut surface, line, fonts));
        surface.end_tagged();
        if let LineOwner::Element(element) = first.owner {
            tree.mark(element, identifier);
        }
    }
    surface.finish();
    page.finish();
}

fn draw_line(surface: &mut Surface<'_>, placed: &PlacedLine, fonts: &EmbeddedFonts) {
    let Some(line) = placed.text.lines.get(placed.line) else { return };
    for span in &line.spans {
        let Some(face) = fonts.face(span.face) else { continue };
        let glyphs: Vec<KrillaGlyph> = span
            .glyphs
            .iter()
            .map(|glyph| {
                let start = glyph.start as usize;
                KrillaGlyph::new(
                    GlyphId::new(glyph.id.into()),
                    glyph.advance / span.size,
                    glyph.dx / span.size,
                    glyph.dy / span.size,
                    0.0,
                    start..start + usize::from(glyph.length),
                    None,
                )
            })
            .collect();
        let color = match span.color {
            TextColor::Body => rgb::Color::new(28, 30, 34),
            TextColor::Muted => rgb::Color::new(88, 94, 104),
            TextColor::Accent => rgb::Color::new(24, 66, 112),
        };
        surface.set_fill(Some(solid(color)));
        let start = Point::from_xy(placed.x + span.x, placed.y);
        surface.draw_glyphs(start, &glyphs, face.clone(), &placed.text.text, span.size, false);
    }
}

fn fill(surface: &mut Surface<'_>, area: &FilledArea) {
    let Some(rectangle) = Rect::from_xywh(area.x, area.y, area.width, area.height) else { return };
    let color = match area.color {
        AreaColor::Rule => rgb::Color::new(200, 206, 214),
        AreaColor::Accent => rgb::Color::new(24, 66, 112),
    };
    let mut path = PathBuilder::new();
    path.push_rect(rectangle);
    if let Some(path) = path.finish() {
        surface.set_fill(Some(solid(color)));
        surface.draw_path(&path);
    }
}

fn solid(color: rgb::Color) -> Fill {
    Fill { paint: color.into(), opacity: NormalizedF32::ONE, rule: FillRule::default() }
}

/// A little above the place, so that its first line is seen whole.
fn destination(place: PagePlace) -> XyzDestination {
    XyzDestination::new(place.page, Point::from_xy(0.0, (place.y - 8.0).max(0.0)))
}

fn outline(bookmarks: &[Bookmark], anchors: &[PagePlace]) -> Outline {
    let mut outline = Outline::new();
    bookmarks.iter().filter_map(|bookmark| outline_node(bookmark, anchors)).for_each(|node| outline.push_child(node));
    outline
}

fn outline_node(bookmark: &Bookmark, anchors: &[PagePlace]) -> Option<OutlineNode> {
    let mut node = OutlineNode::new(bookmark.title.clone(), destination(*anchors.get(bookmark.anchor)?));
    bookmark.children.iter().filter_map(|child| outline_node(child, anchors)).for_each(|child| node.push_child(child));
    Some(node)
}

/// A PDF/A has a date; one from no known time says the first year of computers' calendars.
const NO_YEAR: u16 = 1970;

/// None for what is no RFC 3339 time.
fn date_of(time: &str) -> Option<DateTime> {
    let number = |range: std::ops::Range<usize>| time.get(range).and_then(|digits| digits.parse::<u8>().ok());
    let date = DateTime::new(time.get(0..4)?.parse().ok()?).month(number(5..7)?).day(number(8..10)?);
    Some(match (number(11..13), number(14..16), number(17..19)) {
        (Some(hour), Some(minute), Some(second)) => {
            date.hour(hour).minute(minute).second(second).utc_offset_hour(0).utc_offset_minute(0)
        }
        _ => date,
    })
}
