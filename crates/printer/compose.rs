//! The means by which sections are written: headings, paragraphs, labelled texts, small tables and notes, in the words of the project.

use std::borrow::Cow;
use std::num::NonZeroU16;

use exports::text::{clean, clean_line, direction_of};
use exports::words::{Direction, Label, TermSet, Words};

use crate::flow::{AnchorIndex, AreaColor, PageFlow, SetCell, TEXT_WIDTH};
use crate::structure::{ElementIndex, ElementRole, ROOT};
use crate::typeset::{SpanStyle, StyledText, TextColor};

pub(crate) const fn style(size: f32, bold: bool, color: TextColor) -> SpanStyle {
    SpanStyle { size, bold, color }
}

pub(crate) const BODY: SpanStyle = style(10.0, false, TextColor::Body);
pub(crate) const STRONG: SpanStyle = style(10.0, true, TextColor::Body);
pub(crate) const SMALL: SpanStyle = style(8.5, false, TextColor::Body);
pub(crate) const SMALL_MUTED: SpanStyle = style(8.5, false, TextColor::Muted);
const SMALL_LABEL: SpanStyle = style(8.5, true, TextColor::Muted);
const NOTE_REFERENCE: SpanStyle = style(7.5, false, TextColor::Accent);
const SECTION_TITLE: SpanStyle = style(18.0, true, TextColor::Accent);
const GROUP_TITLE: SpanStyle = style(13.5, true, TextColor::Accent);
const ITEM_TITLE: SpanStyle = style(11.5, true, TextColor::Body);
const ITEM_CODE: SpanStyle = style(11.5, true, TextColor::Accent);

/// Of the column of labels beside texts.
const LABEL_WIDTH: f32 = 96.0;
const LABEL_GAP: f32 = 10.0;
/// What a heading wants below itself on its page: a row of facts, or some lines.
const BELOW_HEADING: f32 = 84.0;
/// Of characters of what is shown in contents, bookmarks, and cells of small tables.
pub(crate) const MAX_TITLE_LENGTH: usize = 110;
const MAX_CELL_LENGTH: usize = 90;

/// What a cell has where there is nothing to say: an empty one would be missing from the structure.
const NOTHING: &str = "–";

pub(crate) struct Composer {
    pub(crate) flow: PageFlow,
    pub(crate) words: Words,
    /// Numbers of notes run through the whole file.
    pub(crate) notes: usize,
}

impl Composer {
    /// A text as it can be shown: harmless, with a glyph for every character, and with its numbers in order.
    pub(crate) fn shown(&self, text: &str) -> String {
        isolate_numbers(&self.flow.typesetter.fonts.covered(&clean(text)))
    }

    pub(crate) fn shown_line(&self, text: &str) -> String {
        isolate_numbers(&self.flow.typesetter.fonts.covered(&clean_line(text)))
    }

    /// The beginning of a text, in one line.
    pub(crate) fn shortened(&self, text: &str, longest: usize) -> String {
        let line = self.flow.typesetter.fonts.covered(&clean_line(text));
        let line = match line.char_indices().nth(longest) {
            Some((end, _)) => format!("{}…", line.get(..end).unwrap_or_default().trim_end()),
            None => line,
        };
        // Cut marks of direction would reorder what follows.
        clean(&line).into_owned()
    }

    /// Where a text is read from: its own direction, or that of the page where it has none.
    pub(crate) fn direction_of(&self, text: &str) -> Direction {
        direction_of(text).unwrap_or(self.flow.direction)
    }

