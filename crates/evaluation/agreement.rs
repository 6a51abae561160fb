//! How far two people who marked the same documents agree, sentence by sentence.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use pipeline::engine::{Indexer, Texts};
use pipeline::loop_control::{Halted, LoopControl};
use pipeline::request::{Bounds, CancelToken};

use super::corpus::{MarkedDocument, MarkedProject};
use super::marked::{MarkLabel, SourceMark};
use super::tally::MatchTally;

/// The name of a sentence without a mark.
const NOTHING: &str = "nothing";

/// Two markings of the same documents, compared.
#[derive(Debug, Default)]
pub struct Agreement {
    pub documents: usize,
    /// How many sentences each marking gave each name.
    sentences: BTreeMap<(&'static str, &'static str), u32>,
    /// The types of requirements that both found, the same and all.
    types: (u32, u32),
}

/// Compares the documents of the second marking with those of the same names in the first.
///
/// # Errors
/// A document that the first marking lacks, or whose text is another one there.
pub fn agreement(first: &[MarkedProject], second: &[MarkedProject]) -> Result<Agreement, String> {
    let known: BTreeMap<&str, &MarkedDocument> = first
        .iter()
        .flat_map(|project| &project.documents)
        .map(|document| (document.name.as_str(), document))
        .collect();
    let mut agreement = Agreement::default();
    for document in second.iter().flat_map(|project| &project.documents) {
        let name = &document.name;
        let other =
            known.get(name.as_str()).ok_or_else(|| format!("{name}: the first marking has no such document"))?;
        if other.text.source.text != document.text.source.text {
            return Err(format!("{name}: the text is another one in the first marking"));
        }
        // Nothing cancels this.
        let _halted = agreement.add(other, document);
    }
    Ok(agreement)
}

fn mark_of(document: &MarkedDocument, start: usize, end: usize) -> Option<&SourceMark> {
    let marks = document.text.marks.iter().filter(|mark| mark.covers(start, end));
    marks.max_by_key(|mark| mark.shared(start, end))
}

fn name_of(mark: Option<&SourceMark>) -> &'static str {
    match mark.map(|mark| mark.label) {
        None | Some(MarkLabel::More) => NOTHING,
        Some(MarkLabel::Action) => "action item",
        Some(MarkLabel::Decision | MarkLabel::Reversed) => "decision",
        Some(MarkLabel::Question) => "open question",
        Some(MarkLabel::Risk) => "risk",
        Some(MarkLabel::Order) => "order to a machine",
        Some(_) => "requirement",
    }
}

impl Agreement {
    fn add(&mut self, first: &MarkedDocument, second: &MarkedDocument) -> Result<(), Halted> {
        let control = LoopControl::new(CancelToken::new());
        let mut texts = Texts::default();
        texts.open(Arc::new(first.text.source.clone()));
        let mut indexer = Indexer::new(Bounds::default(), 0, &control);
        if let Some(text) = texts.get(0) {
            indexer.add(0, text)?;
        }
        for sentence in indexer.finish().sentences {
            let [one, other] = [first, second].map(|document| mark_of(document, sentence.start, sentence.end));
            *self.sentences.entry((name_of(one), name_of(other))).or_default() += 1;
            let types = [one, other].map(|mark| mark.and_then(|mark| mark.label.requirement()));
            if let [Some(one), Some(other)] = types {
                self.types.0 += u32::from(one == other);
                self.types.1 += 1;
            }
        }
        self.documents += 1;
        Ok(())
    }

    /// Returns Cohen's kappa: how much of the agreement that chance leaves open was reached.
    #[must_use]
    pub fn kappa(&self) -> f64 {
        let all = f64::from(self.sentences.values().sum::<u32>());
        let (mut rows, mut columns) = (BTreeMap::<&str, f64>::new(), BTreeMap::<&str, f64>::new());
        let mut same = 0.0;
        for ((one, other), count) in &self.sentences {
            *rows.entry(one).or_default() += f64::from(*count);
            *columns.entry(other).or_default() += f64::from(*count);
            same += if one == other { f64::from(*count) } else { 0.0 };
        }
        let chance: f64 =
            rows.iter().map(|(name, count)| count * columns.get(name).copied().unwrap_or(0.0)).sum::<f64>() / all / all;
        (same / all - chance) / (1.0 - chance)
    }

    /// Counts one name: the first marking is what is expected, the second what is found.
    fn tally(&self, name: &str) -> MatchTally {
        let mut tally = MatchTally::default();
        for ((one, other), count) in &self.sentences {
            let both = if *one == name && *other == name { *count } else { 0 };
            tally.expected += if *one == name { *count } else { 0 };
            tally.found += if *other == name { *count } else { 0 };
            tally.met += both;
            tally.right += both;
        }
        tally
    }
}

impl fmt::Display for Agreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sentences: u32 = self.sentences.values().sum();
        writeln!(f, "{} documents, {sentences} sentences, kappa {:.3}", self.documents, self.kappa())?;
        let names: BTreeSet<&str> =
            self.sentences.keys().flat_map(|(one, other)| [*one, *other]).filter(|name| *name != NOTHING).collect();
        for name in names {
            let tally = self.tally(name);
            writeln!(f, "{name:<24} F1 {:.3}  first {} second {}", tally.f1(), tally.expected, tally.found)?;
        }
        writeln!(f, "types of requirements    {} of {} the same", self.types.0, self.types.1)
    }
}

#[cfg(test)]
mod tests {
    use readers::Format;

    use super::super::marked::read_marked;
    use super::*;

    fn marking(marked: &str) -> Vec<MarkedProject> {
        let text = read_marked(Format::Text, marked).unwrap();
        let document = MarkedDocument { name: "a/b.txt".to_owned(), is_transcript: false, text };
        vec![MarkedProject { name: "a".to_owned(), documents: vec![document] }]
    }

    #[test]
    fn agreement_is_whole_with_oneself_and_less_with_others() {
        let one = marking("⟦R.F|It prints a list.⟧ It rains. ⟦K|It may fail.⟧ We laughed.");
        let other = marking("⟦R.N.PERF|It prints a list.⟧ It rains. It may fail. ⟦K|We laughed.⟧");
        let same = agreement(&one, &one).unwrap();
        assert!((same.kappa() - 1.0).abs() < 1e-9 && same.types == (1, 1));
        let less = agreement(&one, &other).unwrap();
        assert!(less.kappa() < 0.5 && less.types == (0, 1), "{less}");
    }

    #[test]
    fn another_text_is_not_compared() {
        assert!(agreement(&marking("It rains."), &marking("It snows.")).is_err());
    }
}
