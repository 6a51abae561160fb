//! Compares the texts of two versions of a document, sentence by sentence and line by line. White space counts for nothing, so that a
//! file that was saved anew is the same.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use super::model::{ChangedSpan, TextChange, TextSpan};

/// Maximum number of spans that a comparison tells.
pub const MAX_SPANS: usize = 2_000;
/// Maximum number of sentences that stand for each other.
const MAX_REPLACED: usize = 3;
/// Maximum number of sentences of a text. What is behind them is one.
const MAX_SENTENCES: usize = 100_000;
/// Minimum number of letters of a sentence that has moved, and is not just said elsewhere too.
const MOVED_LETTERS: usize = 20;

/// A sentence or a line of a text: where it stands, in Unicode scalar values, and its words.
struct SentenceText<'a> {
    place: Range<usize>,
    words: Cow<'a, str>,
}

/// How a text differs from a later one.
pub struct TextComparison {
    /// Of each sentence of the former text, in order: where it stands, and where it is now.
    sentences: Vec<(Range<usize>, Destination)>,
    spans: Vec<ChangedSpan>,
}

/// Where a sentence is in the later text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Destination {
    /// With the same words.
    Same(Range<usize>),
    /// Somewhere among others that stand in its place.
    Replaced(Range<usize>),
    Nowhere,
}

impl TextComparison {
    #[must_use]
    pub fn of(former: &str, later: &str) -> Self {
        let (former, later) = (sentences(former), sentences(later));
        let mut input: InternedInput<&str> = InternedInput::default();
        input.update_before(former.iter().map(|sentence| &*sentence.words));
        input.update_after(later.iter().map(|sentence| &*sentence.words));
        // Not the histogram: where every second line differs, it takes the square of the lines.
        let mut diff = Diff::compute(Algorithm::Myers, &input);
        diff.postprocess_no_heuristic(&input);
        let hunks: Vec<Hunk> =
            diff.hunks().map(|hunk| Hunk { before: wide(hunk.before), after: wide(hunk.after) }).collect();
        let moves = moves(&former, &later, &hunks);
        let moved_from: HashMap<usize, usize> = moves.iter().map(|(before, after)| (*before, *after)).collect();
        let moved_to: HashMap<usize, usize> = moves.iter().map(|(before, after)| (*after, *before)).collect();

        let places = Places { former: &former, later: &later };
        let mut destinations: Vec<(Range<usize>, Destination)> = Vec::with_capacity(former.len());
        let mut spans = Vec::new();
        let mut at = (0, 0);
        let end = Hunk { before: former.len()..former.len(), after: later.len()..later.len() };
        for hunk in hunks.iter().chain([&end]) {
            for (before, after) in (at.0..hunk.before.start).zip(at.1..hunk.after.start) {
                destinations.push((places.former(before), Destination::Same(places.later(after))));
            }
            let replaced = places.later_span(&hunk.after);
            for before in hunk.before.clone() {
                let destination = match moved_from.get(&before) {
                    Some(after) => Destination::Same(places.later(*after)),
                    None if hunk.after.is_empty() || !hunk.is_small() => Destination::Nowhere,
                    None => Destination::Replaced(replaced.start_offset..replaced.end_offset),
                };
                destinations.push((places.former(before), destination));
            }
            places.changed(hunk, &moved_from, &moved_to, &mut spans);
            at = (hunk.before.end, hunk.after.end);
        }
        spans.sort_by_key(|span| (span.later.start_offset, span.later.end_offset, span.former.start_offset));
        Self { sentences: destinations, spans }
    }

    /// What differs, in the order of the later text; the last of too many are joined.
    #[must_use]
    pub fn spans(mut self) -> Vec<ChangedSpan> {
        if self.spans.len() > MAX_SPANS {
            let others = self.spans.split_off(MAX_SPANS - 2);
            let joined = |span: fn(&ChangedSpan) -> TextSpan| {
                let starts = others.iter().map(|one| span(one).start_offset).min();
                let ends = others.iter().map(|one| span(one).end_offset).max();
                TextSpan { start_offset: starts.unwrap_or_default(), end_offset: ends.unwrap_or_default() }
            };
            let (former, later) = (joined(|one| one.former), joined(|one| one.later));
            self.spans.push(ChangedSpan { change: TextChange::Removed, former, later: later.at_start() });
            self.spans.push(ChangedSpan { change: TextChange::Added, former: former.at_end(), later });
        }
        self.spans
    }

