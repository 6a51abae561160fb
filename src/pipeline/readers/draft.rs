//! A source text being written, block by block; keeps the offsets, so that no reader counts characters itself.

use super::READER_VERSION;
use super::language;
use super::source::{Block, BlockKind, Cue, Page, Section, SourceText};

/// Begins empty; `finish` closes pages and sections.
#[derive(Default)]
pub struct Draft {
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
        Self { chars: text.chars().count(), text, ..Self::default() }
    }

    /// Writes a block after a blank line. One without anything but white space is left out.
    pub fn block(&mut self, kind: BlockKind, content: &str) {
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
        self.blocks.push(Block { kind, start_offset, end_offset: self.chars });
    }

    /// Writes a heading, which opens a section. `level` from 1.
    pub fn heading(&mut self, level: u8, title: &str) {
        let before = self.blocks.len();
        let title: String = printable(title).split_whitespace().collect::<Vec<_>>().join(" ");
        self.block(BlockKind::Heading, &title);
        if let Some(block) = self.blocks.get(before) {
            let Block { start_offset, end_offset, .. } = *block;
            self.headings.push(Section { title, level: level.max(1), start_offset, end_offset });
        }
    }

    /// Writes on in the last block: `join` and then `content`.
    pub fn append(&mut self, join: &str, content: &str) {
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
        if let Some(section) = self.headings.last_mut() {
            section.title.push(' ');
            section.title.push_str(printable(content).trim());
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
        self.pages.push(Page { page, start_offset: self.chars, end_offset: self.chars });
    }

    /// What was written since `start_offset` was said in this cue.
    pub fn cue(&mut self, start_offset: usize, start_ms: u64, end_ms: u64, speaker: Option<String>) {
        self.cues.push(Cue { start_offset, end_offset: self.chars, start_ms, end_ms, speaker });
    }

    /// Marks a block in a text that stands already.
    pub fn mark(&mut self, kind: BlockKind, start_offset: usize, end_offset: usize) {
        self.blocks.push(Block { kind, start_offset, end_offset });
    }

    /// Marks a heading in a text that stands already.
    pub fn mark_heading(&mut self, level: u8, title: &str, start_offset: usize, end_offset: usize) {
        self.mark(BlockKind::Heading, start_offset, end_offset);
        self.headings.push(Section { title: title.to_owned(), level, start_offset, end_offset });
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
    pub fn finish(self) -> SourceText {
        let Self { text, chars, blocks, mut headings, mut pages, cues } = self;
        close_sections(&mut headings, chars);
        close_pages(&mut pages, &blocks, chars);
        let language = language::of(&text);
        SourceText {
            text,
            pages,
            sections: headings,
            cues,
            blocks,
            language,
            reader_version: READER_VERSION.to_owned(),
        }
    }

    fn write(&mut self, content: &str) {
        self.text.push_str(content);
        self.chars += content.chars().count();
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
