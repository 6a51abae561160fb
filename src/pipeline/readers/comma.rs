//! CSV: one TABLE_ROW block a record, `name: value | name: value` when the first record names the columns, else `value | value`.
//!
//! The names stand before the values because a cell alone ("High", "yes") says nothing to whoever reads the row by itself; the values
//! are verbatim. The record of names is itself a Boilerplate block. The delimiter is the one of `,` `;` tab that parts the first
//! lines most evenly.

use super::draft::{Draft, printable};
use super::source::{BlockKind, Reason, SourceText, Unreadable};

/// Reads CSV.
pub fn read(text: &str) -> Result<SourceText, Unreadable> {
    let text = text.trim_start_matches('\u{feff}');
    let mut records = csv::ReaderBuilder::new()
        .has_headers(false)
        .flexible(true)
        .delimiter(delimiter(text))
        .from_reader(text.as_bytes())
        .into_records();
    let mut draft = Draft::default();
    let Some(first) = records.next().transpose().map_err(damaged)? else { return draft.finish() };
    let first = cells(&first);
    let names = if are_names(&first) {
        draft.block(BlockKind::Boilerplate, &first.join(" | "));
        first
    } else {
        draft.block(BlockKind::TableRow, &filled(&first, &[]));
        Vec::new()
    };
    for record in records {
        if draft.is_full() {
            break;
        }
        draft.block(BlockKind::TableRow, &filled(&cells(&record.map_err(damaged)?), &names));
    }
    draft.finish()
}

/// A line end in a cell becomes a space: a row is one line.
fn cells(record: &csv::StringRecord) -> Vec<String> {
    record.iter().map(|cell| printable(cell).split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}

fn filled(cells: &[String], names: &[String]) -> String {
    let named = |(at, value): (usize, &String)| match names.get(at) {
        Some(name) => format!("{name}: {value}"),
        None => value.clone(),
    };
    cells.iter().enumerate().filter(|(_, value)| !value.is_empty()).map(named).collect::<Vec<_>>().join(" | ")
}

/// Characters of a column's name: it is written again in every row.
const NAME: usize = 80;

/// Names are short, all there, all different and no numbers; a single column has none unless it is one or two words.
fn are_names(cells: &[String]) -> bool {
    let distinct: std::collections::HashSet<&String> = cells.iter().collect();
    let longest_name = if cells.len() == 1 { 2 } else { 5 };
    distinct.len() == cells.len()
        && cells.iter().all(|cell| {
            cell.chars().any(char::is_alphabetic)
                && cell.chars().count() <= NAME
                && cell.split_whitespace().count() <= longest_name
                && !cell.ends_with(['.', '!', '?'])
        })
}

fn delimiter(text: &str) -> u8 {
    let head: Vec<&str> = text.lines().take(20).filter(|line| !line.trim().is_empty()).collect();
    let evenness = |delimiter: &u8| {
        let counts = head.iter().map(|line| line.bytes().filter(|byte| byte == delimiter).count());
        let (least, total) = counts.fold((usize::MAX, 0), |(least, total), count| (least.min(count), total + count));
        (least.min(1), total)
    };
    // The comma comes last: of equals, max_by_key takes the last.
    b";\t,".iter().max_by_key(|delimiter| evenness(delimiter)).copied().unwrap_or(b',')
}

fn damaged(_: csv::Error) -> Unreadable {
    Unreadable::new(Reason::Damaged, "This CSV file breaks off or quotes its cells wrongly.")
}
