//! A `SourceText` under construction, written block by block.
//!
//! It counts the character offsets, so that no reader has to, and enforces the limits on the size of a document, which
//! bound what one document costs the server. Past a limit nothing more is written and `finish` rejects the document: a
//! partial text would be taken for the complete one.

use super::language;
use super::source::{
    Block, BlockKind, Cue, CueOrigin, READER_VERSION, Section, SourcePage, SourceText, Unreadable, UnreadableReason,
};

/// Maximum characters of text: some 2,000 printed pages.
pub const CHARACTERS: usize = 5_000_000;
/// Maximum number of blocks: paragraphs, list items, rows and headings.
pub const BLOCKS: usize = 150_000;
pub const SECTIONS: usize = 20_000;
pub const PAGES: usize = 20_000;
/// Maximum number of cues. A whole day of speech has about 40,000.
pub const CUES: usize = 50_000;
/// Maximum characters of a section's title and of a speaker's name; longer ones are cut and end in an ellipsis. (The
/// heading itself is complete in the text.) Titles and names are copied into every item that is found under them.
pub const NAME: usize = 200;
/// Deepest heading level; deeper headings get this level.
const LEVELS: u8 = 9;

/// Builder of a `SourceText`. Starts empty; `finish` closes the open pages and sections.
#[derive(Default)]
pub struct TextDraft {
    /// The first limit that was exceeded, with the name of what it counts.
    exceeded: Option<(usize, &'static str)>,
    text: String,
    chars: usize,
    blocks: Vec<Block>,
    headings: Vec<Section>,
    pages: Vec<SourcePage>,
    cues: Vec<Cue>,
    hidden: usize,
}

impl TextDraft {
    /// Creates a draft from a complete text (plain text); its blocks are then added by `mark`.
    pub fn verbatim(text: String) -> Self {
        let mut draft = Self { chars: text.chars().count(), text, ..Self::default() };
        draft.bound(draft.chars, CHARACTERS, "characters of text");
        draft
    }

    /// Whether a limit was exceeded. The document is then rejected, whatever else is read.
    pub fn is_full(&self) -> bool {
        self.exceeded.is_some()
    }

    /// Counts text that is not shown, and leaves it out.
    pub fn hide(&mut self, content: &str) {
        self.hidden += content.chars().filter(|character| !character.is_whitespace()).count();
    }

    /// Writes a block after a blank line. Does nothing if `content` is only white space.
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

    /// Writes a heading, which opens a section. `level` counts from 1.
    pub fn heading(&mut self, level: u8, title: &str) {
        let before = self.blocks.len();
        let title: String = printable(title).split_whitespace().collect::<Vec<_>>().join(" ");
        self.block(BlockKind::Heading, &title);
        if let Some(block) = self.blocks.get(before) {
            let Block { start_offset, end_offset, .. } = *block;
            self.section(level, &title, start_offset, end_offset);
        }
    }

    /// Appends `join` and then `content` to the last block.
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

    /// Appends `content` to the heading that was written last.
    pub fn append_heading(&mut self, content: &str) {
        self.append(" ", content);
        if let Some(section) = self.headings.last_mut().filter(|section| !section.title.ends_with(CUT)) {
            section.title.push(' ');
            section.title.push_str(printable(content).trim());
            section.title = cut(&section.title);
        }
    }

    /// Removes the last character of the last block if it is `last`.
    pub fn remove_trailing(&mut self, last: char) {
        if self.text.ends_with(last) {
            self.text.pop();
            self.chars -= 1;
            if let Some(block) = self.blocks.last_mut() {
                block.end_offset = self.chars;
            }
        }
    }

    /// Writes the blocks of another text, as quotations if they are quoted. Its headings become sections below the open
    /// ones: `level` is added to their levels.
    pub fn adopt(&mut self, other: &Self, level: u8, is_quoted: bool) {
        self.exceeded = self.exceeded.or(other.exceeded);
        self.hidden += other.hidden;
        let mut characters = other.text.chars();
        let mut passed = 0;
        let mut sections = other.headings.iter().peekable();
        for block in &other.blocks {
            characters.by_ref().take(block.start_offset - passed).for_each(drop);
            let content: String = characters.by_ref().take(block.end_offset - block.start_offset).collect();
            passed = block.end_offset;
            let heading = sections.next_if(|section| section.start_offset == block.start_offset);
            match heading {
                _ if is_quoted && block.kind != BlockKind::Boilerplate => self.block(BlockKind::Quote, &content),
                Some(section) => self.heading(section.level.saturating_add(level), &content),
                None => self.block(block.kind, &content),
            }
        }
    }

