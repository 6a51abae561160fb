//! PPTX reader: each slide is a page and a section under its title, in the order in which they are shown, with the
//! speaker's notes under a heading of their own.
//!
//! Left out and counted: hidden slides with their notes, hidden shapes, shapes beside the slide, letters without colour,
//! and letters that are white by their own look where nothing is painted: the background is white, and no filled shape,
//! picture or table of the slide, its layout or their master is there. Left out: comments, dates and slide numbers,
//! charts, what the master shows. A slide without a title is headed by its number, so that its
//! text does not seem to belong to the slide before.

mod fills;
mod ground;
mod place;
mod slide;

use std::collections::{HashMap, HashSet};

use super::draft::TextDraft;
use super::package::{Package, PartEvent, PartRelations, attribute, damaged, for_each_event, relation_id};
use super::source::{BlockKind, SourceText, Unreadable};
use ground::SlideGround;
use place::SlideExtent;
use slide::{Content, Slide};

/// The title of the section with the speaker's notes.
const NOTES: &str = "Notes";

/// Reads a PPTX.
///
/// # Errors
/// `Encrypted`, `Damaged` or `TooLarge`.
pub fn read(bytes: &[u8]) -> Result<SourceText, Unreadable> {
    let mut package = Package::open(bytes)?;
    let main = package.main_part("ppt/presentation.xml")?;
    let relations = package.relations(&main)?;
    let presentation = Presentation::read(&package.part(&main)?.ok_or_else(damaged)?)?;
    let mut writer =
        SlideWriter { package, draft: TextDraft::default(), footers: HashSet::new(), layouts: HashMap::new() };
    let mut seen = HashSet::new();
    for (at, id) in presentation.slides.iter().enumerate() {
        let Some(slide) = relations.get(id).filter(|relation| relation.kind == "slide") else { continue };
        // No program shows a slide twice: a list that does would make a small file large.
        if seen.insert(slide.target.as_str()) {
            writer.slide(u32::try_from(at + 1).unwrap_or(u32::MAX), &slide.target, presentation.extent)?;
        }
        if writer.draft.is_full() {
            break;
        }
    }
    writer.draft.finish()
}

/// The list of slides: the ids of their relations, in the order in which they are shown.
#[derive(Default)]
struct Presentation {
    slides: Vec<String>,
    extent: Option<SlideExtent>,
}

impl Presentation {
    fn read(xml: &str) -> Result<Self, Unreadable> {
        let mut presentation = Self::default();
        let mut is_presentation = false;
        for_each_event(xml, |event| match event {
            PartEvent::Opens("presentation", _) => is_presentation = true,
            PartEvent::Opens("sldId", tag) => presentation.slides.extend(relation_id(tag)),
            PartEvent::Opens("sldSz", tag) => {
                let length = |name: &str| attribute(tag, name).and_then(|length| length.parse().ok());
                presentation.extent =
                    length("cx").zip(length("cy")).map(|(width, height)| SlideExtent { width, height });
            }
            _ => {}
        })?;
        if is_presentation { Ok(presentation) } else { Err(damaged()) }
    }
}

struct SlideWriter<'a> {
    package: Package<'a>,
    draft: TextDraft,
    /// Footers that were already written: each slide repeats them.
    footers: HashSet<String>,
    /// What is painted by each layout that was looked at, and its master.
    layouts: HashMap<String, SlideGround>,
}

impl SlideWriter<'_> {
    fn slide(&mut self, number: u32, part: &str, extent: Option<SlideExtent>) -> Result<(), Unreadable> {
        let Some(xml) = self.package.part(part)? else { return Ok(()) };
        let mut slide = Slide::read(&xml, extent, None)?;
        let relations = self.package.relations(part)?;
        // What is behind a letter may come after it: only slides with white ones are read once more.
        if let Some(extent) = extent.filter(|_| slide.has_white) {
            let mut ground = self.layout(&relations, extent)?;
            ground.add(&slide.painting);
            slide = Slide::read(&xml, Some(extent), Some(&ground))?;
        }
        drop(xml);
        for text in &slide.hidden {
            self.draft.hide(text);
        }
        if slide.is_hidden {
            self.draft.hide(&slide.title);
            for content in self.with_diagrams(slide.contents, &relations)? {
                self.draft.hide(&content.1);
            }
        } else {
            self.draft.page(number);
            let contents = self.with_diagrams(slide.contents, &relations)?;
            if !slide.title.trim().is_empty() {
                self.draft.heading(1, &slide.title);
            } else if !contents.is_empty() {
                self.draft.heading(1, &format!("Slide {number}"));
            }
            for (kind, text) in contents {
                if kind != BlockKind::Boilerplate || self.footers.insert(text.clone()) {
                    self.draft.block(kind, &text);
                }
            }
        }
        self.notes(&slide.title, slide.is_hidden, &relations)
    }

    /// Returns what the layout of a slide paints, and its master.
    fn layout(&mut self, relations: &PartRelations, extent: SlideExtent) -> Result<SlideGround, Unreadable> {
        let Some(layout) = relations.of_kind("slideLayout") else { return Ok(SlideGround::new(extent)) };
        if let Some(known) = self.layouts.get(layout) {
            return Ok(known.clone());
        }
        let mut ground = SlideGround::new(extent);
        let master = self.package.relations(layout)?.of_kind("slideMaster").map(str::to_owned);
        for part in master.iter().map(String::as_str).chain([layout]) {
            if let Some(xml) = self.package.part(part)? {
                ground.add(&Slide::read(&xml, None, None)?.painting);
            }
        }
        self.layouts.insert(layout.to_owned(), ground.clone());
        Ok(ground)
    }

    fn notes(&mut self, title: &str, is_hidden: bool, relations: &PartRelations) -> Result<(), Unreadable> {
        let Some(part) = relations.of_kind("notesSlide") else { return Ok(()) };
        let Some(xml) = self.package.part(part)? else { return Ok(()) };
        let notes = Slide::read_notes(&xml)?;
        if is_hidden {
            notes.iter().for_each(|(_, text)| self.draft.hide(text));
            return Ok(());
        }
        let mut notes = notes.into_iter().filter(|(_, text)| !text.trim().is_empty()).peekable();
        if notes.peek().is_some() {
            // Without a heading for the slide itself the notes would be under that of the slide before.
            self.draft.heading(if title.trim().is_empty() { 1 } else { 2 }, NOTES);
        }
        for (kind, text) in notes {
            self.draft.block(kind, &text);
        }
        Ok(())
    }

    /// Returns the contents of a slide with the texts of its diagrams, which are in parts of their own.
    fn with_diagrams(
        &mut self,
        contents: Vec<Content>,
        relations: &PartRelations,
    ) -> Result<Vec<(BlockKind, String)>, Unreadable> {
        let mut texts = Vec::with_capacity(contents.len());
        for content in contents {
            match content {
                Content::Block(kind, text) if !text.trim().is_empty() => texts.push((kind, text)),
                Content::Block(..) => {}
                Content::Diagram(id) => {
                    let Some(data) = relations.get(&id).filter(|relation| relation.kind == "diagramData") else {
                        continue;
                    };
                    if let Some(xml) = self.package.part(&data.target)? {
                        let points = slide::points_of_diagram(&xml)?;
                        texts.extend(points.into_iter().map(|point| (BlockKind::ListItem, point)));
                    }
                }
            }
        }
        Ok(texts)
    }
}

#[cfg(test)]
mod tests;
