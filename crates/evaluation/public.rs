//! How well single sentences are judged, on tables of public sets that the user provides. They measure alone: nothing is
//! learnt from them.

use std::io::{self, BufRead};

use pipeline::engine::heads::{TrainedHeads, features_alone, of_requirement};
use pipeline::engine::{BlockContext, PreparedSentence, find};
use pipeline::result::{QualityCategory, RequirementType};

use super::tally::{Figure, bootstrapped};

/// A judged row: its true class and the class that was found.
pub type Judged = (usize, usize);

/// The judged rows of a table, and how many rows had another form.
#[derive(Debug, Default)]
pub struct JudgedRows {
    pub rows: Vec<Judged>,
    pub skipped: usize,
}

impl JudgedRows {
    /// Returns the mean F1 of `classes` classes, with its interval.
    #[must_use]
    pub fn macro_f1(&self, classes: usize) -> Figure {
        bootstrapped(&self.rows, |rows| {
            let mut sum = 0.0;
            for class in 0..classes {
                let [mut both, mut expected, mut found] = [0_u32; 3];
                for (truth, judged) in rows {
                    both += u32::from(*truth == class && *judged == class);
                    expected += u32::from(*truth == class);
                    found += u32::from(*judged == class);
                }
                sum += if expected + found == 0 { 0.0 } else { 2.0 * f64::from(both) / f64::from(expected + found) };
            }
            sum / f64::from(u32::try_from(classes).unwrap_or(u32::MAX))
        })
    }
}

/// Judges each row of `document <TAB> is_requirement (0|1) <TAB> text`: 1 for a requirement. A header row is ignored.
///
/// # Errors
/// An I/O error of the reader, including for a line that is not UTF-8.
pub fn requirements(table: impl BufRead) -> io::Result<JudgedRows> {
    judged(table, |class, text| {
        let truth = match class {
            "0" => 0,
            "1" => 1,
            _ => return None,
        };
        let sentence = PreparedSentence::alone(text, BlockContext::Prose);
        let is_found =
            find::is_candidate(&sentence) && TrainedHeads::trained().is_requirement(&features_alone(&sentence));
        Some((truth, usize::from(is_found)))
    })
}

/// Judges each row of `project <TAB> class <TAB> text` with the classes of the PROMISE set: 0 for a function, 1 for
/// everything else.
///
/// # Errors
/// As [`requirements`].
pub fn functions(table: impl BufRead) -> io::Result<JudgedRows> {
    judged(table, |class, text| {
        let truth = usize::from(is_quality(class)?);
        let (found, _) = TrainedHeads::trained().requirement_type(&of_requirement(text, "", None));
        Some((truth, usize::from(found != RequirementType::Functional)))
    })
}

/// The number of groups of [`quality_groups`].
pub const GROUPS: usize = 6;

/// Judges the quality of each row of a quality requirement: performance and scalability, usability and appearance,
/// availability and fault tolerance, security, maintainability, or operation and portability. A row that is found to be
/// of none of them has the class [`GROUPS`].
///
/// # Errors
/// As [`requirements`].
pub fn quality_groups(table: impl BufRead) -> io::Result<JudgedRows> {
    judged(table, |class, text| {
        let truth = group(class)?;
        let category = TrainedHeads::trained().quality(&of_requirement(text, "", None));
        Some((truth, category.map_or(GROUPS, found_group)))
    })
}

/// Whether a class of the PROMISE set is one of qualities; `None` for what is no class of it.
pub(super) fn is_quality(class: &str) -> Option<bool> {
    (class == "F" || group(class).is_some() || class == "L").then_some(class != "F")
}

pub(super) fn group(class: &str) -> Option<usize> {
    Some(match class {
        "PE" | "SC" => 0,
        "US" | "LF" => 1,
        "A" | "FT" => 2,
        "SE" => 3,
        "MN" => 4,
        "O" | "PO" => 5,
        _ => return None,
    })
}

const fn found_group(category: QualityCategory) -> usize {
    match category {
        QualityCategory::PerformanceEfficiency => 0,
        QualityCategory::Usability => 1,
        QualityCategory::Reliability => 2,
        QualityCategory::Security => 3,
        QualityCategory::Maintainability => 4,
        QualityCategory::Compatibility | QualityCategory::Portability => 5,
        QualityCategory::FunctionalSuitability => GROUPS,
    }
}

fn judged(table: impl BufRead, judge: impl Fn(&str, &str) -> Option<Judged>) -> io::Result<JudgedRows> {
    let mut judged = JudgedRows::default();
    for (at, row) in table.lines().enumerate() {
        let row = row?;
        let mut columns = row.splitn(3, '\t').skip(1);
        match columns.next().zip(columns.next()).and_then(|(class, text)| judge(class, text)) {
            Some(found) => judged.rows.push(found),
            None => judged.skipped += usize::from(at > 0),
        }
    }
    Ok(judged)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_figures() {
        let table = "document\tis_requirement\ttext\na\t1\tThe system shall log in users.\na\t0\tThe weather is fine here today.\nbad\n";
        let judged = requirements(table.as_bytes()).unwrap();
        assert_eq!((judged.rows.as_slice(), judged.skipped), ([(1, 1), (0, 0)].as_slice(), 1));
        assert!((judged.macro_f1(2).value - 1.0).abs() < 1e-9);
    }

    #[test]
    fn functions_are_told_from_qualities() {
        let table = "project\tclass\ttext\n1\tF\tThe system shall print a list of all members.\n\
            1\tSE\tPasswords shall be encrypted and access protected.\n1\tX\tWhat?\n";
        assert_eq!(functions(table.as_bytes()).unwrap().rows, [(0, 0), (1, 1)]);
        assert_eq!(quality_groups(table.as_bytes()).unwrap().rows, [(3, 3)]);
    }
}
