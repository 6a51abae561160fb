//! How good the method is rather than the weights: heads that are taught by rows of a public set judge those of its other
//! documents. Such heads are thrown away; the engine's own are never taught by a public set.

use std::collections::BTreeMap;
use std::io::{self, BufRead};

use pipeline::engine::heads::{Features, LinearHead, TrainedHeads, features_alone, of_requirement};
use pipeline::engine::{BlockContext, PreparedSentence};

use super::public::{GROUPS, JudgedRows, group, is_quality};
use super::training::{Lesson, train};

/// What is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TableTask {
    /// A requirement or not, of rows `document <TAB> 0|1 <TAB> text`.
    Requirement,
    /// A function or a quality, of rows `project <TAB> class of the PROMISE set <TAB> text`.
    Function,
    /// Which group of qualities, of such rows.
    QualityGroup,
}

/// A row of a public set.
#[derive(Debug, Clone)]
pub struct TableRow {
    document: String,
    lesson: Lesson,
}

const BUCKETS: usize = 1 << 16;

impl TableTask {
    /// Returns how many classes there are.
    #[must_use]
    pub const fn classes(self) -> usize {
        match self {
            Self::Requirement | Self::Function => 2,
            Self::QualityGroup => GROUPS,
        }
    }

    fn class(self, name: &str) -> Option<usize> {
        match self {
            Self::Requirement => ["0", "1"].iter().position(|known| *known == name),
            Self::Function => is_quality(name).map(usize::from),
            Self::QualityGroup => group(name),
        }
    }

    /// Returns what is seen of a text, the judgement of the engine's own heads included.
    fn features(self, text: &str) -> Features {
        let (features, own, head): (Features, &str, &LinearHead) = match self {
            Self::Requirement => {
                let sentence = PreparedSentence::alone(text, BlockContext::Prose);
                (features_alone(&sentence), "kind", &TrainedHeads::trained().kinds)
            }
            Self::Function | Self::QualityGroup => {
                (of_requirement(text, "", None), "type", &TrainedHeads::trained().types)
            }
        };
        let probabilities = head.probabilities(&features);
        features.with_probabilities(own, &probabilities)
    }
}

/// Reads the rows of a table that are of the task.
///
/// # Errors
/// An I/O error of the reader, including for a line that is not UTF-8.
pub fn rows(task: TableTask, table: impl BufRead) -> io::Result<Vec<TableRow>> {
    let mut rows = Vec::new();
    for row in table.lines() {
        let row = row?;
        let columns: Vec<&str> = row.splitn(3, '\t').collect();
        if let [document, class, text] = columns.as_slice()
            && let Some(class) = task.class(class)
        {
            let lesson = Lesson { features: task.features(text), class, weight: 1.0 };
            rows.push(TableRow { document: (*document).to_owned(), lesson });
        }
    }
    Ok(rows)
}

/// Judges rows with a head that was taught by others.
#[must_use]
pub fn taught(task: TableTask, lessons: &[TableRow], rows: &[TableRow]) -> JudgedRows {
    let lessons: Vec<Lesson> = lessons.iter().map(|row| row.lesson.clone()).collect();
    let head = train(&lessons, task.classes(), BUCKETS);
    let judge = |row: &TableRow| {
        let probabilities = head.probabilities(&row.lesson.features);
        let best = probabilities.iter().enumerate().max_by(|one, other| one.1.total_cmp(other.1));
        (row.lesson.class, best.map_or(0, |(class, _)| class))
    };
    JudgedRows { rows: rows.iter().map(judge).collect(), skipped: 0 }
}

/// Judges every row with a head that was taught by the rows of other documents, divided into `parts`.
#[must_use]
pub fn crossed(task: TableTask, rows: &[TableRow], parts: usize) -> JudgedRows {
    let mut documents: BTreeMap<&str, usize> = BTreeMap::new();
    for row in rows {
        let next = documents.len();
        documents.entry(row.document.as_str()).or_insert(next);
    }
    let part_of = |row: &TableRow| documents.get(row.document.as_str()).map_or(0, |at| at % parts.max(1));
    let mut judged = JudgedRows::default();
    for part in 0..parts.max(1) {
        let (own, others): (Vec<TableRow>, Vec<TableRow>) = rows.iter().cloned().partition(|row| part_of(row) == part);
        judged.rows.extend(taught(task, &others, &own).rows);
    }
    judged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_judged_by_what_other_documents_teach() {
        let mut table = String::from("document\tis_requirement\ttext\n");
        for document in 0..6 {
            table.push_str(&format!("{document}\t1\tThe zorgle frobs the gate number {document}.\n"));
            table.push_str(&format!("{document}\t0\tOnce upon a time there was a king {document}.\n"));
        }
        let rows = rows(TableTask::Requirement, table.as_bytes()).unwrap();
        let judged = crossed(TableTask::Requirement, &rows, 3);
        assert_eq!(judged.rows.len(), 12);
        assert!(judged.rows.iter().all(|(truth, found)| truth == found));
    }
}
