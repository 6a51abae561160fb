//! What stands before the sections: the title of the file with its figures, and the contents.

use exports::specification::Specification;
use exports::words::{Label, TermSet};

use crate::compose::{BODY, Composer, MAX_TITLE_LENGTH, SMALL, SMALL_MUTED, STRONG, heading, isolate_numbers, style};
use crate::flow::{AnchorIndex, AreaColor, LineOwner, PAGE_HEIGHT, PagePlace, TEXT_WIDTH};
use crate::plan::{FilePlan, PlannedSection};
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
/// Up to so many items, the contents name each of them; beyond, ranges of their codes.
const MAX_LISTED: usize = 150;
/// About so many ranges there are.
const WANTED_RANGES: usize = 60;

/// A page number of the contents that is known only when all else is set.
pub(crate) struct PendingNumber {
    place: PagePlace,
    element: ElementIndex,
    target: AnchorIndex,
    look: SpanStyle,
}

impl Composer {
    /// The name of the project, what this is, and how much there is of it.
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
        let as_of = self.moment(&specification.as_of);
        if !as_of.is_empty() {
            let mut line = self.in_page();
            line.push(self.label(Label::AsOf), SMALL_MUTED);
            line.push(": ", SMALL_MUTED);
            line.push_code(&as_of, SMALL);
            let element = self.flow.tree.add(section, ElementRole::Paragraph);
            self.flow.paragraph(element, &line, 0.0, TEXT_WIDTH);
            self.flow.gap(6.0);
        }
        self.text(section, &project.description, 0..0);
        self.figures(section, specification);
    }

    /// How many there are of each kind, and how many of them stand where.
    fn figures(&mut self, section: ElementIndex, specification: &Specification) {
        let kinds = [
            (Label::Requirements, specification.requirements.len()),
            (Label::UserStories, specification.user_stories.len()),
            (Label::Risks, specification.risks.len()),
            (Label::OpenQuestions, specification.open_questions.len()),
            (Label::ActionItems, specification.action_items.len()),
            (Label::Decisions, specification.decisions.len()),
        ];
        let names = kinds.iter().map(|(label, _)| self.label(*label).to_owned()).collect();
        let counts = kinds.iter().map(|(_, count)| count.to_string()).collect();
        self.table(section, &[names, counts], false);
        let requirements: Vec<&str> =
            specification.requirements.iter().map(|item| item.workflow_status.as_str()).collect();
        let stories: Vec<&str> = specification.user_stories.iter().map(|item| item.workflow_status.as_str()).collect();
        let head = [Label::Status, Label::Requirements, Label::UserStories].map(|label| self.label(label).to_owned());
        let mut rows = vec![head.to_vec()];
        for (status, _) in TermSet::WorkflowStatus.rows() {
            let count = |of: &[&str]| of.iter().filter(|found| *found == status).count().to_string();
            rows.push(vec![self.term(TermSet::WorkflowStatus, status), count(&requirements), count(&stories)]);
        }
        self.table(section, &rows, true);
    }

    /// The contents without their page numbers.
    pub(crate) fn contents(&mut self, plan: &FilePlan<'_>) -> Vec<PendingNumber> {
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
        let items: usize = plan.sections().iter().map(|section| section.items.len()).sum();
        let mut pending = Vec::new();
        for section in plan.sections() {
            self.flow.gap(3.0);
            let title = self.label(section.label);
            pending.push(self.contents_entry(contents, "", title, section.anchor, (0.0, STRONG)));
            if items <= MAX_LISTED {
                for item in &section.items {
                    let (code, title) = (self.shortened(item.code, 40), self.shortened(item.title, MAX_TITLE_LENGTH));
                    pending.push(self.contents_entry(contents, &code, &title, item.anchor, (14.0, SMALL)));
                }
            } else {
                self.ranges(contents, section, items, &mut pending);
            }
        }
        pending
    }

    /// `REQ-001 – REQ-050`: an entry for some items together.
    fn ranges(
        &mut self,
        contents: ElementIndex,
        section: &PlannedSection<'_>,
        items: usize,
        pending: &mut Vec<PendingNumber>,
    ) {
        let stride = items.div_ceil(WANTED_RANGES).next_multiple_of(10);
        if section.items.len() <= stride {
            return;
        }
        for range in section.items.chunks(stride) {
            let (Some(first), Some(last)) = (range.first(), range.last()) else { continue };
            let codes = format!("{} – {}", self.shortened(first.code, 40), self.shortened(last.code, 40));
            pending.push(self.contents_entry(contents, &codes, "", first.anchor, (14.0, SMALL)));
        }
    }

    fn contents_entry(
        &mut self,
        contents: ElementIndex,
        code: &str,
        title: &str,
        target: AnchorIndex,
        (start, look): (f32, SpanStyle),
    ) -> PendingNumber {
        let item = self.flow.tree.add(contents, ElementRole::ContentsItem);
        let link = self.flow.tree.add(item, ElementRole::Link);
        let mut entry = self.in_page();
        if !code.is_empty() {
            entry.push_code(code, SpanStyle { color: TextColor::Accent, ..look });
            entry.push("  ", look);
        }
        if !title.is_empty() {
            entry.push_isolated(&isolate_numbers(title), look);
        }
        let width = TEXT_WIDTH - start - NUMBER_WIDTH;
        let set = self.flow.typesetter.set(&entry, width);
        // An entry stays on one page, so that the whole of it is one link.
        self.flow.reserve(set.height());
        let begun = self.flow.here();
        self.flow.lines(link, &set, start, width);
        let place =
            PagePlace { page: begun.page, y: self.flow.here().y - set.lines.last().map_or(0.0, |line| line.height) };
        let said = self.shortened(&format!("{code} {title}"), MAX_TITLE_LENGTH);
        // A link without a name would be none for a screen reader.
        let said = if said.is_empty() { self.label(Label::Item).to_owned() } else { said };
        self.flow.link(begun, link, target, said);
        self.flow.area(start, TEXT_WIDTH - start, 0.3, AreaColor::Rule);
        self.flow.gap(1.5);
        PendingNumber { place, element: link, target, look }
    }

    /// Writes the page numbers into the contents, and headers and footers onto all pages.
    pub(crate) fn number_pages(&mut self, pending: Vec<PendingNumber>, specification: &Specification) {
        for number in pending {
            let page = self.flow.anchors.get(number.target).map_or(0, |place| place.page);
            let mut text = self.in_page();
            text.push_code(&(page + 1).to_string(), number.look);
            text.side = self.flow.page_end();
            let column = (TEXT_WIDTH - NUMBER_WIDTH, NUMBER_WIDTH);
            self.flow.stamp(number.place.page, LineOwner::Element(number.element), &text, column, number.place.y);
        }
        let name = self.shortened(&specification.project.name, 60);
        let (words, as_of) = (self.label(Label::Specification), self.moment(&specification.as_of));
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
            date.push_code(&as_of, RUNNING);
            self.flow.stamp(page, LineOwner::Footer, &date, (0.0, half), FOOTER);
            let mut number = self.in_page();
            number.push_code(&format!("{} / {pages}", page + 1), RUNNING);
            number.side = self.flow.page_end();
            self.flow.stamp(page, LineOwner::Footer, &number, (half, half), FOOTER);
        }
    }

    /// `2026-11-22 14:05 UTC` of an RFC 3339 time in UTC; what is none is shown as it is.
    pub(crate) fn moment(&self, time: &str) -> String {
        let time = self.shortened(time, 40);
        let plain = time.is_ascii() && time.ends_with('Z');
        match (time.get(..10), time.get(10..11), time.get(11..16)) {
            (Some(day), Some("T"), Some(minute)) if plain => format!("{day} {minute} UTC"),
            _ => time,
        }
    }

    /// Fixed words where a section has nothing.
    pub(crate) fn nothing(&mut self, section: ElementIndex) {
        let mut words = self.in_page();
        words.push(self.label(Label::None), SpanStyle { color: TextColor::Muted, ..BODY });
        let element = self.flow.tree.add(section, ElementRole::Paragraph);
        self.flow.paragraph(element, &words, 0.0, TEXT_WIDTH);
    }
}

const HEADER: f32 = 40.0;
const FOOTER: f32 = PAGE_HEIGHT - 46.0;
