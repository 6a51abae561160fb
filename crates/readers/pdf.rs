//! PDF reader: takes glyphs with position and size from `pdf-extract` and derives lines, paragraphs, headings and
//! running lines (headers and footers) by its own rules.
//!
//! `pdf_oxide` 0.3 (MIT or Apache-2.0) was compared on nine files, by the share of pdftotext's words and of its word
//! triples in order:
//!
//! | file | pdf-extract as it is | pdf_oxide | this reader |
//! | --- | --- | --- | --- |
//! | LibreOffice print, 8 pages | 1.000 / .999 / 0.06 s | 1.000 / 1.000 / 0.05 s | 1.000 / .999 / 0.08 s |
//! | Chromium print, 7 pages | .982 / .941 / 0.12 s | .999 / .987 / 0.22 s | .977 / .985 / 0.11 s (no running lines) |
//! | two justified columns | .989 / .965 / 0.02 s | 1.000 / .994 / 0.03 s | .999 / .995 / 0.04 s |
//! | table, Chromium | .981 / .689 / 0.04 s | .999 / .728 / 0.07 s | .967 / .733 / 0.03 s (no running lines) |
//! | table, LibreOffice | .984 / .687 / 0.01 s | .984 / .797 / 0.03 s | .982 / .695 / 0.02 s |
//! | Arabic, Chromium | .023 / .017 / 0.03 s | .851 / .591 / 0.04 s | .944 / .892 / 0.05 s |
//! | Arabic, LibreOffice | .000 / .000 / 0.01 s | 1.000 / .006 / 0.02 s | .949 / .897 / 0.01 s |
//! | user's password | refused | empty text, no error | refused |
//! | owner's password only | .982 / .941 / 0.12 s | .999 / .987 / 0.20 s | .977 / .985 / 0.13 s |
//!
//! (Debug build; neither panicked. pdftotext itself reverses Arabic ligatures, so about .95 is the most that can be
//! reached.)
//! pdf-extract was chosen: it is MIT and brings 72 crates against 189 with 450,000 lines that took minutes to compile;
//! what its plain output lacks (spaces by real gaps, right-to-left order) is derived from its glyphs, which also have
//! font sizes.
//!
//! `hayro-interpret` 0.9.0 (Apache-2.0 or MIT, Rust 1.92) was tried in November 2026 in place of pdf-extract and of the second
//! walk in `pdf_steps`: one device of 290 lines took glyphs, grounds, pictures and clips. Of all samples the texts, offsets,
//! sections and counts of hidden characters were the same, and it read what pdf-extract can't: forms that name a font as
//! their page does, a wrong `startxref`, bytes behind the end, predefined CMaps, values of form fields. It was not taken:
//!
//! - The ladder "resources that all pages have" breaks. `Pdf::new` parses the resources of every page before anything can be
//!   checked or stopped: 240, 480 and 960 pages took 6, 24 and 90 ms, 4,000 pages 1.6 s and 8,000 (933 kB) 6.5 s, where this
//!   reader takes 0.6 and 1 s. It is the same with fonts that all pages inherit.
//! - It does not count its steps, and a device can't end a page. Forms within forms that double (2,900 bytes, 16 deep) took
//!   0.3 s and some twice as long with each level; `/W[0 40000000 500]` in a font made 882 bytes take 4.9 s and 890 MB.
//! - Text in layers that are switched off, and forms without a `BBox`, never reach the device: lost, and not counted as hidden.
//! - Circles in the page tree and missing contents are passed over in silence; this reader refuses such files.
//!
//! The second and the last could be mended by checks before, as `pdf_bounds` does them; the first can't. Once pages parse
//! their resources when asked it is worth trying again: it would save some 500 lines and `ttf-parser`. Until then lopdf stays at
//! 0.42, which pdf-extract 0.12.1, the newest, requires; from 0.44 it does without `ttf-parser` and bounds what it unpacks.
//!
//! Text that nobody sees on the page is left out and counted; `pdf_sight` says what that is.
//!
//! Text drawn on the page is read in the file's order (word processors and browsers print columns one after the other
//! and wrapped table cells cell by cell). A document with one unreadable page is rejected as a whole: a partial text
//! would be taken for the complete one. A hostile file can still exhaust the stack or the memory, which is why this
//! runs in a child process.