    pub(crate) fn label(&self, label: Label) -> &'static str {
        self.words.label(label)
    }

    /// A paragraph in the direction of its own text, cleaned already.
    fn own(&self, text: &str, style: SpanStyle) -> StyledText {
        let mut paragraph = StyledText::new(self.direction_of(text));
        paragraph.push(text, style);
        paragraph
    }

    /// A paragraph in the direction of the page.
    pub(crate) fn in_page(&self) -> StyledText {
        StyledText::new(self.flow.direction)
    }

    pub(crate) fn section(&mut self, label: Label, anchor: AnchorIndex) -> ElementIndex {
        let section = self.flow.tree.add(ROOT, ElementRole::Section);
        self.flow.gap(26.0);
        // The first item below it stays with it.
        self.flow.reserve(2.0 * BELOW_HEADING);
        self.flow.anchor(anchor);
        let title = self.label(label);
        let mut paragraph = self.in_page();
        paragraph.push(title, SECTION_TITLE);
        let heading = self.flow.tree.add(section, heading(2, title));
        self.flow.paragraph(heading, &paragraph, 0.0, TEXT_WIDTH);
        self.flow.area(0.0, TEXT_WIDTH, 1.2, AreaColor::Accent);
        self.flow.gap(8.0);
        section
    }

    /// A heading of fixed words within a section.
    pub(crate) fn group(&mut self, parent: ElementIndex, title: &str, level: u16) {
        self.flow.gap(12.0);
        self.flow.reserve(BELOW_HEADING);
        let mut paragraph = self.in_page();
        paragraph.push(title, GROUP_TITLE);
        let heading = self.flow.tree.add(parent, heading(level, title));
        self.flow.paragraph(heading, &paragraph, 0.0, TEXT_WIDTH);
        self.flow.gap(2.0);
    }

    /// The heading of an item: its code and, where it has one, its title.
    pub(crate) fn item(
        &mut self,
        parent: ElementIndex,
        level: u16,
        anchor: AnchorIndex,
        (code, title): (&str, &str),
    ) -> ElementIndex {
        let section = self.flow.tree.add(parent, ElementRole::Section);
        self.flow.gap(16.0);
        self.flow.reserve(BELOW_HEADING);
        self.flow.anchor(anchor);
        let (code, title) = (self.shown_line(code), self.shown_line(title));
        let mut paragraph = self.in_page();
        paragraph.push_code(&code, ITEM_CODE);
        if !title.is_empty() {
            paragraph.push("   ", ITEM_TITLE);
            paragraph.push_isolated(&title, ITEM_TITLE);
        }
        let heading =
            self.flow.tree.add(section, heading(level, &self.shortened(&format!("{code} {title}"), MAX_TITLE_LENGTH)));
        self.flow.paragraph(heading, &paragraph, 0.0, TEXT_WIDTH);
        self.flow.gap(3.0);
        section
    }

    /// A text with the numbers of its notes.
    pub(crate) fn text(&mut self, parent: ElementIndex, text: &str, notes: std::ops::Range<usize>) {
        let shown = self.shown(text.trim());
        if shown.is_empty() && notes.is_empty() {
            return;
        }
        let mut paragraph = self.own(&shown, BODY);
        if !notes.is_empty() {
            let numbers: Vec<String> = notes.map(|number| number.to_string()).collect();
            paragraph.push(" ", NOTE_REFERENCE);
            paragraph.push_code(&format!("[{}]", numbers.join(", ")), NOTE_REFERENCE);
        }
        let element = self.flow.tree.add(parent, ElementRole::Paragraph);
        self.flow.paragraph(element, &paragraph, 0.0, TEXT_WIDTH);
        self.flow.gap(5.0);
    }

    /// A list whose items have labels in a column of their own.
    pub(crate) fn list(&mut self, parent: ElementIndex) -> ElementIndex {
        self.flow.tree.add(parent, ElementRole::List)
    }

    /// An item of such a list: a label, and whatever `body` writes beside it.
    pub(crate) fn labelled(
        &mut self,
        list: ElementIndex,
        label: &StyledText,
        (start, width): (f32, f32),
        body: impl FnOnce(&mut Self, ElementIndex),
    ) {
        let item = self.flow.tree.add(list, ElementRole::ListItem);
        let owner = self.flow.tree.add(item, ElementRole::ListLabel);
        let list_body = self.flow.tree.add(item, ElementRole::ListBody);
        self.beside(owner, label, (start, width), |composer| body(composer, list_body));
        self.flow.gap(2.5);
    }

    pub(crate) fn beside(
        &mut self,
        owner: ElementIndex,
        label: &StyledText,
        (start, width): (f32, f32),
        body: impl FnOnce(&mut Self),
    ) {
        let text = self.flow.typesetter.set(label, width);
        let begun = self.flow.begin_beside(&SetCell { owner, text, start, width });
        body(self);
        self.flow.end_beside(begun);
    }

    /// Fixed words beside a text.
    pub(crate) fn fact(&mut self, list: ElementIndex, label: Label, body: impl FnOnce(&mut Self, ElementIndex)) {
        let mut words = self.in_page();
        words.push(self.label(label), SMALL_LABEL);
        self.labelled(list, &words, (0.0, LABEL_WIDTH), body);
    }

    /// Fixed words beside a text; nothing where there is no text.
    pub(crate) fn fact_text(&mut self, list: ElementIndex, label: Label, text: Option<&str>) {
        let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return };
        let text = self.shown(text);
        self.fact(list, label, |composer, body| composer.body_text(body, &text, SMALL));
    }

    /// A paragraph, cleaned already, beside a label; it stands at the side of the label even if it is read from the other one.
    pub(crate) fn body_text(&mut self, parent: ElementIndex, text: &str, style: SpanStyle) {
        let mut paragraph = self.own(text, style);
        paragraph.side = self.flow.page_start();
        self.body(parent, &paragraph);
    }

    pub(crate) fn body(&mut self, parent: ElementIndex, paragraph: &StyledText) {
        let element = self.flow.tree.add(parent, ElementRole::Paragraph);
        let start = LABEL_WIDTH + LABEL_GAP;
        self.flow.paragraph(element, paragraph, start, TEXT_WIDTH - start);
    }

    /// Where texts beside labels begin, and how wide they are.
    pub(crate) fn body_box() -> (f32, f32) {
        (LABEL_WIDTH + LABEL_GAP, TEXT_WIDTH - LABEL_WIDTH - LABEL_GAP)
    }

    /// How a word of the interface is shown.
    pub(crate) fn term(&self, set: TermSet, word: &str) -> String {
        self.shortened(self.words.term(set, word), MAX_CELL_LENGTH)
    }

    /// A small table of short texts; the first row names the columns, and `named_rows` says whether the first column names the rows.
    pub(crate) fn table(&mut self, parent: ElementIndex, rows: &[Vec<String>], named_rows: bool) {
        let columns = rows.first().map_or(0, Vec::len);
        if columns == 0 {
            return;
        }
        let table = self.flow.tree.add(parent, ElementRole::Table);
        #[expect(clippy::cast_precision_loss, reason = "a handful of columns")]
        let width = TEXT_WIDTH / columns as f32;
        self.flow.gap(2.0);
        for (index, row) in rows.iter().enumerate() {
            let is_head = index == 0;
            let line = self.flow.tree.add(table, ElementRole::TableRow);
            let mut cells = Vec::with_capacity(columns);
            let mut start = 0.0;
            for (column, text) in row.iter().enumerate() {
                let (role, look) = match (is_head, column) {
                    (true, _) => (ElementRole::ColumnHeader, SMALL_LABEL),
                    (false, 0) if named_rows => (ElementRole::RowHeader, SMALL),
                    (false, _) => (ElementRole::TableCell, SMALL),
                };
                let owner = self.flow.tree.add(line, role);
                let shown: Cow<'_, str> = if text.is_empty() { NOTHING.into() } else { text.into() };
                let mut paragraph = self.in_page();
                paragraph.push_isolated(&shown, look);
                let inner = width - 2.0 * CELL_PADDING;
                let text = self.flow.typesetter.set(&paragraph, inner);
                cells.push(SetCell { owner, text, start: start + CELL_PADDING, width: inner });
                start += width;
            }
            if is_head {
                // The first row of figures stays with the names of its columns.
                self.flow.reserve(TABLE_HEAD);
            }
            self.flow.row(&cells, if is_head { 3.0 } else { 2.5 }, is_head.then_some(AreaColor::Shade));
            self.flow.area(0.0, TEXT_WIDTH, 0.5, AreaColor::Rule);
        }
        self.flow.gap(7.0);
    }
}

