//! Sets the results of a project as a PDF: tagged for screen readers (PDF/UA-1), fit for archives (PDF/A-2a), in the direction of the
//! project's language.
//!
//! A [`Specification`] goes in, the bytes of a file come out; the same specification gives the same bytes. Nothing in a text becomes a
//! link, an action or a reference to another file: the only links are those of the contents.

mod compose;
mod draw;
mod findings;
mod flow;
mod fonts;
mod front;
mod items;
mod plan;
mod structure;
mod typeset;

use compose::{Composer, MAX_TITLE_LENGTH};
use draw::{Bookmark, FileFacts};
use exports::specification::Specification;
use exports::words::{Label, Words};
use flow::PageFlow;
use fonts::EmbeddedFonts;
use plan::{FilePlan, PlannedSection};
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
    let mut composer = Composer { flow, words, notes: 0 };
    let plan = FilePlan::of(specification);
    let codes = items::requirement_codes(specification);

    composer.title_block(specification);
    let pending = composer.contents(&plan);
    composer.flow.break_page();
    composer.summary(&plan.summary, &specification.summary);
    composer.requirements(&plan.requirements, &specification.requirements, &codes);
    composer.stories(&plan.stories, &specification.user_stories, &codes);
    composer.risks(&plan.risks, &specification.risks);
    composer.questions(&plan.questions, &specification.open_questions);
    composer.actions(&plan.actions, &specification.action_items);
    composer.decisions(&plan.decisions, &specification.decisions);
    composer.number_pages(pending, specification);

    let bookmarks: Vec<Bookmark> = plan.sections().into_iter().map(|section| bookmark(&composer, section)).collect();
    let facts = FileFacts {
        id: composer.shortened(&specification.project.id, 80),
        title: title(&composer, specification),
        language: words.language().tag().to_owned(),
        as_of: composer.shortened(&specification.as_of, 40),
    };
    draw::write(composer.flow, &bookmarks, &facts).map_err(|error| PrintFault::File(format!("{error:?}")))
}

fn bookmark(composer: &Composer, section: &PlannedSection<'_>) -> Bookmark {
    let items = section.items.iter().map(|item| Bookmark {
        title: composer.shortened(&format!("{} {}", item.code, item.title), MAX_TITLE_LENGTH),
        anchor: item.anchor,
        children: Vec::new(),
    });
    Bookmark { title: composer.label(section.label).to_owned(), anchor: section.anchor, children: items.collect() }
}

fn title(composer: &Composer, specification: &Specification) -> String {
    let (name, kind) =
        (composer.shortened(&specification.project.name, MAX_TITLE_LENGTH), composer.label(Label::Specification));
    if name.is_empty() { kind.to_owned() } else { format!("{name} – {kind}") }
}
