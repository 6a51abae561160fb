//! Tests of workbooks: values as they are shown, names of columns, what is hidden, hostile files.

use super::super::source::BlockKind;
use super::super::tests::{blocks, reason, zipped};
use super::super::{Format, SourceText, UnreadableReason, read};
use super::numbers::NumberFormat;
use super::strings::unescaped;

const RELATIONS: &str = r#"<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/sheet1.xml"/><Relationship Id="b" Type="x/worksheet" Target="/xl/worksheets/sheet2.xml"/><Relationship Id="s" Type="x/styles" Target="styles.xml"/></Relationships>"#;

fn book_with(sheet: &str, second: &str, more: &[(&str, &str)]) -> Vec<u8> {
    let workbook = r#"<workbook><sheets><sheet name="One" sheetId="1" r:id="a"/><sheet name="Two" sheetId="2" r:id="b"/></sheets></workbook>"#;
    let mut parts = vec![
        ("[Content_Types].xml", "<Types/>"),
        ("xl/workbook.xml", workbook),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/worksheets/sheet1.xml", sheet),
        ("xl/worksheets/sheet2.xml", second),
    ];
    parts.extend_from_slice(more);
    zipped(&parts)
}

fn book(sheet: &str) -> Vec<u8> {
    book_with(sheet, "<worksheet/>", &[])
}

fn sheet(rows: &str) -> String {
    format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")
}