/// In a text from right to left, `2026-11-22` would be read `22-11-2026` and `1.2-beta` `beta-1.2`: words with digits and separators are
/// kept from left to right. Brackets and closing punctuation stay outside, so that they follow the sentence.
pub(crate) fn isolate_numbers(text: &str) -> String {
    if !text
        .chars()
        .any(|character| matches!(character, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'))
    {
        return text.to_owned();
    }
    let mut isolated = String::with_capacity(text.len() + 16);
    for piece in text.split_inclusive([' ', '\n']) {
        let inner = piece.trim_matches(|character: char| !character.is_ascii_alphanumeric());
        let is_number = inner.chars().all(|character| character.is_ascii() || character == '–')
            && inner.contains(|character: char| character.is_ascii_digit())
            && inner.contains(|character: char| character.is_ascii_punctuation() || character == '–');
        match piece.split_once(inner).filter(|_| is_number) {
            Some((before, after)) => isolated.extend([before, "\u{2066}", inner, "\u{2069}", after]),
            None => isolated.push_str(piece),
        }
    }
    isolated
}

const CELL_PADDING: f32 = 6.0;
const TABLE_HEAD: f32 = 44.0;

pub(crate) fn heading(level: u16, title: &str) -> ElementRole {
    // An empty title would be none.
    let title = if title.is_empty() { NOTHING } else { title };
    ElementRole::Heading(NonZeroU16::new(level).unwrap_or(NonZeroU16::MIN), title.to_owned())
}