    /// Where a part of the former text is in the later one, as far as can be said: of several sentences the one that most of the part
    /// is in decides. `None` if nothing stands in its place.
    #[must_use]
    pub fn later_place(&self, part: &Range<usize>) -> Option<Range<usize>> {
        let first = self.sentences.partition_point(|(place, _)| place.end <= part.start);
        let within = self.sentences.get(first..).unwrap_or_default().iter();
        let within = within.take_while(|(place, _)| place.start < part.end);
        let shared = |place: &Range<usize>| place.end.min(part.end) - place.start.max(part.start);
        // The first one of equals.
        let (place, destination) = within.max_by_key(|(place, _)| (shared(place), Reverse(place.start)))?;
        match destination {
            Destination::Nowhere => None,
            Destination::Replaced(there) => Some(there.clone()),
            Destination::Same(there) => {
                let start = (there.start + part.start.saturating_sub(place.start)).min(there.end);
                let end = there.end.saturating_sub(place.end.saturating_sub(part.end));
                Some(start..end.max(start))
            }
        }
    }
}

/// Sentences that differ, by their positions.
struct Hunk {
    before: Range<usize>,
    after: Range<usize>,
}

impl Hunk {
    /// Whether what stands here now can be said to be in the place of what stood here, and is not another text.
    fn is_small(&self) -> bool {
        self.before.len() <= MAX_REPLACED && self.after.len() <= MAX_REPLACED
    }
}

fn wide(range: Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}

/// The sentences that were removed in one place and added in another one, each with its new position.
fn moves(former: &[SentenceText<'_>], later: &[SentenceText<'_>], hunks: &[Hunk]) -> Vec<(usize, usize)> {
    let mut removed: HashMap<&str, VecDeque<usize>> = HashMap::new();
    for before in hunks.iter().flat_map(|hunk| hunk.before.clone()) {
        let Some(words) = former.get(before).map(|sentence| &*sentence.words) else { continue };
        if words.chars().filter(|c| c.is_alphanumeric()).count() >= MOVED_LETTERS {
            removed.entry(words).or_default().push_back(before);
        }
    }
    let added = hunks.iter().flat_map(|hunk| hunk.after.clone());
    added.filter_map(|after| Some((removed.get_mut(&*later.get(after)?.words)?.pop_front()?, after))).collect()
}

struct Places<'a> {
    former: &'a [SentenceText<'a>],
    later: &'a [SentenceText<'a>],
}

impl Places<'_> {
    fn former(&self, at: usize) -> Range<usize> {
        self.former.get(at).map(|sentence| sentence.place.clone()).unwrap_or_default()
    }

    fn later(&self, at: usize) -> Range<usize> {
        self.later.get(at).map(|sentence| sentence.place.clone()).unwrap_or_default()
    }

    fn later_span(&self, sentences: &Range<usize>) -> TextSpan {
        span(self.later, sentences)
    }

    /// Adds what a hunk tells: sentences that belong together are one span.
    fn changed(
        &self,
        hunk: &Hunk,
        moved_from: &HashMap<usize, usize>,
        moved_to: &HashMap<usize, usize>,
        spans: &mut Vec<ChangedSpan>,
    ) {
        let (here, there) = (span(self.former, &hunk.before), self.later_span(&hunk.after));
        for group in groups(hunk.before.clone(), |before| !moved_from.contains_key(&before)) {
            let former = span(self.former, &group);
            spans.push(ChangedSpan { change: TextChange::Removed, former, later: there.at_start() });
        }
        for group in groups(hunk.after.clone(), |after| !moved_to.contains_key(&after)) {
            let later = span(self.later, &group);
            spans.push(ChangedSpan { change: TextChange::Added, former: here.at_end(), later });
        }
        let mut moved: Vec<(Range<usize>, Range<usize>)> = Vec::new();
        for after in hunk.after.clone() {
            let Some(before) = moved_to.get(&after) else { continue };
            match moved.last_mut() {
                Some((former, later)) if former.end == *before && later.end == after => {
                    (former.end, later.end) = (before + 1, after + 1);
                }
                _ => moved.push((*before..before + 1, after..after + 1)),
            }
        }
        spans.extend(moved.into_iter().map(|(former, later)| ChangedSpan {
            change: TextChange::Moved,
            former: span(self.former, &former),
            later: self.later_span(&later),
        }));
    }
}

/// Adjacent positions that are wanted.
fn groups(mut positions: Range<usize>, is_wanted: impl Fn(usize) -> bool) -> Vec<Range<usize>> {
    let mut groups: Vec<Range<usize>> = Vec::new();
    for at in positions.by_ref().filter(|at| is_wanted(*at)) {
        match groups.last_mut() {
            Some(last) if last.end == at => last.end = at + 1,
            _ => groups.push(at..at + 1),
        }
    }
    groups
}