use std::collections::{HashMap, HashSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::LazyLock;

use pdf_extract::{Document, output_doc};
use regex::Regex;

use super::draft::TextDraft;
use super::pdf_bounds;
use super::pdf_lines::{GlyphLine, is_rtl_text};
use super::pdf_pages::{Printed, PrintedPage, Printer};
use super::source::{BlockKind, SourceText, Unreadable, UnreadableReason};
use super::text::{heading_level, is_list_item};

/// Reads a PDF.
///
/// # Errors
/// `Encrypted`, `Damaged`, `Empty` without text that is seen, or `TooLarge`.
pub fn read(bytes: &[u8]) -> Result<SourceText, Unreadable> {
    let mut printed = Printed::default();
    // pdf-extract panics on many files that are merely unusual. After a panic, only the page number is used of the
    // state that it changed.
    match catch_unwind(AssertUnwindSafe(|| print(bytes, &mut printed))) {
        Ok(done) => done?,
        Err(_) => return Err(broken_page(&printed)),
    }
    let pages: Vec<PrintedPage> = printed.pages;
    if pages.iter().all(|page| page.lines.is_empty()) {
        let is_hidden = pages.iter().any(|page| !page.hidden.trim().is_empty());
        let message = if is_hidden {
            "The text of this PDF is hidden: white, tiny, outside of its pages or not painted."
        } else {
            "This PDF has no text layer; scanned pages are not read."
        };
        return Err(Unreadable::new(UnreadableReason::Empty, message));
    }
    written(&pages)
}

fn print(bytes: &[u8], printed: &mut Printed) -> Result<(), Unreadable> {
    let damaged = || Unreadable::new(UnreadableReason::Damaged, "This PDF is damaged and cannot be opened.");
    let encrypted = || Unreadable::new(UnreadableReason::Encrypted, "This PDF is protected by a password.");
    let mut document = match Document::load_mem(bytes) {
        Ok(document) => document,
        Err(pdf_extract::Error::Decryption(_) | pdf_extract::Error::InvalidPassword) => return Err(encrypted()),
        Err(_) => return Err(damaged()),
    };
    // Many files have an owner's password only; these can be opened with an empty password.
    if document.is_encrypted() && document.decrypt("").is_err() {
        return Err(encrypted());
    }
    if document.get_pages().is_empty() {
        return Err(damaged());
    }
    pdf_bounds::strip_unused(&mut document);
    pdf_bounds::check(&document, bytes.len())?;
    let outcome = output_doc(&document, &mut Printer::new(&document, printed));
    outcome.map_err(|_| broken_page(printed))
}

fn broken_page(printed: &Printed) -> Unreadable {
    let message = match printed.pages.len() + usize::from(printed.is_open) {
        0 => "This PDF is damaged and cannot be opened.".to_owned(),
        page => format!("Page {page} of this PDF cannot be read."),
    };
    Unreadable::new(UnreadableReason::Damaged, message)
}

/// Layout properties computed from the lines of all pages.
struct Layout {
    /// Font size of most characters.
    body: f64,
    /// Font sizes of headings, largest first.
    titles: Vec<f64>,
    /// Usual distance of baselines within a paragraph, as a multiple of the font size.
    leading: f64,
    running: HashSet<String>,
    /// All words of the document, to tell a hyphenated compound from a word that was hyphenated at a line end.
    words: HashSet<String>,
}

impl Layout {
    fn of(pages: &[PrintedPage]) -> Self {
        let all = || pages.iter().flat_map(|page| &page.lines);
        let mut chars: HashMap<i64, usize> = HashMap::new();
        for line in all() {
            *chars.entry(halves(line.size)).or_default() += line.text().chars().count();
        }
        let body =
            chars.iter().max_by_key(|(size, count)| (**count, -**size)).map_or(10.0, |(size, _)| *size as f64 / 2.0);
        let mut titles: Vec<i64> = chars.keys().copied().filter(|size| *size as f64 / 2.0 >= body * TITLE).collect();
        titles.sort_unstable_by(|a, b| b.cmp(a));
        let words = all()
            .flat_map(|line| line.cells.iter())
            .flat_map(|cell| cell.split_whitespace())
            .map(|word| bare(word).to_lowercase())
            .collect();
        Self {
            body,
            titles: titles.into_iter().map(|size| size as f64 / 2.0).collect(),
            leading: leading(pages, body),
            running: running(pages),
            words,
        }
    }

    fn level(&self, line: &GlyphLine) -> Option<u8> {
        let text = line.text();
        let size = halves(line.size) as f64 / 2.0;
        let has_letters = text.chars().any(char::is_alphabetic);
        if size >= self.body * TITLE && has_letters && text.chars().count() <= 200 {
            // Binary search, as there may be as many sizes as lines; the list is sorted from largest to smallest.
            let rank = self.titles.partition_point(|title| *title > size);
            return (rank < self.titles.len()).then_some(rank.min(5) as u8 + 1);
        }
        if size < self.body * 0.95 || line.cells.len() > 1 {
            return None;
        }
        let depth = heading_level(&text)?;
        Some((self.titles.len().min(5) as u8 + depth).min(9))
    }
}

/// Minimum font size of a heading as a multiple of the body's.
const TITLE: f64 = 1.12;
/// Height of the top and bottom margin, where running lines stand, as a share of the page's height.
const MARGIN: f64 = 0.12;

fn halves(size: f64) -> i64 {
    (size * 2.0).round() as i64
}

fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}

