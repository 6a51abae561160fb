//! The texts of a run, with conversion from character offsets (Unicode scalar values) to byte offsets.

use std::fmt::Write;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use readers::SourceText;

/// A byte offset is stored for every this many characters, so that a lookup scans fewer than this.
const SPACING: usize = 64;

/// Texts by slot: the position of a source in the request. The slot of a source without text is empty.
#[derive(Debug, Default)]
pub struct Texts {
    slots: Vec<Option<OpenText>>,
}

impl Texts {
    /// Puts a text into the next slot; returns the SHA-256 digest of its content and structure as 64 hex digits.
    pub fn open(&mut self, text: Arc<SourceText>) -> String {
        let digest = digest(&text);
        self.slots.push(Some(OpenText::new(text)));
        digest
    }

    /// Leaves the next slot empty.
    pub fn leave_out(&mut self) {
        self.slots.push(None);
    }

    pub fn get(&self, slot: usize) -> Option<&OpenText> {
        self.slots.get(slot)?.as_ref()
    }
}

/// One text that can be sliced by characters.
#[derive(Debug)]
pub struct OpenText {
    text: Arc<SourceText>,
    /// Byte offsets of the characters 0, 64, 128, …
    marks: Vec<usize>,
    characters: usize,
}

impl OpenText {
    pub fn new(text: Arc<SourceText>) -> Self {
        let mut marks = Vec::with_capacity(text.text.len() / SPACING + 1);
        let mut characters = 0;
        for (byte, _) in text.text.char_indices() {
            if characters % SPACING == 0 {
                marks.push(byte);
            }
            characters += 1;
        }
        Self { text, marks, characters }
    }

    /// Returns the text with its pages, sections, cues and blocks.
    pub fn source(&self) -> &SourceText {
        &self.text
    }

    /// Returns the length in characters.
    pub fn characters(&self) -> usize {
        self.characters
    }

    /// Returns the characters from `start` up to but not including `end`; `None` outside the text.
    pub fn slice(&self, start: usize, end: usize) -> Option<&str> {
        if start > end {
            return None;
        }
        self.text.text.get(self.byte_of(start)?..self.byte_of(end)?)
    }

    fn byte_of(&self, character: usize) -> Option<usize> {
        if character == self.characters {
            return Some(self.text.text.len());
        }
        let mark = *self.marks.get(character / SPACING)?;
        let near = self.text.text.get(mark..)?;
        let (byte, _) = near.char_indices().nth(character % SPACING)?;
        Some(mark + byte)
    }

    /// Whether the text contains a letter.
    pub fn has_words(&self) -> bool {
        self.text.text.chars().any(char::is_alphabetic)
    }

    pub fn words(&self) -> u64 {
        let words = self.text.text.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
        u64::try_from(words).unwrap_or(u64::MAX)
    }

    /// Returns the latest end of a cue in milliseconds, 0 without cues.
    pub fn spoken_ms(&self) -> u64 {
        self.text.cues.iter().map(|cue| cue.end_ms).max().unwrap_or(0)
    }

    /// Returns the language that the reader detected; empty if it detected none.
    pub fn language(&self) -> String {
        self.text.language.clone().unwrap_or_default()
    }
}

fn digest(text: &SourceText) -> String {
    let mut hasher = Sha256::new();
    hasher.update(&text.reader_version);
    hasher.update([0]);
    hasher.update(text.text.as_bytes());
    // The structure is derived from the same bytes by a reader of this version; its `Debug` output suffices to tell two
    // apart.
    let SourceText { pages, sections, cues, blocks, language, date, hidden_characters, .. } = text;
    let mut outline = TextDigest(hasher);
    // Hashing never fails.
    let _infallible =
        write!(outline, "\0{pages:?}\0{sections:?}\0{cues:?}\0{blocks:?}\0{language:?}\0{date:?}\0{hidden_characters}");
    hex::encode(outline.0.finalize())
}

/// Hashes what is written to it, so that the output, many times as long as the text, need not be held in memory.
struct TextDigest(Sha256);

impl Write for TextDigest {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        self.0.update(part);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use readers::{Format, read, slice};

    use super::*;

    #[test]
    fn a_slice_counts_characters_not_bytes() {
        let words = "Größe e\u{301} 👩‍⚕️ عربي ".repeat(40);
        let text = OpenText::new(Arc::new(read(Format::Text, words.as_bytes()).unwrap()));
        let whole = text.source().text.clone();
        for start in (0..text.characters()).step_by(7) {
            for length in [0, 1, 63, 64, 65, 200] {
                assert_eq!(text.slice(start, start + length), slice(&whole, start, start + length));
            }
        }
        assert_eq!(text.slice(5, 4), None);
        assert_eq!(text.slice(0, text.characters() + 1), None);
        assert_eq!(text.slice(text.characters(), text.characters()), Some(""));
    }
}
