//! A source text being written, block by block; keeps the offsets, so that no reader counts characters itself, and the bounds of what
//! a document may come to, so that none costs the server more than so much.
//!
//! Past a bound nothing more is written, and in the end the document is refused: a part would pass for the whole.

use super::READER_VERSION;
use super::language;
use super::source::{Block, BlockKind, Cue, Page, Reason, Section, SourceText, Unreadable};

/// Characters of text: some 2,000 printed pages.
pub const CHARACTERS: usize = 5_000_000;
/// Paragraphs, list items, rows, headings.
pub const BLOCKS: usize = 150_000;
pub const SECTIONS: usize = 20_000;
pub const PAGES: usize = 20_000;
/// A whole day of speech has about 40,000.
pub const CUES: usize = 50_000;
/// Characters of a section's title, and of a speaker's name; what is longer is cut with an ellipsis. (The heading itself stands whole
/// in the text.) They are copied into whatever is found under them.
pub const NAME: usize = 200;
/// Deeper ones are as deep as this.
const LEVELS: u8 = 9;

/// Begins empty; `finish` closes pages and sections.
#[derive(Default)]
pub struct Draft {
    /// The bound that was met first.
    past: Option<(usize, &'static str)>,
    text: String,
    chars: usize,
    blocks: Vec<Block>,
    headings: Vec<Section>,
    pages: Vec<Page>,
    cues: Vec<Cue>,
}

impl Draft {
    /// A draft whose text stands already (plain text); blocks are then added by `mark`.
    pub fn verbatim(text: String) -> Self {
        let mut draft = Self { chars: text.chars().count(), text, ..Self::default() };
        draft.bound(draft.chars, CHARACTERS, "characters of text");
        draft
    }

    /// Whether a bound was met: whatever else is read, the document is refused.
    pub fn is_full(&self) -> bool {
        self.past.is_some()
    }

    /// Writes a block after a blank line. One without anything but white space is left out.
    pub fn block(&mut self, kind: BlockKind, content: &str) {
        if self.is_full() {
            return;
        }
        let content = printable(content);
        let content = content.trim();
        if content.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.write("\n\n");
        }
        let start_offset = self.chars;
        self.write(content);
        self.mark(kind, start_offset, self.chars);
    }

    /// Writes a heading, which opens a section. `level` from 1.
    pub fn heading(&mut self, level: u8, title: &str) {
        let before = self.blocks.len();
        let title: String = printable(title).split_whitespace().collect::<Vec<_>>().join(" ");
        self.block(BlockKind::Heading, &title);
        if let Some(block) = self.blocks.get(before) {
            let Block { start_offset, end_offset, .. } = *block;
            self.section(level, &title, start_offset, end_offset);
        }
    }

    /// Writes on in the last block: `join` and then `content`.
    pub fn append(&mut self, join: &str, content: &str) {
        if self.is_full() {
            return;
        }
        let content = printable(content);
        self.write(join);
        self.write(content.trim());
        if let Some(block) = self.blocks.last_mut() {
            block.end_offset = self.chars;
        }
    }

    /// Writes on in the heading that was written last.
    pub fn append_heading(&mut self, content: &str) {
        self.append(" ", content);
        if let Some(section) = self.headings.last_mut().filter(|section| !section.title.ends_with(CUT)) {
            section.title.push(' ');
            section.title.push_str(printable(content).trim());
            section.title = cut(&section.title);
        }
    }

    /// Takes the last character of the last block back, if it is this one.
    pub fn take_back(&mut self, last: char) {
        if self.text.ends_with(last) {
            self.text.pop();
            self.chars -= 1;
            if let Some(block) = self.blocks.last_mut() {
                block.end_offset = self.chars;
            }
        }
    }

    /// What is written from now on stands on this page.
    pub fn page(&mut self, page: u32) {
        self.bound(self.pages.len() + 1, PAGES, "pages");
        if !self.is_full() {
            self.pages.push(Page { page, start_offset: self.chars, end_offset: self.chars });
        }
    }

    /// What was written since `start_offset` was said in this cue.
    pub fn cue(&mut self, start_offset: usize, start_ms: u64, end_ms: u64, speaker: Option<String>) {
        self.bound(self.cues.len() + 1, CUES, "cues");
        if !self.is_full() {
            let speaker = speaker.map(|name| cut(&name));
            self.cues.push(Cue { start_offset, end_offset: self.chars, start_ms, end_ms, speaker });
        }
    }