fn leading(pages: &[PrintedPage], body: f64) -> f64 {
    let mut seen: Vec<f64> = Vec::new();
    for page in pages {
        for (line, next) in page.lines.iter().zip(page.lines.iter().skip(1)) {
            let distance = (next.y - line.y) / line.size;
            if halves(line.size) == halves(body) && halves(next.size) == halves(body) && (0.8..2.5).contains(&distance)
            {
                seen.push(distance);
            }
        }
    }
    seen.sort_by(f64::total_cmp);
    // Single-line paragraphs are common, so the lower third of the distances is taken as within paragraphs.
    seen.get(seen.len() / 3).copied().unwrap_or(1.2)
}

/// Whether a line is in the top or bottom margin and on one of the page's first or last two baselines. The second
/// condition excludes table rows on a page that a table fills, which also resemble each other.
fn in_margin(line: &GlyphLine, page: &PrintedPage) -> bool {
    let band = (page.bottom - page.top) * MARGIN;
    (line.y < page.top + band && line.y <= page.second) || (line.y > page.bottom - band && line.y >= page.second_last)
}

/// Returns the keys of lines in the margin that occur, digits aside, at the same height on at least half of the pages
/// and on at least two.
fn running(pages: &[PrintedPage]) -> HashSet<String> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for page in pages {
        let keys: HashSet<String> = page.lines.iter().filter(|line| in_margin(line, page)).map(key).collect();
        for key in keys {
            *counts.entry(key).or_default() += 1;
        }
    }
    let enough = pages.len().div_ceil(2).max(2);
    counts.into_iter().filter(|(_, count)| *count >= enough).map(|(key, _)| key).collect()
}

/// Identifies a line across pages: same words, digits aside, and the same height to two points.
fn key(line: &GlyphLine) -> String {
    let words: String = line.text().chars().map(|c| if c.is_numeric() { '#' } else { c }).collect();
    let mut key = format!("{:.0} {words}", line.y / 2.0);
    while key.contains("##") {
        key = key.replace("##", "#");
    }
    key
}

fn is_page_number(text: &str) -> bool {
    static NUMBER: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?i)^[-–|\s]*(?:page|seite|p\.)?\s*(?:\d{1,4}|[ivxl]{1,6})(?:\s*(?:/|of|von|de|\|)\s*\d{1,4})?[-–|\s]*$",
        )
        .ok()
    });
    NUMBER.as_ref().is_some_and(|number| number.is_match(text))
}

/// The line written last, used to decide whether the next one continues its block.
struct LastLine<'a> {
    line: &'a GlyphLine,
    kind: BlockKind,
    page: usize,
    /// The right edge of the lines around this one.
    right: f64,
    level: Option<u8>,
}

fn written(pages: &[PrintedPage]) -> Result<SourceText, Unreadable> {
    let layout = Layout::of(pages);
    let mut draft = TextDraft::default();
    let mut open: Option<LastLine> = None;
    let mut running_seen: HashSet<String> = HashSet::new();
    for (at, page) in pages.iter().enumerate() {
        draft.page(u32::try_from(at + 1).unwrap_or(u32::MAX));
        draft.hide(&page.hidden);
        // Running lines are written first, on the page where they first occur, so that they do not split a sentence.
        let (margins, lines): (Vec<&GlyphLine>, Vec<&GlyphLine>) =
            page.lines.iter().partition(|line| is_running(line, page, &layout));
        for line in margins {
            if !is_page_number(&line.text()) && running_seen.insert(key(line)) {
                draft.block(BlockKind::Boilerplate, &line.text());
                open = None;
            }
        }
        for (position, line) in lines.iter().enumerate() {
            let right = right_edge(&lines, position);
            open = Some(write(&mut draft, &layout, open, line, at, right));
        }
    }
    draft.finish()
}

fn is_running(line: &GlyphLine, page: &PrintedPage, layout: &Layout) -> bool {
    in_margin(line, page) && (layout.running.contains(&key(line)) || is_page_number(&line.text()))
}

/// Returns the right edge of the neighbouring lines that start at about the same `x` as this one.
fn right_edge(lines: &[&GlyphLine], position: usize) -> f64 {
    const AROUND: usize = 30;
    let Some(line) = lines.get(position) else { return 0.0 };
    let near = lines.iter().skip(position.saturating_sub(AROUND)).take(2 * AROUND);
    near.filter(|other| (other.x - line.x).abs() < 4.0 * line.size && other.cells.len() == 1)
        .map(|other| other.x_end)
        .fold(line.x_end, f64::max)
}

