//! Tests of the PDF reader on the samples and on generated pages.

use super::{BlockKind, Format, SourceText, UnreadableReason, read, slice};

macro_rules! sample {
    ($name:literal) => {
        read(Format::Pdf, include_bytes!(concat!("../../tests/samples/", $name)))
    };
}

fn blocks(source: &SourceText) -> Vec<(BlockKind, &str)> {
    source
        .blocks
        .iter()
        .map(|block| (block.kind, slice(&source.text, block.start_offset, block.end_offset).unwrap()))
        .collect()
}

/// Builds a page with these lines of text: font size, x, y from the bottom, words.
fn page_of(lines: &[(u32, u32, u32, &str)]) -> Vec<u8> {
    let drawn: String =
        lines.iter().map(|(size, x, y, words)| format!("BT /F {size} Tf {x} {y} Td ({words}) Tj ET\n")).collect();
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 600 800]>>".to_owned(),
        "<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>".to_owned(),
        format!("<</Length {}>>\nstream\n{drawn}\nendstream", drawn.len() + 1),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_owned(),
    ];
    let mut file = "%PDF-1.4\n".to_owned();
    let mut table = String::new();
    for (at, object) in objects.iter().enumerate() {
        table += &format!("{:010} 00000 n \n", file.len());
        file += &format!("{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let start = file.len();
    file +=
        &format!("xref\n0 6\n0000000000 65535 f \n{table}trailer <</Size 6 /Root 1 0 R>>\nstartxref\n{start}\n%%EOF\n");
    file.into_bytes()
}

#[test]
fn wrapped_lines_are_joined_and_hyphenation_is_undone() {
    let source = read(
        Format::Pdf,
        &page_of(&[
            (20, 72, 700, "Scope"),
            (12, 72, 660, "The system shall keep a record of every docu-"),
            (12, 72, 646, "ment that was sent, and the data-protection officer"),
            (12, 72, 632, "can read it."),
            (12, 72, 600, "1.2 What it needs"),
            (12, 72, 570, "- a list item"),
        ]),
    )
    .unwrap();
    let expected = [
        (BlockKind::Heading, "Scope"),
        (
            BlockKind::Paragraph,
            "The system shall keep a record of every document that was sent, and the data-protection officer can read it.",
        ),
        (BlockKind::Paragraph, "1.2 What it needs"),
        (BlockKind::ListItem, "- a list item"),
    ];
    assert_eq!(blocks(&source), expected);
}

#[test]
fn numbered_lines_are_headings_without_a_larger_font() {
    let source = read(
        Format::Pdf,
        &page_of(&[
            (12, 72, 700, "3.2 Access Rights"),
            (12, 72, 670, "Only the owner may read it."),
            (12, 72, 640, "4 Terms"),
        ]),
    )
    .unwrap();
    let titles: Vec<(&str, u8)> =
        source.sections.iter().map(|section| (section.title.as_str(), section.level)).collect();
    assert_eq!(titles, [("3.2 Access Rights", 2), ("4 Terms", 1)]);
}

#[test]
fn a_page_without_text_is_empty_and_a_password_is_named() {
    assert_eq!(read(Format::Pdf, &page_of(&[])).unwrap_err().reason, UnreadableReason::Empty);
    assert_eq!(sample!("readers/encrypted.pdf").unwrap_err().reason, UnreadableReason::Encrypted);
    let half = page_of(&[(12, 72, 700, "x")]);
    assert_eq!(read(Format::Pdf, half.get(..half.len() / 2).unwrap()).unwrap_err().reason, UnreadableReason::Damaged);
}

#[test]
fn columns_are_read_one_after_the_other() {
    let text = sample!("readers/two-columns.pdf").unwrap().text;
    let places: Vec<usize> =
        ["LEFT-START", "LEFT-END", "RIGHT-START", "RIGHT-END"].iter().map(|mark| text.find(mark).unwrap()).collect();
    assert!(places.is_sorted(), "{places:?}");
}

#[test]
fn arabic_is_in_the_order_it_is_read() {
    let source = sample!("readers/arabic.pdf").unwrap();
    assert_eq!(source.language.as_deref(), Some("ar"));
    assert!(source.text.contains("يجب أن يتيح النظام للمريض حجز موعد عبر الإنترنت."));
    assert!(source.text.contains("نظام Lantern رسالة"));
}

#[test]
fn the_call_for_tenders_has_pages_sections_rows_and_no_running_lines_twice() {
    let source = sample!("call-for-tenders.pdf").unwrap();
    assert_eq!(source.pages.last().unwrap().page as usize, source.pages.len());
    assert!(source.pages.iter().all(|page| page.end_offset > page.start_offset));
    for section in &source.sections {
        assert!(slice(&source.text, section.start_offset, section.end_offset).unwrap().starts_with(&section.title));
    }
    assert!(source.sections.iter().any(|section| section.title == "6.1 Booking by patients"));
    assert_eq!(source.text.matches("Restricted to invited tenderers").count(), 1);
    let row = "F-01 | must | The system shall find a patient by name, date of birth or insurance number.";
    assert!(blocks(&source).contains(&(BlockKind::TableRow, row)));
}