    /// Marks a block in a text that stands already.
    pub fn mark(&mut self, kind: BlockKind, start_offset: usize, end_offset: usize) {
        self.bound(self.blocks.len() + 1, BLOCKS, "paragraphs and rows");
        if !self.is_full() {
            self.blocks.push(Block { kind, start_offset, end_offset });
        }
    }

    /// Marks a heading in a text that stands already.
    pub fn mark_heading(&mut self, level: u8, title: &str, start_offset: usize, end_offset: usize) {
        self.mark(BlockKind::Heading, start_offset, end_offset);
        self.section(level, title, start_offset, end_offset);
    }

    /// The last block, if any.
    pub fn last_block(&self) -> Option<&Block> {
        self.blocks.last()
    }

    /// Whether the text ends with a character of this kind.
    pub fn ends_with(&self, wanted: impl Fn(char) -> bool) -> bool {
        self.text.chars().next_back().is_some_and(wanted)
    }

    /// Closes pages and sections, and tells the language.
    ///
    /// # Errors
    /// A bound was met.
    pub fn finish(self) -> Result<SourceText, Unreadable> {
        let Self { past, text, chars, blocks, mut headings, mut pages, cues } = self;
        if let Some((most, what)) = past {
            return Err(more_than(most, what));
        }
        close_sections(&mut headings, chars);
        close_pages(&mut pages, &blocks, chars);
        let language = language::of(&text);
        Ok(SourceText {
            text,
            pages,
            sections: headings,
            cues,
            blocks,
            language,
            reader_version: READER_VERSION.to_owned(),
        })
    }

    fn section(&mut self, level: u8, title: &str, start_offset: usize, end_offset: usize) {
        self.bound(self.headings.len() + 1, SECTIONS, "headings");
        if !self.is_full() {
            let level = level.clamp(1, LEVELS);
            self.headings.push(Section { title: cut(title), level, start_offset, end_offset });
        }
    }

    fn write(&mut self, content: &str) {
        let chars = content.chars().count();
        self.bound(self.chars + chars, CHARACTERS, "characters of text");
        if !self.is_full() {
            self.text.push_str(content);
            self.chars += chars;
        }
    }

    fn bound(&mut self, count: usize, most: usize, what: &'static str) {
        if count > most {
            self.past.get_or_insert((most, what));
        }
    }
}

/// The document holds more of something than is read.
pub fn more_than(most: usize, what: &str) -> Unreadable {
    Unreadable::new(Reason::TooLarge, format!("The document is too large: at most {most} {what} are read."))
}

/// Stands where a name was cut.
pub const CUT: char = '…';

/// At most [`NAME`] characters of it.
fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some(_) => name.chars().take(NAME - 1).chain([CUT]).collect(),
        None => name.to_owned(),
    }
}

/// Line ends as `\n`; other control characters but the tab dropped.
pub fn printable(content: &str) -> String {
    let mut kept = String::with_capacity(content.len());
    let mut after_return = false;
    for c in content.chars() {
        match c {
            '\r' => kept.push('\n'),
            '\n' if after_return => {}
            '\n' | '\t' => kept.push(c),
            '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => kept.push('\n'),
            c if c.is_control() => {}
            c => kept.push(c),
        }
        after_return = c == '\r';
    }
    kept
}

/// A section ends where the next heading of its level or a higher one starts. A stack of open ones, so that it is linear.
fn close_sections(sections: &mut [Section], end: usize) {
    let mut open: Vec<(usize, u8)> = Vec::new();
    let starts: Vec<(u8, usize)> = sections.iter().map(|section| (section.level, section.start_offset)).collect();
    let mut close = |at: usize, offset: usize| {
        if let Some(section) = sections.get_mut(at) {
            section.end_offset = offset;
        }
    };
    for (at, (level, start)) in starts.into_iter().enumerate() {
        while let Some((last, _)) = open.pop_if(|(_, open_level)| *open_level >= level) {
            close(last, start);
        }
        open.push((at, level));
    }
    for (at, _) in open {
        close(at, end);
    }
}

/// A page was noted before the blank line that parts it from the one before: it starts with the first block written after that, or
/// inside the block that goes on over the turn of the page.
fn close_pages(pages: &mut [Page], blocks: &[Block], end: usize) {
    let mut blocks = blocks.iter().peekable();
    for page in &mut *pages {
        while blocks.next_if(|block| block.end_offset <= page.start_offset).is_some() {}
        page.start_offset = blocks.peek().map_or(end, |block| block.start_offset.max(page.start_offset));
    }
    let mut next = end;
    for page in pages.iter_mut().rev() {
        page.end_offset = next;
        next = page.start_offset;
    }
}