fn write<'a>(
    draft: &mut TextDraft,
    layout: &Layout,
    open: Option<LastLine<'a>>,
    line: &'a GlyphLine,
    page: usize,
    right: f64,
) -> LastLine<'a> {
    let text = line.text();
    let level = layout.level(line);
    if let Some(before) = &open
        && continues_block(before, line, level, page, draft, layout)
    {
        join(draft, layout, before, &text);
        return LastLine { line, kind: before.kind, page, right: before.right.max(right), level };
    }
    let kind = if line.cells.len() > 1 {
        BlockKind::TableRow
    } else if level.is_some() {
        BlockKind::Heading
    } else if is_list_item(&text) {
        BlockKind::ListItem
    } else {
        BlockKind::Paragraph
    };
    match level {
        Some(level) if kind == BlockKind::Heading => draft.heading(level, &text),
        _ => draft.block(kind, &text),
    }
    LastLine { line, kind, page, right, level: level.filter(|_| kind == BlockKind::Heading) }
}

/// Whether a line continues the block before it.
fn continues_block(
    before: &LastLine,
    line: &GlyphLine,
    level: Option<u8>,
    page: usize,
    draft: &TextDraft,
    layout: &Layout,
) -> bool {
    let same_size = halves(before.line.size).abs_diff(halves(line.size)) <= 1;
    if line.cells.len() > 1 || !same_size {
        return false;
    }
    let distance = (line.y - before.line.y) / line.size;
    let follows = page == before.page && distance > 0.3 && distance <= (layout.leading * 1.25).max(1.25);
    if before.kind == BlockKind::TableRow {
        // The row's last cell wraps. Any other cell that wraps is drawn before the next cell and stays a block of its
        // own.
        return follows && (line.x - before.line.last_cell_x).abs() < 0.5 * line.size;
    }
    if is_list_item(&line.text()) {
        return false;
    }
    if before.kind == BlockKind::Heading {
        // A long heading wraps; a numbered line starts a new heading.
        return follows
            && level == before.level
            && line.size > layout.body * TITLE
            && heading_level(&line.text()).is_none();
    }
    if level.is_some() {
        return false;
    }
    let starts_small = line.text().chars().next().is_some_and(char::is_lowercase);
    let is_full_line = before.line.x_end + 0.25 * line.size + line.first_word_width() > before.right - 0.3 * line.size;
    let is_aligned = (line.x - before.line.x).abs() < 4.0 * line.size;
    // Right-to-left lines start at the right and are ragged at the left.
    let line_is_rtl = is_rtl_text(&line.text());
    if follows {
        return starts_small || (is_full_line && (is_aligned || line_is_rtl));
    }
    // Across a column or page break, only a line that clearly continues the same sentence is joined.
    let crosses_break = page != before.page || distance < 0.0;
    crosses_break && starts_small && !draft.ends_with(|c| matches!(c, '.' | '!' | '?' | ':' | ';'))
}

/// Appends a line to the open block and removes a hyphenation at the line end.
fn join(draft: &mut TextDraft, layout: &Layout, before: &LastLine, text: &str) {
    if before.kind == BlockKind::Heading {
        draft.append_heading(text);
        return;
    }
    let soft = draft.ends_with(|c| c == '\u{ad}');
    let hard = draft.ends_with(|c| matches!(c, '-' | '\u{2010}'));
    if !soft && !hard {
        return draft.append(" ", text);
    }
    let previous = before.line.text();
    let head = previous.split_whitespace().next_back().unwrap_or_default();
    let stem = head.trim_end_matches(['-', '\u{2010}', '\u{ad}']);
    let tail = text.split_whitespace().next().unwrap_or_default();
    let broken = stem.chars().next_back().is_some_and(char::is_alphabetic) && tail.starts_with(char::is_lowercase);
    if !broken {
        return draft.append(if stem.is_empty() { " " } else { "" }, text);
    }
    if ["and", "or", "und", "oder", "et", "ou"].contains(&tail) {
        return draft.append(" ", text);
    }
    let whole = bare(&format!("{stem}{tail}")).to_lowercase();
    let compound = bare(&format!("{stem}-{tail}")).to_lowercase();
    let keeps_hyphen = stem.contains('-') || (layout.words.contains(&compound) && !layout.words.contains(&whole));
    if soft || !keeps_hyphen {
        draft.remove_trailing('\u{ad}');
        draft.remove_trailing('-');
        draft.remove_trailing('\u{2010}');
    }
    draft.append("", text);
}