/// From the first to the last of some sentences; if there are none, the end of the one before.
fn span(all: &[SentenceText<'_>], sentences: &Range<usize>) -> TextSpan {
    let some = all.get(sentences.clone()).unwrap_or_default();
    if let (Some(first), Some(last)) = (some.first(), some.last()) {
        return TextSpan { start_offset: first.place.start, end_offset: last.place.end };
    }
    let before = sentences.start.checked_sub(1).and_then(|at| all.get(at)).map_or(0, |sentence| sentence.place.end);
    TextSpan { start_offset: before, end_offset: before }
}

impl TextSpan {
    const fn at_start(self) -> Self {
        Self { end_offset: self.start_offset, ..self }
    }

    const fn at_end(self) -> Self {
        Self { start_offset: self.end_offset, ..self }
    }
}

/// The sentences and lines of a text that are not blank. A sentence ends with its punctuation before white space.
fn sentences(text: &str) -> Vec<SentenceText<'_>> {
    let mut found = Vec::new();
    // Where the sentence begins, in bytes and in scalar values, and where its last visible character ends.
    let mut open: Option<(usize, usize, usize, usize)> = None;
    let mut is_ending = false;
    let mut close = |open: &mut Option<(usize, usize, usize, usize)>, is_end: bool| {
        if found.len() + 1 >= MAX_SENTENCES && !is_end {
            return;
        }
        if let Some((from, start, to, end)) = open.take() {
            found.push(SentenceText { place: start..end, words: one_spaced(&text[from..to]) });
        }
    };
    for (at, (byte, c)) in text.char_indices().enumerate() {
        if c.is_whitespace() {
            if c == '\n' || is_ending {
                close(&mut open, false);
            }
            is_ending = false;
            continue;
        }
        let (from, start) = open.map_or((byte, at), |(from, start, ..)| (from, start));
        open = Some((from, start, byte + c.len_utf8(), at + 1));
        // Closing quotes and brackets belong to the sentence that ends in them. Some scripts put no space behind a full stop.
        is_ending =
            matches!(c, '.' | '!' | '?' | '؟' | '।') || is_ending && matches!(c, '"' | '”' | '’' | ')' | ']' | '»');
        if matches!(c, '。' | '！' | '？') {
            close(&mut open, false);
        }
    }
    close(&mut open, true);
    found
}

