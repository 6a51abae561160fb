//! Documents with marks around what is to be found in them: `⟦LABEL attribute=value …|the words⟧`.
//!
//! A marked document is read twice by the reader of its format: without its marks, and with one character of a
//! private-use area in the place of each end of a mark. Both texts have to be the same but for these characters, so
//! that every mark has exact offsets in the text that the analysis sees, whatever the format. An order to a machine in
//! text that is hidden has no place there.

use std::sync::LazyLock;

use pipeline::result::{QualityCategory, RequirementType};
use readers::{Format, SourceText, read};
use regex::Regex;
use strum::EnumString;

/// Stands for the beginning of the first mark while the document is read; the next characters for those of the others.
const OPENING: u32 = 0xF_0000;
/// How many marks a document may have.
const MAX_MARKS: u32 = 0x1_0000;
/// Stands for the end of a mark while the document is read.
const CLOSING: char = '\u{E001}';

#[expect(clippy::expect_used, reason = "the patterns are constants, and every test of this file uses them")]
fn compiled(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern compiles")
}

static BEGINS: LazyLock<Regex> = LazyLock::new(|| compiled(r"⟦([^⟦⟧|]*)\|"));
static ATTRIBUTE: LazyLock<Regex> = LazyLock::new(|| compiled(r#"(\w+)=(?:"([^"]*)"|([^\s"]+))"#));

/// What the words of a mark are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, EnumString)]
pub enum MarkLabel {
    #[strum(serialize = "R.F")]
    Function,
    #[strum(serialize = "R.N.PERF")]
    Performance,
    #[strum(serialize = "R.N.COMP")]
    Compatibility,
    #[strum(serialize = "R.N.USAB")]
    Usability,
    #[strum(serialize = "R.N.RELI")]
    Reliability,
    #[strum(serialize = "R.N.SECU")]
    Security,
    #[strum(serialize = "R.N.MAIN")]
    Maintainability,
    #[strum(serialize = "R.N.PORT")]
    Portability,
    #[strum(serialize = "R.C")]
    Constraint,
    #[strum(serialize = "R.B")]
    Business,
    /// A written user story.
    #[strum(serialize = "S")]
    Story,
    #[strum(serialize = "A")]
    Action,
    #[strum(serialize = "D")]
    Decision,
    /// A decision that is taken back later.
    #[strum(serialize = "DX")]
    Reversed,
    #[strum(serialize = "Q")]
    Question,
    #[strum(serialize = "K")]
    Risk,
    /// An order to whatever machine reads the document.
    #[strum(serialize = "O")]
    Order,
    /// Continues the mark before it.
    #[strum(serialize = "+")]
    More,
}

impl MarkLabel {
    /// Returns the type and category of a requirement; `None` for everything else.
    #[must_use]
    pub fn requirement(self) -> Option<(RequirementType, Option<QualityCategory>)> {
        use QualityCategory as Q;
        use RequirementType as R;
        Some(match self {
            Self::Function | Self::Story => (R::Functional, None),
            Self::Performance => (R::NonFunctional, Some(Q::PerformanceEfficiency)),
            Self::Compatibility => (R::NonFunctional, Some(Q::Compatibility)),
            Self::Usability => (R::NonFunctional, Some(Q::Usability)),
            Self::Reliability => (R::NonFunctional, Some(Q::Reliability)),
            Self::Security => (R::NonFunctional, Some(Q::Security)),
            Self::Maintainability => (R::NonFunctional, Some(Q::Maintainability)),
            Self::Portability => (R::NonFunctional, Some(Q::Portability)),
            Self::Constraint => (R::Constraint, None),
            Self::Business => (R::Business, None),
            _ => return None,
        })
    }
}

/// A mark with its place in the text of the document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceMark {
    pub label: MarkLabel,
    /// Offsets in characters, end exclusive; more than one where the words are spread over cues.
    pub spans: Vec<(usize, usize)>,
    attributes: Vec<(String, String)>,
}

impl SourceMark {
    /// Returns the value of an attribute.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns the ids that an attribute lists.
    pub fn ids(&self, name: &str) -> impl Iterator<Item = &str> {
        self.attribute(name).into_iter().flat_map(|ids| ids.split(',')).map(str::trim)
    }

    /// Returns how many characters of a range are within the mark.
    #[must_use]
    pub fn shared(&self, start: usize, end: usize) -> usize {
        self.spans.iter().map(|span| end.min(span.1).saturating_sub(start.max(span.0))).sum()
    }

    /// Returns how many characters the mark has.
    #[must_use]
    pub fn length(&self) -> usize {
        self.spans.iter().map(|span| span.1 - span.0).sum()
    }

    /// Whether a range is about the same words: they share at least half of the shorter one.
    #[must_use]
    pub fn covers(&self, start: usize, end: usize) -> bool {
        let shared = self.shared(start, end);
        shared > 0 && 2 * shared >= self.length().min(end - start)
    }
}

/// A marked document, read.
#[derive(Debug, Clone)]
pub struct MarkedText {
    /// The text without marks.
    pub source: SourceText,
    /// In the order of the text.
    pub marks: Vec<SourceMark>,
}

/// Reads a marked document.
///
/// # Errors
/// A sentence that says what is wrong with the marks, or why the document can't be read.
pub fn read_marked(format: Format, marked: &str) -> Result<MarkedText, String> {
    let mut heads = Vec::new();
    for head in BEGINS.captures_iter(marked).filter_map(|found| found.get(1)) {
        heads.push(head_of(head.as_str())?);
    }
    let clean = BEGINS.replace_all(marked, "").replace('⟧', "");
    let mut number = 0;
    let numbered = BEGINS.replace_all(marked, |_: &regex::Captures| {
        number += 1;
        char::from_u32(OPENING + number - 1).filter(|_| number <= MAX_MARKS).map(String::from).unwrap_or_default()
    });
    let held = numbered.replace('⟧', &CLOSING.to_string());
    if clean.contains(['⟦', '⟧', CLOSING]) || clean.chars().any(|character| opened(character).is_some()) {
        return Err("A mark has no label, or a character that stands for a mark occurs in the text.".to_owned());
    }
    let source = read(format, clean.as_bytes()).map_err(|failure| failure.to_string())?;
    let with_marks = read(format, held.as_bytes()).map_err(|failure| failure.to_string())?.text;
    let mut at = 0;
    let mut open = None;
    let mut spans = vec![None; heads.len()];
    let mut bare = String::with_capacity(source.text.len());
    for character in with_marks.chars() {
        match (opened(character), open) {
            (Some(number), None) => open = Some((number, at)),
            (None, Some((number, start))) if character == CLOSING => {
                if let Some(span) = spans.get_mut(number) {
                    *span = Some((start, at));
                }
                open = None;
            }
            (Some(_), _) => return Err(format!("Two marks overlap at character {at}.")),
            _ if character == CLOSING => return Err(format!("A mark ends at character {at} that does not begin.")),
            _ => {
                bare.push(character);
                at += 1;
            }
        }
    }
    if bare != source.text {
        let same = bare.chars().zip(source.text.chars()).take_while(|(one, other)| one == other).count();
        let near: String = source.text.chars().skip(same.saturating_sub(30)).take(60).collect();
        return Err(format!("The marks change how the document is read, at character {same}: {near:?}"));
    }
    let mut marks: Vec<SourceMark> = Vec::new();
    for (number, ((label, attributes), span)) in heads.into_iter().zip(spans).enumerate() {
        let Some(span) = span else {
            if label == MarkLabel::Order {
                continue;
            }
            return Err(format!("SourceMark {} ({label:?}) is not in the text that is read.", number + 1));
        };
        match (label, marks.last_mut()) {
            (MarkLabel::More, Some(before)) => before.spans.push(span),
            (MarkLabel::More, None) => return Err("The first mark continues none.".to_owned()),
            _ => marks.push(SourceMark { label, spans: vec![span], attributes }),
        }
    }
    Ok(MarkedText { source, marks })
}

/// Returns the number of the mark that a character begins.
fn opened(character: char) -> Option<usize> {
    let number = u32::from(character).checked_sub(OPENING).filter(|number| *number < MAX_MARKS)?;
    usize::try_from(number).ok()
}

type MarkHead = (MarkLabel, Vec<(String, String)>);

fn head_of(head: &str) -> Result<MarkHead, String> {
    let head = head.trim();
    let (label, rest) = head.split_once(char::is_whitespace).unwrap_or((head, ""));
    let label = label.parse().map_err(|_| format!("There is no label {label:?}."))?;
    let attribute = |found: regex::Captures| {
        let value = found.get(2).or_else(|| found.get(3)).map_or("", |value| value.as_str());
        (found.get(1).map_or("", |name| name.as_str()).to_owned(), value.to_owned())
    };
    Ok((label, ATTRIBUTE.captures_iter(rest).map(attribute).collect()))
}

#[cfg(test)]
mod tests {
    use readers::slice;

    use super::*;

    #[test]
    fn marks_have_their_places_in_what_is_read() {
        let marked = "# Üser\n\n- ⟦R.F id=r1|Prints a list.⟧\n- It is nice.\n\n| a | b |\n|---|---|\n| ⟦R.N.PERF conf=\"r1,r2\"|Fast & \
            good⟧ | x |\n";
        let text = read_marked(Format::Markdown, marked).unwrap();
        let words = |mark: &SourceMark| slice(&text.source.text, mark.spans[0].0, mark.spans[0].1).unwrap().to_owned();
        let found: Vec<(MarkLabel, String)> = text.marks.iter().map(|mark| (mark.label, words(mark))).collect();
        assert_eq!(
            found,
            [(MarkLabel::Function, "Prints a list.".to_owned()), (MarkLabel::Performance, "Fast & good".to_owned())]
        );
        assert_eq!(text.marks[1].ids("conf").collect::<Vec<_>>(), ["r1", "r2"]);
        assert!(text.marks[0].covers(text.marks[0].spans[0].0, text.marks[0].spans[0].1 + 5));
    }

    #[test]
    fn a_mark_may_go_on_in_another_cue() {
        let marked = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>⟦R.F|It has to⟧\n\n00:02.000 --> 00:03.000\n<v Ana>⟦+|be fast.⟧ Yes.\n";
        let text = read_marked(Format::Vtt, marked).unwrap();
        assert_eq!((text.marks.len(), text.marks[0].spans.len()), (1, 2));
    }

    #[test]
    fn wrong_marks_are_told() {
        for (marked, fault) in [
            ("⟦X|Hello there.⟧", "There is no label"),
            ("⟦R.F|Hello ⟦K|there.⟧⟧", "overlap"),
            ("⟦R.F Hello there.⟧", "no label"),
            ("⟦+|Hello there.⟧", "continues none"),
        ] {
            let told = read_marked(Format::Text, marked).unwrap_err();
            assert!(told.contains(fault), "{told}");
        }
    }
}