    /// Returns the text of the last block, if any.
    pub fn last_words(&self) -> Option<String> {
        let block = self.blocks.last()?;
        Some(self.text.chars().skip(block.start_offset).take(block.end_offset - block.start_offset).collect())
    }

    /// Changes the kind of the last block.
    pub fn mark_last(&mut self, kind: BlockKind) {
        if let Some(block) = self.blocks.last_mut() {
            block.kind = kind;
        }
    }

    /// Starts a page: all text written from here on belongs to it.
    pub fn page(&mut self, page: u32) {
        self.bound(self.pages.len() + 1, PAGES, "pages");
        if !self.is_full() {
            self.pages.push(SourcePage { page, start_offset: self.chars, end_offset: self.chars });
        }
    }

    /// Adds a cue that covers the text from `start_offset` to the current end.
    pub fn cue(
        &mut self,
        start_offset: usize,
        (start_ms, end_ms): (u64, u64),
        speaker: Option<String>,
        origin: Option<CueOrigin>,
    ) {
        self.bound(self.cues.len() + 1, CUES, "cues");
        if !self.is_full() {
            let speaker = speaker.map(|name| cut(&name));
            self.cues.push(Cue { start_offset, end_offset: self.chars, start_ms, end_ms, speaker, origin });
        }
    }

    /// Marks a block in text that was already written.
    pub fn mark(&mut self, kind: BlockKind, start_offset: usize, end_offset: usize) {
        self.bound(self.blocks.len() + 1, BLOCKS, "paragraphs and rows");
        if !self.is_full() {
            self.blocks.push(Block { kind, start_offset, end_offset });
        }
    }

    /// Marks a heading in text that was already written.
    pub fn mark_heading(&mut self, level: u8, title: &str, start_offset: usize, end_offset: usize) {
        self.mark(BlockKind::Heading, start_offset, end_offset);
        self.section(level, title, start_offset, end_offset);
    }

    /// Returns the last block, if any.
    pub fn last_block(&self) -> Option<&Block> {
        self.blocks.last()
    }

    /// Whether the last character of the text satisfies `wanted`.
    pub fn ends_with(&self, wanted: impl Fn(char) -> bool) -> bool {
        self.text.chars().next_back().is_some_and(wanted)
    }

    /// Closes the open pages and sections and detects the language.
    ///
    /// # Errors
    /// `TooLarge` if a limit was exceeded.
    pub fn finish(self) -> Result<SourceText, Unreadable> {
        let Self { exceeded, text, chars, blocks, mut headings, mut pages, cues, hidden } = self;
        if let Some((most, what)) = exceeded {
            return Err(more_than(most, what));
        }
        close_sections(&mut headings, chars);
        close_pages(&mut pages, &blocks, chars);
        let language = language::of(&text);
        let hidden_characters = hidden + text.chars().filter(is_disguise).count();
        Ok(SourceText {
            text,
            pages,
            sections: headings,
            cues,
            blocks,
            language,
            date: None,
            hidden_characters,
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
            self.exceeded.get_or_insert((most, what));
        }
    }
}

/// Marks that show text in another order than it has, and tags, which are not shown at all. (The flags of some regions are
/// written with tags; they count too.)
const fn is_disguise(character: &char) -> bool {
    matches!(*character, '\u{202d}' | '\u{202e}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns the error for a document with more of something than the limit allows.
pub fn more_than(most: usize, what: &str) -> Unreadable {
    Unreadable::new(UnreadableReason::TooLarge, format!("The document is too large: at most {most} {what} are read."))
}

/// Marks the end of a title or name that was cut.
pub const CUT: char = '…';

/// Cuts a title or name to at most [`NAME`] characters.
fn cut(name: &str) -> String {
    match name.char_indices().nth(NAME) {
        Some(_) => name.chars().take(NAME - 1).chain([CUT]).collect(),
        None => name.to_owned(),
    }
}

/// Converts line ends to `\n` and drops the other control characters except tabs.
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

/// Ends each section at the next heading of the same or a higher level. Uses a stack of open sections, so that it takes
/// linear time.
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

/// Sets the bounds of the pages. A page is recorded before the blank line that separates it from the previous one: it
/// starts at the first block written after that, or inside the block that continues across the page break.
fn close_pages(pages: &mut [SourcePage], blocks: &[Block], end: usize) {
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
