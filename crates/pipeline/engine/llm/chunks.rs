//! The parts of the sources that are sent to a model: whole blocks and turns under their headings, with a few neighbours
//! to read but not to quote.
//!
//! What addresses a machine, code and boilerplate are in no chunk. A chunk has the sentences of one source.

use super::super::super::loop_control::{Halted, LoopControl};
use super::super::addressed::is_addressed;
use super::super::corpus::{Corpus, PreparedSentence, plain};
use super::super::find::is_candidate;
use super::super::index::BlockContext;

/// Characters of the neighbours before a chunk, and behind it.
const BEFORE: usize = 600;
const BEHIND: usize = 300;
/// Characters of the headings above a chunk, and of a speaker's name.
const MAX_PATH_LENGTH: usize = 300;
const MAX_NAME_LENGTH: usize = 60;
/// A heading ends a chunk that is at least this full, in percent.
const FULL_ENOUGH: usize = 60;

/// A part of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceChunk {
    /// Positions of its sentences in the corpus, ascending, without headings: from these alone items can come.
    pub sentences: Vec<usize>,
    /// Its lines as they are sent.
    pub text: String,
    /// The headings above, and the lines before.
    pub before: String,
    pub behind: String,
}

/// A block, a turn, or a part of a long one.
struct Line {
    slot: usize,
    first: usize,
    /// Empty for a heading.
    sentences: Vec<usize>,
    text: String,
}

/// Cuts the corpus into chunks of at most `most` characters.
pub fn chunks(corpus: &Corpus, most: usize, control: &LoopControl) -> Result<Vec<SourceChunk>, Halted> {
    let lines = lines(corpus, most, control)?;
    let mut chunks = Vec::new();
    let mut from = 0;
    while from < lines.len() {
        control.check()?;
        let to = end_of_chunk(&lines, from, most);
        let within = lines.get(from..to).unwrap_or_default();
        let sentences: Vec<usize> = within.iter().flat_map(|line| line.sentences.iter().copied()).collect();
        if !sentences.is_empty() {
            let before = before(corpus, &lines, from);
            let behind = behind(&lines, to);
            chunks.push(SourceChunk { sentences, text: joined(within.iter()), before, behind });
        }
        from = to;
    }
    Ok(chunks)
}

/// Returns where the chunk that begins at the line `from` ends.
fn end_of_chunk(lines: &[Line], from: usize, most: usize) -> usize {
    let slot = lines.get(from).map(|line| line.slot);
    let mut length = 0;
    for (at, line) in lines.iter().enumerate().skip(from) {
        let own = line.text.chars().count() + 1;
        let is_heading = line.sentences.is_empty();
        let is_full = length > 0 && length + own > most;
        let is_section_done = is_heading && length * 100 > most * FULL_ENOUGH;
        if Some(line.slot) != slot || is_full || is_section_done {
            return at;
        }
        length += own;
    }
    lines.len()
}

fn before(corpus: &Corpus, lines: &[Line], from: usize) -> String {
    let Some(first) = lines.get(from) else { return String::new() };
    let section = corpus.section(first.first).filter(|path| !is_addressed(&plain(path)));
    let section = section.map(|path| format!("# {}", sent(&path, MAX_PATH_LENGTH))).unwrap_or_default();
    let near = lines.get(..from).unwrap_or_default().iter().rev().take_while(|line| line.slot == first.slot);
    let mut texts: Vec<&str> = within(near.map(|line| line.text.as_str()), BEFORE);
    texts.reverse();
    [section.as_str()].into_iter().chain(texts).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

fn behind(lines: &[Line], to: usize) -> String {
    let slot = to.checked_sub(1).and_then(|last| lines.get(last)).map(|line| line.slot);
    let near = lines.get(to..).unwrap_or_default().iter().take_while(|line| Some(line.slot) == slot);
    within(near.map(|line| line.text.as_str()), BEHIND).join("\n")
}

/// Takes whole lines as long as they have at most `most` characters together.
fn within<'a>(lines: impl Iterator<Item = &'a str>, most: usize) -> Vec<&'a str> {
    let mut length = 0;
    let fits = lines.take_while(|line| {
        length += line.chars().count();
        length <= most
    });
    fits.collect()
}

fn joined<'a>(lines: impl Iterator<Item = &'a Line>) -> String {
    lines.map(|line| line.text.as_str()).collect::<Vec<_>>().join("\n")
}

fn lines(corpus: &Corpus, most: usize, control: &LoopControl) -> Result<Vec<Line>, Halted> {
    let mut lines: Vec<Line> = Vec::new();
    let mut last: Option<(usize, usize, BlockContext)> = None;
    let mut length = 0;
    for (at, sentence) in corpus.sentences().iter().enumerate() {
        control.check()?;
        let Some(slot) = corpus.slot(at).filter(|_| is_candidate(sentence)) else { continue };
        let words = sent(&sentence.words, most);
        let is_heading = sentence.context == BlockContext::Heading;
        let place = Some((slot, sentence.block, sentence.context));
        let goes_on = place == last && !is_heading && length + words.chars().count() < most;
        match lines.last_mut().filter(|_| goes_on) {
            Some(line) => {
                line.text.push_str(if sentence.context == BlockContext::Cell { " | " } else { " " });
                line.text.push_str(&words);
                line.sentences.push(at);
                length += words.chars().count() + 3;
            }
            None => {
                length = words.chars().count();
                let text = format!("{}{words}", opening(corpus, at, sentence));
                let sentences = if is_heading { Vec::new() } else { vec![at] };
                lines.push(Line { slot, first: at, sentences, text });
            }
        }
        last = place;
    }
    Ok(lines)
}

fn opening(corpus: &Corpus, at: usize, sentence: &PreparedSentence) -> String {
    match sentence.context {
        BlockContext::Heading => "# ".to_owned(),
        BlockContext::Item => "- ".to_owned(),
        // A name can be anything that somebody wrote into a transcript.
        BlockContext::Speech => corpus
            .speaker(at)
            .filter(|name| !is_addressed(&plain(name)))
            .map(|name| format!("{}: ", sent(name, MAX_NAME_LENGTH)))
            .unwrap_or_default(),
        _ => String::new(),
    }
}

/// Returns words as they are sent: at most `most` characters, without control characters, and with nothing that a model's
/// template could take for one of its own marks.
pub fn sent(words: &str, most: usize) -> String {
    let plain = words.chars().map(|character| if character.is_control() { ' ' } else { character }).take(most);
    let plain: String = plain.filter(|character| !is_invisible(*character)).collect();
    plain.replace("<|", "< |").replace("|>", "| >").replace("[INST]", "[ INST ]").replace("[/INST]", "[ /INST ]")
}

/// Marks of direction, tags and the like, which can hide words from whoever reads.
const fn is_invisible(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}
