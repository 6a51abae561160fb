//! Sets the results of a project as a PDF: tagged for screen readers (PDF/UA-1), fit for archives (PDF/A-2a), in the direction of the
//! project's language.
//!
//! A [`Specification`] goes in, the bytes of a file come out; the same specification gives the same bytes. Nothing in a text becomes a
//! link, an action or a reference to another file: the only links are those of the contents.

mod compose;
mod draw;
mod entries;
mod flow;
mod fonts;
mod front;
mod plan;
mod structure;
mod typeset;

use compose::{Composer, MAX_TITLE_LENGTH};
use draw::{Bookmark, FileFacts};
use exports::outline::{EntryView, chapters, has_summary};
use exports::references::RequirementCodes;
use exports::specification::Specification;
use exports::words::{Label, Words};
use flow::PageFlow;
use fonts::EmbeddedFonts;
use plan::{FilePlan, PlannedChapter};
use typeset::Typesetter;

/// Why there is no file.
#[derive(Debug, thiserror::Error)]
pub enum PrintFault {
    #[error("an embedded font cannot be read")]
    Font,
    /// What the specification asks for cannot be said in a PDF/A, or is too much for one.
    #[error("the file cannot be written: {0}")]
    File(String),
}

/// The bytes of the PDF.
pub fn print(specification: &Specification) -> Result<Vec<u8>, PrintFault> {
    let words = Words::of(&specification.project.language);
    let fonts = EmbeddedFonts::load().ok_or(PrintFault::Font)?;
    let flow = PageFlow::new(Typesetter::new(fonts), words.direction());
    let mut composer = Composer { flow, words };
    let chapters = chapters(specification, words);
    let plan = FilePlan::of(specification, &chapters, words);

    composer.title_block(specification);
    let mut planned = plan.chapters.iter().peekable();
    if !plan.chapters.is_empty() {
        let pending = composer.contents(&plan);
        composer.flow.break_page();
        if let Some(summary) = planned.next_if(|_| has_summary(specification)) {
            composer.summary(summary.title.anchor, specification);
        }
        let codes = RequirementCodes::of(specification);
        let mut view = EntryView::new(specification, words, &codes);
        for (chapter, planned) in chapters.iter().zip(planned) {
            composer.entries(chapter, planned, &mut view);
        }
        composer.number_contents(pending);
    }
    composer.number_pages(specification);

    let bookmarks: Vec<Bookmark> = plan.chapters.iter().map(bookmark).collect();
    let facts = FileFacts {
        id: composer.shortened(&specification.project.id, 80),
        title: title(&composer, specification),
        language: words.language().tag().to_owned(),
        as_of: composer.shortened(&specification.as_of, 40),
    };
    draw::write(composer.flow, &bookmarks, &facts).map_err(|error| PrintFault::File(format!("{error:?}")))
}

fn bookmark(chapter: &PlannedChapter) -> Bookmark {
    let groups = chapter.groups.iter().map(|group| Bookmark {
        title: group.title.to_owned(),
        anchor: group.anchor,
        children: Vec::new(),
    });
    Bookmark { title: chapter.title.title.to_owned(), anchor: chapter.title.anchor, children: groups.collect() }
}

fn title(composer: &Composer, specification: &Specification) -> String {
    let (name, kind) =
        (composer.shortened(&specification.project.name, MAX_TITLE_LENGTH), composer.label(Label::Specification));
    if name.is_empty() { kind.to_owned() } else { format!("{name} – {kind}") }
}
