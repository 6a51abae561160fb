//! Evaluation of how well the rules separate requirement sentences from others, on a table that the user provides.

use std::io::{self, BufRead};

use super::corpus::PreparedSentence;
use super::index::BlockContext;
use super::{exclusions, need};

/// Counts over the rows of a table, and the measures derived from them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Score {
    /// Requirements found (true positives).
    pub hits: u32,
    /// Other sentences classified as requirements (false positives).
    pub false_alarms: u32,
    /// Requirements not found (false negatives).
    pub misses: u32,
    /// Other sentences not classified as requirements (true negatives).
    pub left_alone: u32,
    /// Rows without three columns or without 0 or 1 in the second.
    pub skipped: u32,
}

impl Score {
    /// Returns the F1 of the class "requirement".
    pub fn f1(&self) -> f64 {
        f1(self.hits, self.false_alarms, self.misses)
    }

    /// Returns the mean of both classes' F1.
    pub fn macro_f1(&self) -> f64 {
        f64::midpoint(self.f1(), f1(self.left_alone, self.misses, self.false_alarms))
    }

    pub fn precision(&self) -> f64 {
        share(self.hits, self.hits + self.false_alarms)
    }

    pub fn recall(&self) -> f64 {
        share(self.hits, self.hits + self.misses)
    }

    fn count(&mut self, truth: bool, found: bool) {
        match (truth, found) {
            (true, true) => self.hits += 1,
            (false, true) => self.false_alarms += 1,
            (true, false) => self.misses += 1,
            (false, false) => self.left_alone += 1,
        }
    }
}

/// Classifies each row of `document <TAB> is_requirement (0|1) <TAB> text`; a header row is ignored.
///
/// # Errors
/// An I/O error of the reader, including for a line that is not UTF-8.
pub fn score(tsv: impl BufRead) -> io::Result<Score> {
    let mut score = Score::default();
    for row in tsv.lines() {
        let row = row?;
        let mut columns = row.splitn(3, '\t');
        match (columns.next(), columns.next(), columns.next()) {
            (Some(_), Some(truth @ ("0" | "1")), Some(text)) => score.count(truth == "1", is_requirement(text)),
            (Some(_), Some("is_requirement"), _) => {}
            _ => score.skipped += 1,
        }
    }
    Ok(score)
}

/// Whether a sentence is a requirement by itself, without heading or neighbours.
fn is_requirement(text: &str) -> bool {
    let sentence = PreparedSentence::alone(text, BlockContext::Prose);
    !exclusions::is_excluded(&sentence) && need::likelihood(&sentence) >= need::THRESHOLD
}

fn f1(hits: u32, false_alarms: u32, misses: u32) -> f64 {
    share(2 * hits, 2 * hits + false_alarms + misses)
}

fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { f64::from(part) / f64::from(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_become_figures() {
        let table = "document\tis_requirement\ttext\na\t1\tThe system shall log in users.\na\t0\tThe weather is fine here today.\nbad\n";
        let score = score(table.as_bytes()).unwrap();
        assert_eq!((score.hits, score.left_alone, score.skipped), (1, 1, 1));
        assert!((score.macro_f1() - 1.0).abs() < 1e-9);
    }
}