/// Words with one space between them.
fn one_spaced(words: &str) -> Cow<'_, str> {
    let is_so = !words.contains("  ") && words.chars().all(|c| c == ' ' || !c.is_whitespace());
    if is_so { Cow::Borrowed(words) } else { Cow::Owned(words.split_whitespace().collect::<Vec<_>>().join(" ")) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn part(text: &str, span: TextSpan) -> String {
        text.chars().skip(span.start_offset).take(span.end_offset - span.start_offset).collect()
    }

    fn told(former: &str, later: &str) -> Vec<(TextChange, String, String)> {
        let spans = TextComparison::of(former, later).spans();
        spans.iter().map(|one| (one.change, part(former, one.former), part(later, one.later))).collect()
    }

    fn place(former: &str, later: &str, quote: &str) -> Option<String> {
        let start = former.find(quote).map(|byte| former[..byte].chars().count()).unwrap();
        let found = TextComparison::of(former, later).later_place(&(start..start + quote.chars().count()))?;
        Some(part(later, TextSpan { start_offset: found.start, end_offset: found.end }))
    }

    const FORMER: &str =
        "Scope\nThe lift stops at each floor. Doors open within 2 seconds.\n\nThe cabin has a mirror on its back wall.";

    #[test]
    fn equal_texts_differ_in_nothing_however_they_are_spaced() {
        assert_eq!(told(FORMER, FORMER), []);
        let spaced = FORMER.replace(". Doors", ".\n\n  Doors").replace("Scope\n", "Scope\n\n");
        assert_eq!(told(FORMER, &spaced), []);
        assert_eq!(
            place(FORMER, &spaced, "Doors open within 2 seconds."),
            Some("Doors open within 2 seconds.".to_owned())
        );
    }

    #[test]
    fn added_removed_and_replaced_sentences_are_told_where_they_stand() {
        let later = "Scope\nThe lift stops at each floor. Doors open within 5 seconds.\nIt is grey.\n\n\
            The cabin has a mirror on its back wall.";
        let (removed, added) = (TextChange::Removed, TextChange::Added);
        assert_eq!(
            told(FORMER, later),
            [
                (removed, "Doors open within 2 seconds.".to_owned(), String::new()),
                (added, String::new(), "Doors open within 5 seconds.\nIt is grey.".to_owned()),
            ]
        );
        assert_eq!(told("", "One.\nTwo."), [(added, String::new(), "One.\nTwo.".to_owned())]);
        assert_eq!(told("One.\nTwo.", "One."), [(removed, "Two.".to_owned(), String::new())]);
        let now = place(FORMER, later, "open within 2 seconds");
        assert_eq!(now.as_deref(), Some("Doors open within 5 seconds.\nIt is grey."), "what stands in its place");
        assert_eq!(place("One.\nTwo.", "One.", "Two."), None);
    }

    #[test]
    fn what_stands_elsewhere_has_moved() {
        let later = "The cabin has a mirror on its back wall.\nScope\nThe lift stops at each floor. Doors open within 2 seconds.";
        let mirror = "The cabin has a mirror on its back wall.".to_owned();
        assert_eq!(told(FORMER, later), [(TextChange::Moved, mirror.clone(), mirror)]);
        assert_eq!(place(FORMER, later, "a mirror"), Some("a mirror".to_owned()));
        assert_eq!(told("Yes.\nNo.\nMaybe.", "No.\nMaybe.\nYes.").len(), 2, "a short one is no move");
    }

    #[test]
    fn a_part_is_found_again_behind_letters_of_other_scripts() {
        let (former, later) =
            ("Żółć. Le café ferme à huit heures.", "Ein neuer Satz. Żółć. Le café ferme à huit heures.");
        assert_eq!(place(former, later, "café ferme"), Some("café ferme".to_owned()));
        assert_eq!(
            told("今日は。明日は。", "今日は。昨日は。明日は。"),
            [(TextChange::Added, String::new(), "昨日は。".to_owned())]
        );
    }

    #[test]
    fn many_lines_of_which_every_second_one_differs_are_compared_at_once() {
        let lines = |other: &str| -> String {
            (0..2 * MAX_SENTENCES).map(|n| format!("{}{n}\n", if n % 2 == 0 { other } else { "line " })).collect()
        };
        let (former, later) = (lines("old "), lines("new "));
        let comparison = TextComparison::of(&former, &later);
        assert_eq!(comparison.sentences.len(), MAX_SENTENCES, "the rest is one");
        assert_eq!(comparison.spans().len(), MAX_SPANS);
    }

    #[test]
    fn another_text_stands_in_no_ones_place() {
        let of = |word: &str| -> String { (0..9).map(|n| format!("{word} {n}.\n")).collect() };
        assert_eq!(place(&of("Old"), &of("New"), "Old 4."), None);
    }

    #[test]
    fn too_many_spans_are_joined() {
        let lines = |other: &str| -> String {
            (0..3 * MAX_SPANS).map(|n| format!("{}{n}\n", if n % 2 == 0 { other } else { "line " })).collect()
        };
        let (former, later) = (lines("old "), lines("new "));
        let spans = TextComparison::of(&former, &later).spans();
        assert_eq!(spans.len(), MAX_SPANS);
        let last = format!("new {}\n", 3 * MAX_SPANS - 2);
        assert!(part(&later, spans[MAX_SPANS - 1].later).ends_with(last.trim_end()));
        assert!(part(&former, spans[MAX_SPANS - 2].former).contains("old 3000"));
    }

    proptest! {
        #[test]
        fn what_is_in_no_span_is_the_same_in_both(
            former in "[a-c]{1,3}([. \n]{1,2}[a-c]{1,3}){0,20}",
            later in "[a-c]{1,3}([. \n]{1,2}[a-c]{1,3}){0,20}",
        ) {
            let spans = TextComparison::of(&former, &later).spans();
            let rest = |text: &str, of: fn(&ChangedSpan) -> TextSpan| -> String {
                let is_in = |at: usize| spans.iter().any(|one| (of(one).start_offset..of(one).end_offset).contains(&at));
                let kept: String = text.chars().enumerate().filter(|(at, _)| !is_in(*at)).map(|(_, c)| c).collect();
                kept.split_whitespace().collect()
            };
            prop_assert_eq!(rest(&former, |one| one.former), rest(&later, |one| one.later));
        }

        #[test]
        fn any_part_has_a_place_within_the_later_text_or_none(
            former in "\\PC{0,60}", later in "\\PC{0,60}", start in 0usize..60, length in 1usize..30,
        ) {
            if let Some(found) = TextComparison::of(&former, &later).later_place(&(start..start + length)) {
                prop_assert!(found.start <= found.end && found.end <= later.chars().count());
            }
        }
    }
}
