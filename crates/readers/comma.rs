//! CSV reader: one TABLE_ROW block per record, `name: value | name: value` if the first record names the columns, else
//! `value | value`.
//!
//! The column names precede the values because a single cell ("High", "yes") means nothing when its row is read in
//! isolation; the values are verbatim. The record of names becomes a Boilerplate block. The delimiter is the one of `,`
//! `;` tab that occurs in each of the first lines and most often in total.

use super::draft::{TextDraft, printable};
use super::source::{BlockKind, SourceText, Unreadable, UnreadableReason};

/// Reads CSV.
///
/// # Errors
/// `Damaged` for malformed CSV; `TooLarge` past a limit of [`TextDraft`].
pub fn read(text: &str) -> Result<SourceText, Unreadable> {
    let text = text.trim_start_matches('\u{feff}');
    let mut records = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes())
        .into_records();
    let mut draft = TextDraft::default();
    let Some(first) = records.next().transpose().map_err(damaged)? else { return draft.finish() };
    let first = cells(&first);
    let names = if are_names(&first) {
        draft.block(BlockKind::Boilerplate, &first.join(" | "));
        first
    } else {
        draft.block(BlockKind::TableRow, &filled(numbered(&first), &[]));
        Vec::new()
    };
    for record in records {
        if draft.is_full() {
            break;
        }
        draft.block(BlockKind::TableRow, &filled(numbered(&cells(&record.map_err(damaged)?)), &names));
    }
    draft.finish()
}

/// Returns the cells of a record. A line end in a cell becomes a space, so that a row is one line.
fn cells(record: &csv::StringRecord) -> Vec<String> {
    record.iter().map(|cell| printable(cell).split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn numbered(cells: &[String]) -> impl Iterator<Item = (usize, &str)> {
    cells.iter().map(String::as_str).enumerate()
}

/// Returns a row of cells, given with the numbers of their columns, each after its column's name where there is one.
pub fn filled<'a>(cells: impl Iterator<Item = (usize, &'a str)>, names: &[String]) -> String {
    let named = |(at, value): (usize, &str)| match names.get(at).filter(|name| !name.is_empty()) {
        Some(name) => format!("{name}: {value}"),
        None => value.to_owned(),
    };
    cells.filter(|(_, value)| !value.is_empty()).map(named).collect::<Vec<_>>().join(" | ")
}

/// Maximum characters of a column's name, which is repeated in every row.
const NAME: usize = 80;
/// Maximum bytes of a name that ends with a full stop.
const ABBREVIATION: usize = 4;

/// Whether the first record holds column names: all distinct, each short, with a letter and without a sentence's end
/// mark ("No." has one all the same). The name of a single column has at most two words, others at most five.
pub fn are_names(cells: &[String]) -> bool {
    let distinct: std::collections::HashSet<&String> = cells.iter().collect();
    let longest_name = if cells.len() == 1 { 2 } else { 5 };
    distinct.len() == cells.len()
        && cells.iter().all(|cell| {
            (cell.chars().any(char::is_alphabetic) || cell == "#")
                && cell.chars().count() <= NAME
                && cell.split_whitespace().count() <= longest_name
                && (!cell.ends_with(['.', '!', '?']) || cell.len() <= ABBREVIATION)
        })
}

fn delimiter(text: &str) -> u8 {
    let head: Vec<&str> = text.lines().take(20).filter(|line| !line.trim().is_empty()).collect();
    let evenness = |delimiter: &u8| {
        let counts = head.iter().map(|line| line.bytes().filter(|byte| byte == delimiter).count());
        let (least, total) = counts.fold((usize::MAX, 0), |(least, total), count| (least.min(count), total + count));
        (least.min(1), total)
    };
    // `max_by_key` returns the last of equal elements, so the comma, as the last, wins ties.
    b";\t,".iter().max_by_key(|delimiter| evenness(delimiter)).copied().unwrap_or(b',')
}

fn damaged(_: csv::Error) -> Unreadable {
    Unreadable::new(UnreadableReason::Damaged, "This CSV file breaks off or quotes its cells wrongly.")
}
