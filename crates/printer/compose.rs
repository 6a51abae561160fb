//! The means by which sections are written: headings, paragraphs, labelled texts, small tables and notes, in the words of the project.

use std::num::NonZeroU16;

use exports::text::{clean, clean_line, direction_of};
use exports::words::{Direction, Label, Words};

use crate::flow::{AnchorIndex, AreaColor, PageFlow, SetLabel, TEXT_WIDTH};
use crate::structure::{ElementIndex, ElementRole, ROOT};
use crate::typeset::{SpanStyle, StyledText, TextColor};

pub(crate) const fn style(size: f32, bold: bool, color: TextColor) -> SpanStyle {
    SpanStyle { size, bold, color }
}

pub(crate) const BODY: SpanStyle = style(10.0, false, TextColor::Body);
pub(crate) const STRONG: SpanStyle = style(10.0, true, TextColor::Body);
pub(crate) const SMALL: SpanStyle = style(8.5, false, TextColor::Body);
pub(crate) const SMALL_MUTED: SpanStyle = style(8.5, false, TextColor::Muted);
pub(crate) const SMALL_LABEL: SpanStyle = style(8.5, true, TextColor::Muted);
const SECTION_TITLE: SpanStyle = style(18.0, true, TextColor::Accent);
const GROUP_TITLE: SpanStyle = style(13.5, true, TextColor::Accent);

/// What a heading wants below itself on its page: an entry of some lines.
pub(crate) const BELOW_HEADING: f32 = 84.0;
/// Of characters of what is shown in contents and bookmarks.
pub(crate) const MAX_TITLE_LENGTH: usize = 110;

/// What a heading says that has no text: an empty one would be missing from the structure.
const NOTHING: &str = "–";

pub(crate) struct Composer {
    pub(crate) flow: PageFlow,
    pub(crate) words: Words,
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

    pub(crate) fn chapter(&mut self, label: Label, anchor: AnchorIndex) -> ElementIndex {
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

    /// A heading of fixed words within a chapter.
    pub(crate) fn group(&mut self, parent: ElementIndex, title: &str, level: u16, anchor: Option<AnchorIndex>) {
        self.flow.gap(12.0);
        self.flow.reserve(1.5 * BELOW_HEADING);
        if let Some(anchor) = anchor {
            self.flow.anchor(anchor);
        }
        let mut paragraph = self.in_page();
        paragraph.push(title, GROUP_TITLE);
        let heading = self.flow.tree.add(parent, heading(level, title));
        self.flow.paragraph(heading, &paragraph, 0.0, TEXT_WIDTH);
        self.flow.gap(2.0);
    }

    /// A paragraph as wide as the page.
    pub(crate) fn text(&mut self, parent: ElementIndex, text: &str) {
        let shown = self.shown(text.trim());
        if shown.is_empty() {
            return;
        }
        let paragraph = self.own(&shown, BODY);
        let element = self.flow.tree.add(parent, ElementRole::Paragraph);
        self.flow.paragraph(element, &paragraph, 0.0, TEXT_WIDTH);
        self.flow.gap(5.0);
    }

    /// A paragraph, cleaned already, in a box; it stands at the side of the page where reading begins even if it is read from the other.
    pub(crate) fn boxed_text(&mut self, parent: ElementIndex, text: &str, look: SpanStyle, inner: (f32, f32)) {
        if text.is_empty() {
            return;
        }
        let mut paragraph = self.own(text, look);
        paragraph.side = self.flow.page_start();
        self.boxed(parent, &paragraph, inner);
    }

    pub(crate) fn boxed(&mut self, parent: ElementIndex, paragraph: &StyledText, (start, width): (f32, f32)) {
        let element = self.flow.tree.add(parent, ElementRole::Paragraph);
        self.flow.paragraph(element, paragraph, start, width);
    }

    /// Moves what `body` writes below the parent to the next page where it would be torn and fits on one.
    pub(crate) fn kept_together(&mut self, parent: ElementIndex, body: impl Fn(&mut Self)) {
        let begun = self.flow.mark(parent);
        body(self);
        if self.flow.is_torn(&begun) {
            self.flow.take_back(&begun);
            self.flow.break_page();
            body(self);
        }
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
        let begun = self.flow.begin_beside(&SetLabel { owner, text, start, width });
        body(self);
        self.flow.end_beside(begun);
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

pub(crate) fn heading(level: u16, title: &str) -> ElementRole {
    // An empty title would be none.
    let title = if title.is_empty() { NOTHING } else { title };
    ElementRole::Heading(NonZeroU16::new(level).unwrap_or(NonZeroU16::MIN), title.to_owned())
}
