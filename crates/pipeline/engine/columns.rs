//! The columns of tables: the name at the head of each cell's column.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::index::{BlockContext, Index};
use super::sentence::{PreparedSentence, plain};

/// Maximum characters of a column's name.
const MAX_NAME_LENGTH: usize = 80;

/// Gives each cell the name of its column: what stands in the table's first row at the same place in its row. A cell of
/// more than one sentence shifts those behind it. In a source that names the column in each cell ("priority: high"), as
/// the readers of CSV and of workbooks write it, the name is taken from there, and off the cell's words. The line that
/// lists the names stands at the beginning of a source, or before the first row that has them.
pub fn name(index: &Index, sentences: &mut [PreparedSentence]) {
    let (mut first_row, mut block, mut row_start): (Vec<Arc<str>>, Option<usize>, usize) = (Vec::new(), None, 0);
    let mut is_first_row = true;
    let mut named: HashMap<usize, HashSet<String>> = HashMap::new();
    // The names that the line before this sentence lists.
    let mut listed: Vec<String> = Vec::new();
    for (at, (place, sentence)) in index.sentences.iter().zip(sentences).enumerate() {
        if sentence.context == BlockContext::Boilerplate && place.start == 0 {
            named.insert(place.slot, sentence.words.split(" | ").map(str::to_owned).collect());
        }
        if sentence.context != BlockContext::Cell {
            if sentence.context != BlockContext::Boilerplate || block.take().is_some() {
                listed.clear();
            }
            if sentence.context == BlockContext::Boilerplate {
                listed.extend(
                    sentence.words.split('|').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned),
                );
            }
            first_row.clear();
            block = None;
            continue;
        }
        let listed = std::mem::take(&mut listed);
        if sentence.words.split_once(": ").is_some_and(|(name, _)| listed.iter().any(|listed| listed == name)) {
            named.entry(place.slot).or_default().extend(listed);
        }
        if block != Some(sentence.block) {
            is_first_row = first_row.is_empty();
            block = Some(sentence.block);
            row_start = at;
        }
        let own = sentence
            .words
            .split_once(": ")
            .filter(|(name, _)| named.get(&place.slot).is_some_and(|names| names.contains(*name)));
        if let Some((name, value)) = own {
            let (name, value) = (Arc::from(plain(name)), value.to_owned());
            sentence.column = Some(name);
            sentence.reword(value);
        } else if named.contains_key(&place.slot) {
            // The second sentence of a cell.
        } else if is_first_row {
            first_row.push(sentence.lower.chars().take(MAX_NAME_LENGTH).collect::<String>().into());
        } else {
            sentence.column = first_row.get(at - row_start).cloned();
        }
    }
}