fn cell(text: &str) -> String {
    format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

fn rows(lines: &[&[&str]]) -> String {
    let line = |cells: &&[&str]| format!("<row>{}</row>", cells.iter().map(|text| cell(text)).collect::<String>());
    lines.iter().map(line).collect()
}

fn of(bytes: &[u8]) -> SourceText {
    read(Format::Xlsx, bytes).unwrap()
}

#[test]
fn each_sheet_is_a_section_and_its_first_row_names_the_columns() {
    let second = sheet(&rows(&[&["A list"], &["Of one column."]]));
    let source =
        of(&book_with(&sheet(&rows(&[&["Id", "Wish"], &["1", "It must be fast."], &["2", ""]])), &second, &[]));
    let expected = [
        (BlockKind::Heading, "One"),
        (BlockKind::Boilerplate, "Id | Wish"),
        (BlockKind::TableRow, "Id: 1 | Wish: It must be fast."),
        (BlockKind::TableRow, "Id: 2"),
        (BlockKind::Heading, "Two"),
        (BlockKind::Boilerplate, "A list"),
        (BlockKind::TableRow, "A list: Of one column."),
    ];
    assert_eq!(blocks(&source), expected);
    assert_eq!((source.sections.len(), source.pages.len()), (2, 0));
}

#[test]
fn titles_above_a_table_and_lines_across_it_are_no_rows() {
    let lines = rows(&[&["Wishes of 2026"], &["All are open."], &["Id", "Wish"], &["1", "Fast."]]);
    let across =
        format!("{lines}<row r=\"9\"><c r=\"A9\" t=\"str\"><v>Reports</v></c></row><row r=\"10\">{}</row>", cell("2"));
    let xml = format!(
        "<worksheet><sheetData>{across}</sheetData><mergeCells><mergeCell ref=\"A9:B9\"/></mergeCells></worksheet>"
    );
    let expected = [
        (BlockKind::Heading, "One"),
        (BlockKind::Paragraph, "Wishes of 2026"),
        (BlockKind::Paragraph, "All are open."),
        (BlockKind::Boilerplate, "Id | Wish"),
        (BlockKind::TableRow, "Id: 1 | Wish: Fast."),
        (BlockKind::Paragraph, "Reports"),
        (BlockKind::TableRow, "Id: 2"),
    ];
    assert_eq!(blocks(&of(&book(&xml))), expected);
}

#[test]
fn the_names_of_the_columns_are_in_the_first_row_that_is_as_wide_as_the_table() {
    let note = "The clerk must see each case.";
    let lines = rows(&[&["Project", "Quay"], &["Owner", "Ana"], &["Id", "Wish", "Priority"], &["1", note, "high"]]);
    let expected = [
        (BlockKind::Heading, "One"),
        (BlockKind::TableRow, "Project | Quay"),
        (BlockKind::TableRow, "Owner | Ana"),
        (BlockKind::Boilerplate, "Id | Wish | Priority"),
        (BlockKind::TableRow, "Id: 1 | Wish: The clerk must see each case. | Priority: high"),
    ];
    assert_eq!(blocks(&of(&book(&sheet(&lines)))), expected);
    // No row of names: the first row of the table is none, whatever follows.
    let lines = rows(&[&["1", note], &["high", "low"], &["2", note]]);
    assert!(of(&book(&sheet(&lines))).blocks.iter().all(|block| block.kind != BlockKind::Boilerplate));
}

#[test]
fn a_merged_cell_stands_in_each_row_that_it_covers() {
    let lines = r#"<row r="1"><c r="A1" t="str"><v>Area</v></c><c r="B1" t="str"><v>Wish</v></c></row><row r="2"><c r="A2" t="str"><v>Quay</v></c><c r="B2"><v>1</v></c></row><row r="3"><c r="B3"><v>2</v></c></row><row r="4"><c r="B4"><v>3</v></c></row>"#;
    let xml = format!(
        "<worksheet><sheetData>{lines}</sheetData><mergeCells><mergeCell ref=\"A2:A3\"/></mergeCells></worksheet>"
    );
    let source = of(&book(&xml));
    assert!(source.text.ends_with("Area: Quay | Wish: 1\n\nArea: Quay | Wish: 2\n\nWish: 3"), "{}", source.text);
}

#[test]
fn values_are_as_a_person_sees_them() {
    for (value, id, shown) in [
        ("0.30000000000000004", 0, "0.3"),
        ("1234567.5", 4, "1234567.5"),
        ("1E-05", 0, "0.00001"),
        ("100000000000000000000", 0, "100000000000000000000"),
        ("0.125", 10, "12.50%"),
        ("46083", 14, "2026-03-02"),
        ("46083.395833333336", 22, "2026-03-02 09:30"),
        ("0.5", 20, "12:00"),
        ("0.99999999", 21, "00:00"),
        ("1.25", 46, "30:00"),
        ("1", 14, "1900-01-01"),
        ("61", 14, "1900-03-01"),
        ("-1", 14, "-1"),
        ("99999999999", 14, "99999999999"),
        ("NaN", 14, "NaN"),
        ("1e999", 0, "1e999"),
    ] {
        assert_eq!(NumberFormat::built_in(id).shown(value, false), shown, "{value} as {id}");
    }
    assert_eq!(NumberFormat::Date.shown("0", true), "1904-01-01");
    for (code, format) in [
        ("General", NumberFormat::Plain),
        ("#,##0.00 \"days\"", NumberFormat::Plain),
        ("[Red]0.0%;-0.0%", NumberFormat::Percent(1)),
        ("yyyy\\-mm\\-dd", NumberFormat::Date),
        ("[$-409]d mmm yyyy h:mm AM/PM;@", NumberFormat::DateTime),
        ("mmm", NumberFormat::Date),
        ("hh:mm", NumberFormat::Time),
        ("[h]:mm:ss", NumberFormat::Duration),
        (";;;", NumberFormat::Hidden),
        ("@", NumberFormat::Plain),
        ("\"yes\";\"no\"", NumberFormat::Plain),
    ] {
        assert_eq!(NumberFormat::of_code(code), format, "{code}");
    }
    assert_eq!(unescaped("a_x000D__x0041_b_x_c_xZZZZ_ _x"), "a\rAb_x_c_xZZZZ_ _x");
}

#[test]
fn what_is_hidden_is_left_out_and_counted() {
    let styles = r#"<styleSheet><numFmts><numFmt numFmtId="170" formatCode=";;;"/></numFmts><fonts><font/><font><color rgb="FFFFFFFF"/></font></fonts><fills><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="solid"/></fill></fills><cellXfs><xf/><xf numFmtId="170"/><xf fontId="1" fillId="0"/><xf fontId="1" fillId="1"/></cellXfs></styleSheet>"#;
    let styled = |number: u8, text: &str| format!("<c s=\"{number}\" t=\"str\"><v>{text}</v></c>");
    let first = format!(
        "<worksheet><cols><col min=\"3\" max=\"4\" hidden=\"1\"/><col min=\"4\" max=\"5\" \
            width=\"0\"/></cols><sheetData><row>{}{}{}{}{}</row><row \
            hidden=\"1\">{}</row><row>{}{}{}</row></sheetData></worksheet>",
        cell("Seen here"),
        cell("and here"),
        cell("three"),
        cell("four"),
        cell("five"),
        cell("row"),
        styled(1, "format"),
        styled(2, "white"),
        styled(3, "not framed"),
    );
    // The third column is hidden, whatever its ground is.
    let source = of(&book_with(&first, "<worksheet/>", &[("xl/styles.xml", styles)]));
    assert!(source.text.starts_with("One\n\nSeen here | and here"), "{}", source.text);
    assert_eq!(source.text.matches("format").count(), 0);
    assert_eq!(source.hidden_characters, "threefourfiverowformatwhitenotframed".len());
    let workbook =
        r#"<workbook><sheets><sheet name="Gone" sheetId="1" state="veryHidden" r:id="a"/></sheets></workbook>"#;
    let parts = [
        ("xl/workbook.xml", workbook),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/worksheets/sheet1.xml", &sheet(&rows(&[&["nobody"]]))),
    ];
    let source = of(&zipped(&parts));
    assert_eq!((source.text.as_str(), source.hidden_characters), ("", 6));
}

#[test]
fn hostile_workbooks_are_refused_or_bounded() {
    let refused = |bytes: &[u8]| reason(read(Format::Xlsx, bytes));
    // A million cells in two rows of a hundred thousand columns are within the sheet only up to its last column.
    let wide = sheet(&format!("<row>{}</row>", "<c><v>1</v></c>".repeat(1_000_000)));
    assert_eq!(of(&book(&wide)).text.matches('1').count(), 16_384);
    let many = sheet(&format!("<row>{}</row>", "<c><v>12</v></c>".repeat(100)).repeat(10_000));
    assert!(matches!(read(Format::Xlsx, &book(&many)), Ok(source) if source.blocks.len() == 10_001));
    let tall = sheet(&"<row><c><v>1</v></c></row>".repeat(1_000_000));
    assert_eq!(refused(&book(&tall)), UnreadableReason::TooLarge);
    // Two cells at opposite corners.
    let corners =
        sheet(r#"<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>"#);
    assert_eq!(of(&book(&corners)).text, "One\n\n1\n\n2");
    // One long text that many cells refer to, shown or not.
    let strings = format!("<sst><si><t>{}</t></si></sst>", "word ".repeat(200_000));
    for row in ["<row>", "<row hidden=\"1\">"] {
        let lines = sheet(&format!("{row}{}</row>", "<c t=\"s\"><v>0</v></c>".repeat(1_000)));
        let bytes = book_with(&lines, "<worksheet/>", &[("xl/sharedStrings.xml", &strings)]);
        assert_eq!(refused(&bytes), UnreadableReason::TooLarge);
    }
    let covering: String = (1..2_000).map(|at| format!("<mergeCell ref=\"A{at}:A1048576\"/>")).collect();
    let tower = format!(
        "<worksheet><sheetData>{}</sheetData><mergeCells>{covering}</mergeCells></worksheet>",
        "<row><c r=\"A1\"><v>1</v></c></row>".repeat(2_000)
    );
    assert!(read(Format::Xlsx, &book(&tower)).is_ok());
    let deep = format!("<worksheet><sheetData>{}", "<x>".repeat(100_000));
    assert_eq!(refused(&book(&deep)), UnreadableReason::Damaged);
    let laughs = r#"<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><worksheet><sheetData><row><c><v>&b;</v></c></row></sheetData></worksheet>"#;
    assert_eq!(refused(&book(laughs)), UnreadableReason::Damaged);
    let whole = book(&sheet(""));
    assert_eq!(refused(&whole[..whole.len() / 2]), UnreadableReason::Damaged);
    assert_eq!(refused(&zipped(&[("xl/workbook.xml", "<Types/>")])), UnreadableReason::Damaged);
    assert_eq!(refused(&zipped(&[("word/document.xml", "<x/>")])), UnreadableReason::Damaged);
    // References that lead nowhere, to the workbook itself or out of the package.
    for target in ["../xl/workbook.xml", "nothing.xml", "../../../etc/passwd", "/xl/_rels/workbook.xml.rels"] {
        let relations =
            format!(r#"<Relationships><Relationship Id="a" Type="x/worksheet" Target="{target}"/></Relationships>"#);
        let workbook = r#"<workbook><sheets><sheet name="One" r:id="a"/><sheet name="Two" r:id="a"/><sheet name="Three" r:id="z"/></sheets></workbook>"#;
        let source = of(&zipped(&[("xl/workbook.xml", workbook), ("xl/_rels/workbook.xml.rels", &relations)]));
        assert_eq!(source.text, "", "{target}");
    }
    // A sheet that the list names again and again is read once.
    let entries = r#"<sheet name="S" r:id="a"/>"#.repeat(20_000);
    let workbook = format!("<workbook><sheets>{entries}</sheets></workbook>");
    let parts = [
        ("xl/workbook.xml", workbook.as_str()),
        ("xl/_rels/workbook.xml.rels", RELATIONS),
        ("xl/worksheets/sheet1.xml", &sheet(&rows(&[&["once"]]))),
    ];
    assert_eq!(of(&zipped(&parts)).text, "S\n\nonce");
    // Macros are not read.
    let source = of(&book_with(&sheet(&rows(&[&["1"]])), "<worksheet/>", &[("xl/vbaProject.bin", "Sub Auto_Open")]));
    assert_eq!(source.text, "One\n\n1");
}
