//! What stands before the chapters: the cover, and the contents.

use exports::outline::cover;
use exports::specification::Specification;
use exports::words::Label;

use crate::compose::{BODY, Composer, MAX_TITLE_LENGTH, SMALL, STRONG, heading, isolate_numbers, style};
use crate::flow::{AnchorIndex, AreaColor, LineOwner, PAGE_HEIGHT, PagePlace, TEXT_WIDTH};
use crate::plan::{FilePlan, PlannedTitle};
use crate::structure::{ElementIndex, ElementRole, ROOT};
use crate::typeset::{SpanStyle, TextColor};

const TITLE: SpanStyle = style(26.0, true, TextColor::Accent);
const SMALLER_TITLE: SpanStyle = style(14.0, true, TextColor::Accent);
/// Of characters: longer names of projects would fill the page.
const MAX_BIG_TITLE_LENGTH: usize = 120;
const SUBTITLE: SpanStyle = style(13.0, false, TextColor::Muted);
const CONTENTS_TITLE: SpanStyle = style(14.0, true, TextColor::Accent);
const RUNNING: SpanStyle = style(8.0, false, TextColor::Muted);

/// Of the column of page numbers in the contents.
const NUMBER_WIDTH: f32 = 40.0;

/// A page number of the contents that is known only when all else is set.
pub(crate) struct PendingNumber {
    place: PagePlace,
    element: ElementIndex,
    target: AnchorIndex,
    look: SpanStyle,
}

impl Composer {
    /// The name of the project, what this is, of which day, by whom, and what is in it.
    pub(crate) fn title_block(&mut self, specification: &Specification) {
        let project = &specification.project;
        let section = self.flow.tree.add(ROOT, ElementRole::Section);
        let (words, name) = (self.label(Label::Specification), self.shown_line(&project.name));
        let name = if name.is_empty() { words.to_owned() } else { name };
        let mut title = self.in_page();
        let length = name.chars().count();
        title.push_isolated(&name, if length > MAX_BIG_TITLE_LENGTH { SMALLER_TITLE } else { TITLE });
        let level = heading(1, &self.shortened(&name, MAX_TITLE_LENGTH));
        let element = self.flow.tree.add(section, level);
        self.flow.paragraph(element, &title, 0.0, TEXT_WIDTH);
        let mut subtitle = self.in_page();
        subtitle.push(words, SUBTITLE);
        let element = self.flow.tree.add(section, ElementRole::Paragraph);
        self.flow.paragraph(element, &subtitle, 0.0, TEXT_WIDTH);
        self.flow.gap(4.0);
        self.flow.area(0.0, TEXT_WIDTH, 2.0, AreaColor::Accent);
        self.flow.gap(10.0);
        for (label, value) in cover(specification, self.words) {
            let mut line = self.in_page();
            line.push(self.label(label), STRONG);
            line.push(": ", STRONG);
            line.push_isolated(&self.shown_line(&value), BODY);
            let element = self.flow.tree.add(section, ElementRole::Paragraph);
            self.flow.paragraph(element, &line, 0.0, TEXT_WIDTH);
            self.flow.gap(2.0);
        }
        self.flow.gap(8.0);
        self.text(section, &project.description);
    }

    /// The contents without their page numbers: chapters and groups, which fit on a page however many items there are.
    pub(crate) fn contents(&mut self, plan: &FilePlan) -> Vec<PendingNumber> {
        let section = self.flow.tree.add(ROOT, ElementRole::Section);
        self.flow.gap(14.0);
        self.flow.reserve(90.0);
        let words = self.label(Label::Contents);
        let mut title = self.in_page();
        title.push(words, CONTENTS_TITLE);
        let element = self.flow.tree.add(section, heading(2, words));
        self.flow.paragraph(element, &title, 0.0, TEXT_WIDTH);
        self.flow.gap(4.0);
        let contents = self.flow.tree.add(section, ElementRole::Contents);
        let mut pending = Vec::new();
        for chapter in &plan.chapters {
            self.flow.gap(3.0);
            pending.push(self.contents_entry(contents, &chapter.title, (0.0, STRONG)));
            for group in &chapter.groups {
                pending.push(self.contents_entry(contents, group, (14.0, SMALL)));
            }
        }
        pending
    }

    fn contents_entry(
        &mut self,
        contents: ElementIndex,
        &PlannedTitle { title, anchor: target }: &PlannedTitle,
        (start, look): (f32, SpanStyle),
    ) -> PendingNumber {
        let item = self.flow.tree.add(contents, ElementRole::ContentsItem);
        let link = self.flow.tree.add(item, ElementRole::Link);
        let mut entry = self.in_page();
        entry.push_isolated(&isolate_numbers(title), look);
        let width = TEXT_WIDTH - start - NUMBER_WIDTH;
        let set = self.flow.typesetter.set(&entry, width);
        // An entry stays on one page, so that the whole of it is one link.
        self.flow.reserve(set.height());
        let begun = self.flow.here();
        self.flow.lines(link, &set, start, width);
        let place =
            PagePlace { page: begun.page, y: self.flow.here().y - set.lines.last().map_or(0.0, |line| line.height) };
        self.flow.link(begun, link, target, title.to_owned());
        self.flow.area(start, TEXT_WIDTH - start, 0.3, AreaColor::Rule);
        self.flow.gap(1.5);
        PendingNumber { place, element: link, target, look }
    }

    /// Writes the page numbers into the contents.
    pub(crate) fn number_contents(&mut self, pending: Vec<PendingNumber>) {
        for number in pending {
            let page = self.flow.anchors.get(number.target).map_or(0, |place| place.page);
            let mut text = self.in_page();
            text.push_code(&(page + 1).to_string(), number.look);
            text.side = self.flow.page_end();
            let column = (TEXT_WIDTH - NUMBER_WIDTH, NUMBER_WIDTH);
            self.flow.stamp(number.place.page, LineOwner::Element(number.element), &text, column, number.place.y);
        }
    }

    /// Writes headers and footers onto all pages.
    pub(crate) fn number_pages(&mut self, specification: &Specification) {
        let name = self.shortened(&specification.project.name, 60);
        let (words, day) = (self.label(Label::Specification), self.words.day(&specification.as_of).unwrap_or_default());
        let half = TEXT_WIDTH / 2.0;
        let pages = self.flow.pages.len();
        for page in 0..pages {
            if page > 0 {
                let mut head = self.in_page();
                head.push_isolated(&name, RUNNING);
                self.flow.stamp(page, LineOwner::Header, &head, (0.0, half), HEADER);
                let mut kind = self.in_page();
                kind.push(words, RUNNING);
                kind.side = self.flow.page_end();
                self.flow.stamp(page, LineOwner::Header, &kind, (half, half), HEADER);
            }
            let mut date = self.in_page();
            date.push_isolated(&day, RUNNING);
            self.flow.stamp(page, LineOwner::Footer, &date, (0.0, half), FOOTER);
            let mut number = self.in_page();
            number.push_code(&format!("{} / {pages}", page + 1), RUNNING);
            number.side = self.flow.page_end();
            self.flow.stamp(page, LineOwner::Footer, &number, (half, half), FOOTER);
        }
    }
}

const HEADER: f32 = 40.0;
const FOOTER: f32 = PAGE_HEIGHT - 46.0;
