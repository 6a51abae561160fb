//! Tests of OpenDocument texts: structure, what is hidden or was deleted, hostile files.

use super::source::BlockKind;
use super::tests::{blocks, reason, zipped};
use super::{Format, SourceText, UnreadableReason, read};

fn package(styles: &str, body: &str) -> Vec<u8> {
    let content = format!(
        "<office:document-content><office:automatic-styles>{styles}</office:automatic-styles><office:body><office:text>{body}</office:text></office:body></office:document-content>"
    );
    zipped(&[("mimetype", "application/vnd.oasis.opendocument.text"), ("content.xml", &content)])
}

fn of(styles: &str, body: &str) -> SourceText {
    read(Format::Odt, &package(styles, body)).unwrap()
}

#[test]
fn headings_lists_tables_notes_and_boxes_are_read() {
    let body = r#"<text:p text:style-name="T">The title</text:p><text:table-of-content><text:index-body><text:p>One 1</text:p></text:index-body></text:table-of-content><text:h text:outline-level="2">One</text:h>
        <text:p>A<text:s/><text:s text:c="1"/>b
          c<text:tab/>d<text:line-break/>e<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note>f</text:p>
        <text:list><text:list-item><text:p>item</text:p><text:list><text:list-item><text:p>inner</text:p></text:list-item></text:list></text:list-item></text:list>
        <text:p text:style-name="Quotations">said</text:p><text:p text:style-name="Preformatted_20_Text">code</text:p>
        <table:table><table:table-header-rows><table:table-row><table:table-cell><text:p>x</text:p><text:p>y</text:p></table:table-cell><table:covered-table-cell><text:p>no</text:p></table:covered-table-cell><table:table-cell><table:table><table:table-row><table:table-cell><text:p>z</text:p></table:table-cell></table:table-row></table:table></table:table-cell></table:table-row></table:table-header-rows></table:table>
        <text:p>Around.<draw:frame><draw:text-box><text:p>A box.</text:p></draw:text-box><svg:title>no</svg:title></draw:frame></text:p>"#;
    let styles = r#"<style:style style:name="T" style:parent-style-name="U"/><style:style style:name="U" style:display-name="Title" style:parent-style-name="T"/><style:style style:name="Quotations"/><style:style style:name="Preformatted_20_Text"/>"#;
    let source = of(styles, body);
    let expected = [
        (BlockKind::Heading, "The title"),
        (BlockKind::Boilerplate, "One 1"),
        (BlockKind::Heading, "One"),
        (BlockKind::Paragraph, "A  b c\td\nef"),
        (BlockKind::Paragraph, "A note."),
        (BlockKind::ListItem, "item"),
        (BlockKind::ListItem, "inner"),
        (BlockKind::Quote, "said"),
        (BlockKind::Code, "code"),
        (BlockKind::TableRow, "x y | z"),
        (BlockKind::Paragraph, "A box."),
        (BlockKind::Paragraph, "Around."),
    ];
    assert_eq!(blocks(&source), expected);
    assert_eq!(source.sections.iter().map(|section| section.level).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn what_is_not_shown_is_left_out_and_counted() {
    let styles = r##"<style:style style:name="H"><style:text-properties text:display="none"/></style:style><style:style style:name="I" style:parent-style-name="H"/><style:style style:name="W"><style:text-properties fo:color="#FFFFFF"/></style:style><style:style style:name="D"><style:paragraph-properties fo:background-color="#000000"/></style:style>"##;
    let body = r#"<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes><text:p>Seen.<text:span text:style-name="H">one</text:span><text:span text:style-name="W">two</text:span><office:annotation><text:p>remark</text:p></office:annotation></text:p>
        <text:p text:style-name="I">three</text:p><text:section text:display="none"><text:p>four</text:p></text:section><text:section text:display="condition"><text:p>Open.</text:p></text:section>
        <text:p>Text<text:hidden-text text:string-value="five"/> is<text:hidden-text text:is-hidden="false">.</text:hidden-text></text:p><text:p><text:hidden-paragraph/>six</text:p>
        <text:p text:style-name="D"><text:span text:style-name="W">Framed.</text:span></text:p><table:table><table:table-row table:visibility="collapse"><table:table-cell><text:p>seven</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p><text:span text:style-name="W">Head.</text:span></text:p></table:table-cell></table:table-row></table:table>"#;
    let source = of(styles, body);
    assert_eq!(source.text, "Seen.\n\nOpen.\n\nText is.\n\nFramed.\n\nHead.");
    assert_eq!(source.hidden_characters, "onetwothreefourfivesixseven".len());
}

#[test]
fn hostile_documents_are_refused_or_bounded() {
    let refused = |bytes: &[u8]| reason(read(Format::Odt, bytes));
    let whole = package("", "<text:p>x</text:p>");
    assert_eq!(refused(&whole[..whole.len() / 2]), UnreadableReason::Damaged);
    assert_eq!(refused(&package("", "<text:p>&x;</text:p>")), UnreadableReason::Damaged);
    assert_eq!(refused(&package("", &"<text:span>".repeat(10_000))), UnreadableReason::Damaged);
    assert_eq!(refused(&package("", &"<text:p/>".repeat(1_000_000))), UnreadableReason::TooLarge);
    assert_eq!(refused(&zipped(&[("content.xml", "<office:spreadsheet/>")])), UnreadableReason::Damaged);
    let manifest = "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>";
    let sealed = [("META-INF/manifest.xml", manifest), ("content.xml", "\u{1}\u{2}")];
    assert_eq!(refused(&zipped(&sealed)), UnreadableReason::Encrypted);
    let spaces = of("", &"<text:p>a<text:s text:c=\"4000000000\"/>b</text:p>".repeat(10));
    assert_eq!(spaces.text.chars().count(), 10 * 102 + 18);
}
