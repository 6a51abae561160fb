//! Tests of the readers: each format, consistent offsets, hostile files, the child process's limits.

use std::io::{Cursor, Write};

use proptest::prelude::*;
use zip::write::SimpleFileOptions;

use super::*;

fn sniff(file_name: &str, content: &[u8]) -> Result<Format, Unsupported> {
    super::sniff(file_name, content).unwrap()
}

fn at(source: &SourceText, start: usize, end: usize) -> &str {
    slice(&source.text, start, end).unwrap()
}

/// Asserts that every offset lies within the text, in order, and marks the text that it should.
pub(super) fn honest(source: &SourceText) {
    let length = source.text.chars().count();
    let mut last = 0;
    for block in &source.blocks {
        assert!(block.start_offset >= last && block.end_offset > block.start_offset && block.end_offset <= length);
        assert!(at(source, last, block.start_offset).trim().is_empty(), "text between blocks");
        last = block.end_offset;
    }
    assert!(at(source, last, length).trim().is_empty());
    for section in &source.sections {
        let title = at(source, section.start_offset, section.end_offset);
        assert!(
            title.starts_with(section.title.trim_end_matches(draft::CUT)),
            "{title:?} does not start with {:?}",
            section.title
        );
    }
    let mut last = 0;
    for page in &source.pages {
        assert!(page.start_offset >= last && page.end_offset >= page.start_offset && page.end_offset <= length);
        last = page.end_offset;
    }
    for cue in &source.cues {
        assert!(cue.start_offset < cue.end_offset && cue.end_offset <= length);
    }
}

pub(super) fn blocks(source: &SourceText) -> Vec<(BlockKind, &str)> {
    honest(source);
    source.blocks.iter().map(|block| (block.kind, at(source, block.start_offset, block.end_offset))).collect()
}

pub(super) fn zipped(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in parts {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn docx_of(body: &str) -> Vec<u8> {
    let styles = r#"<w:styles xmlns:w="w"><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>
        <w:style w:styleId="Own"><w:name w:val="Own"/><w:basedOn w:val="Loop"/><w:pPr><w:outlineLvl w:val="1"/></w:pPr></w:style>
        <w:style w:styleId="Loop"><w:name w:val="Loop"/><w:basedOn w:val="Loop"/></w:style></w:styles>"#;
    let notes = r#"<w:footnotes xmlns:w="w"><w:footnote w:id="2"><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote></w:footnotes>"#;
    let body = format!(r#"<?xml version="1.0"?><w:document xmlns:w="w"><w:body>{body}</w:body></w:document>"#);
    zipped(&[
        ("[Content_Types].xml", "<Types/>"),
        ("word/document.xml", &body),
        ("word/styles.xml", styles),
        ("word/footnotes.xml", notes),
    ])
}

pub(super) fn reason(outcome: Result<SourceText, Unreadable>) -> UnreadableReason {
    outcome.unwrap_err().reason
}

#[test]
fn a_slice_is_by_characters_and_refuses_what_is_not_there() {
    assert_eq!(slice("äöü€😀x", 3, 5), Some("€😀"));
    assert_eq!(slice("äö", 2, 2), Some(""));
    assert_eq!(slice("äö", 1, 3), None);
    assert_eq!(slice("äö", 2, 1), None);
}

#[test]
fn content_decides_and_a_name_may_not_contradict_it() {
    let docx = docx_of("");
    assert_eq!(sniff("a.docx", &docx), Ok(Format::Docx));
    assert_eq!(sniff("a.pdf", b"%PDF-1.7\n"), Ok(Format::Pdf));
    assert_eq!(sniff("a.txt", b"%PDF-1.7\n").unwrap_err().message, "This file is called .txt, but its content is PDF.");
    assert!(sniff("x.pdf", b"\x89PNG\r\n\x1a\n\0\0").is_err());
    assert!(sniff("x.txt", b"MZ\x90\0\x03").is_err());
    assert!(sniff("x.pdf", b"just text").is_err());
    let pptx = zipped(&[("[Content_Types].xml", ""), ("ppt/presentation.xml", "")]);
    assert_eq!(sniff("x.pptx", &pptx), Ok(Format::Pptx));
    let refused = |name: &str, content: &[u8]| sniff(name, content).unwrap_err().message;
    assert_eq!(refused("x.docx", &pptx), "This file is called .docx, but its content is PPTX.");
    assert_eq!(refused("x.pptm", &pptx), "Files with macros (.pptm) are not read; save it as PPTX.");
    assert!(sniff("x.docx", &zipped(&[("[Content_Types].xml", ""), ("xl/workbook.xml", "")])).is_err());
    let padded = "x".repeat(3 * 65_536 - 700);
    let far = zipped(&[("[Content_Types].xml", padded.as_str()), ("word/document.xml", "")]);
    let stored =
        [b"PK\x03\x04[Content_Types].xml".as_slice(), &vec![b'x'; 2 * 65_536 + 990], b"word/document.xml"].concat();
    assert_eq!((sniff("a.docx", &far), sniff("a.docx", &stored)), (Ok(Format::Docx), Ok(Format::Docx)));
    assert!(refused("a.eml", b"Dear Ann,\n\nHello").contains("headers of a mail"));
    assert!(refused("a.doc", &[0xd0, 0xcf, 0x11, 0xe0, 0]).contains("save it as DOCX"));
    let sealed = [&[0xd0, 0xcf, 0x11, 0xe0], utf16_of("EncryptedPackage").as_slice()].concat();
    for (name, format) in [("a.docx", Format::Docx), ("a.pptx", Format::Pptx), ("a.xlsx", Format::Xlsx)] {
        assert_eq!(sniff(name, &sealed), Ok(format));
        assert_eq!(reason(read(format, &sealed)), UnreadableReason::Encrypted);
    }
    for (name, content, format) in [
        ("a.eml", "From: a@b\n\nHello", Format::Eml),
        ("a.EML", "Received: by x\nFrom: a@b\n\nHello", Format::Eml),
        ("a.eml", "From - Tue Mar 3\nX-Own: 1\n\nHello", Format::Eml),
        ("mail", "Subject: x\nMIME-Version: 1.0\n\nHello", Format::Eml),
        ("a.txt", "From: Ann\nTo: Bob\nDate: today\n\nHello", Format::Text),
        ("a.md", "# x", Format::Markdown),
        ("a.MD", "", Format::Markdown),
        ("a.csv", "a,b", Format::Csv),
        ("a.txt", "", Format::Text),
        ("a.txt", "WEBVTT\n\n", Format::Vtt),
        ("notes", "<!DOCTYPE HTML><p>x", Format::Html),
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,000\nHi\n", Format::Srt),
        ("../../a.txt", "Hello", Format::Text),
    ] {
        assert_eq!(sniff(name, content.as_bytes()), Ok(format), "{name}");
    }
    assert!(sniff("a.vtt", b"no cues").is_err());
    for (format, name) in Format::ALL {
        assert_eq!(Format::named(name), Some(format));
    }
}

fn utf16_of(word: &str) -> Vec<u8> {
    word.encode_utf16().flat_map(u16::to_le_bytes).collect()
}

#[test]
fn packages_are_told_apart_by_their_own_list_and_not_by_what_is_embedded() {
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let inner = zipped(&[("[Content_Types].xml", ""), ("xl/workbook.xml", "")]);
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in
        [("[Content_Types].xml", &b""[..]), ("ppt/presentation.xml", b""), ("ppt/embeddings/a.xlsx", &inner)]
    {
        zip.start_file(name, stored).unwrap();
        zip.write_all(content).unwrap();
    }
    assert_eq!(sniff("a.pptx", &zip.finish().unwrap().into_inner()), Ok(Format::Pptx));
    let written_otherwise =
        zipped(&[("[Content_Types].xml", ""), ("WORD\\Styles.xml", "<x/>"), ("word\\document.xml", "<x/>")]);
    assert_eq!(sniff("a.docx", &written_otherwise), Ok(Format::Docx));
    assert_eq!(read(Format::Docx, &written_otherwise).unwrap().text, "");
    let odt = |kind: &str| {
        let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in [("mimetype", kind), ("content.xml", ""), ("META-INF/manifest.xml", "")] {
            zip.start_file(name, stored).unwrap();
            zip.write_all(content.as_bytes()).unwrap();
        }
        zip.finish().unwrap().into_inner()
    };
    assert_eq!(sniff("a.odt", &odt("application/vnd.oasis.opendocument.text")), Ok(Format::Odt));
    for other in ["spreadsheet", "presentation", "text-template"] {
        let refused = sniff("a.odt", &odt(&format!("application/vnd.oasis.opendocument.{other}"))).unwrap_err();
        assert!(refused.message.contains("only texts (ODT)"), "{other}: {refused}");
    }
    assert!(sniff("a.zip", &zipped(&[("xl/workbook.xml", "")])).unwrap_err().message.contains("ZIP archives"));
}

#[test]
fn plain_text_is_kept_and_parted_by_how_far_lines_go() {
    let text = "1.2 The Scope\r\n\r\nThe system must keep every change for ten years so that\r\nnobody can deny what \
        he did.\r\nAttendees: Ann, Bob\r\n\r\n- one\r\n- two\r\n";
    let source = read(Format::Text, text.as_bytes()).unwrap();
    assert_eq!(source.text, text.replace("\r\n", "\n"));
    let kinds = blocks(&source);
    assert_eq!(kinds[0], (BlockKind::Heading, "1.2 The Scope"));
    assert_eq!(kinds[1].1, "The system must keep every change for ten years so that\nnobody can deny what he did.");
    assert_eq!(kinds[2].1, "Attendees: Ann, Bob");
    assert_eq!(kinds[3..], [(BlockKind::ListItem, "- one"), (BlockKind::ListItem, "- two")]);
    assert_eq!((source.sections[0].level, source.sections[0].end_offset), (2, source.text.chars().count()));
}

#[test]
fn text_comes_in_several_encodings() {
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain("Grüße €".encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(sniff("a.txt", &utf16), Ok(Format::Text));
    assert_eq!(read(Format::Text, &utf16).unwrap().text, "Grüße €");
    assert_eq!(read(Format::Text, b"Gr\xfc\xdfe \x80\0\x07").unwrap().text, "Grüße €");
    assert_eq!(read(Format::Text, "\u{feff}Grüße".as_bytes()).unwrap().text, "Grüße");
    assert_eq!(read(Format::Text, b"").unwrap().blocks, []);
    assert_eq!(read(Format::Markdown, b"").unwrap().text, "");
}

#[test]
fn markdown_gives_its_rendered_text() {
    let source = read(
        Format::Markdown,
        b"---\ntitle: x\n---\n# Note *one*\n\nWe **must** ship\nsoon. ~~No.~~\n\n## Table\n\n| A | B |\n|---|---|\n| \
            1 | 2 |\n\n- item\n  more\n\n> said\n\n```\ncode  x\n```\n",
    )
    .unwrap();
    let expected = [
        (BlockKind::Heading, "Note one"),
        (BlockKind::Paragraph, "We must ship soon."),
        (BlockKind::Heading, "Table"),
        (BlockKind::TableRow, "A | B"),
        (BlockKind::TableRow, "1 | 2"),
        (BlockKind::ListItem, "item more"),
        (BlockKind::Quote, "said"),
        (BlockKind::Code, "code  x"),
    ];
    assert_eq!(blocks(&source), expected);
    assert_eq!(source.sections.len(), 2);
    assert_eq!(source.sections[0].end_offset, source.text.chars().count());
}

#[test]
fn html_gives_what_a_reader_sees() {
    let source = read(
        Format::Html,
        "<!doctype html><head><title>t</title><style>p{}</style></head><body><nav>menu</nav><h1>Über\n \
            uns</h1><script>if(a<b){'<p>no'}</script><p>One &amp; \
            <b>two</b><br>three<p>four<ul><li>a<li>b</ul><table><tr><td>x</td><td><p>y<p>z</td></tr></table>\
            <footer>foot</footer>"
            .as_bytes(),
    )
    .unwrap();
    let expected = [
        (BlockKind::Heading, "Über uns"),
        (BlockKind::Paragraph, "One & two\nthree"),
        (BlockKind::Paragraph, "four"),
        (BlockKind::ListItem, "a"),
        (BlockKind::ListItem, "b"),
        (BlockKind::TableRow, "x | y z"),
        (BlockKind::Boilerplate, "foot"),
    ];
    assert_eq!(blocks(&source), expected);
}

#[test]
fn docx_reads_styles_lists_tables_notes_and_skips_what_was_deleted() {
    let p = |inner: &str| format!("<w:p>{inner}</w:p>");
    let t = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let body = [
        p(&format!(r#"<w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>{}"#, t("Eins"))),
        p(&format!(r#"<w:pPr><w:pStyle w:val="Own"/></w:pPr>{}"#, t("Zwei"))),
        p(&format!(
            r#"{}<w:del>{}</w:del><w:ins>{}</w:ins><w:r><w:footnoteReference w:id="2"/></w:r>"#,
            t("A &amp; "),
            t("old"),
            t("new&#33;")
        )),
        p(&format!(r#"<w:pPr><w:numPr/></w:pPr>{}<w:r><w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t></w:r>"#, t("item"))),
        format!(
            "<w:tbl><w:tr><w:tc>{0}</w:tc><w:tc>{1}<w:tbl><w:tr><w:tc>{0}</w:tc></w:tr></w:tbl></w:tc></w:tr></w:tbl>",
            p(&t("x")),
            p(&t("y"))
        ),
    ]
    .concat();
    let source = read(Format::Docx, &docx_of(&body)).unwrap();
    let expected = [
        (BlockKind::Heading, "Eins"),
        (BlockKind::Heading, "Zwei"),
        (BlockKind::Paragraph, "A & new!"),
        (BlockKind::Paragraph, "A note."),
        (BlockKind::ListItem, "item"),
        (BlockKind::TableRow, "x | y x"),
    ];
    assert_eq!(blocks(&source), expected);
    assert_eq!(source.sections.iter().map(|section| section.level).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(source.pages, []);
}

#[test]
fn what_is_not_shown_is_left_out_and_counted() {
    let html = "<p>shown</p><div hidden>one<div>two</div></div><p style='color: red; display : NONE'>three<p>seen\
        <span style=\"font-size:0px\">four<br hidden></span> too</p><ul><li style=visibility:hidden>five<li>item</ul>\
        <section><p hidden>six</section><p>last <b style='opacity:.5'>faint</b></p>";
    let source = read(Format::Html, html.as_bytes()).unwrap();
    let expected = [
        (BlockKind::Paragraph, "shown"),
        (BlockKind::Paragraph, "seen too"),
        (BlockKind::ListItem, "item"),
        (BlockKind::Paragraph, "last faint"),
    ];
    assert_eq!(blocks(&source), expected);
    assert_eq!(source.hidden_characters, "onetwothreefourfivesix".len());

    let faded_in = read(Format::Html, b"<body style='opacity:0'><p>all of it</p></body>").unwrap();
    assert_eq!((faded_in.text.as_str(), faded_in.hidden_characters), ("all of it", 0));

    let white = r#"<w:r><w:rPr><w:color w:val="ffffff"/></w:rPr><w:t>white</w:t></w:r>"#;
    let ground = r#"<w:r><w:rPr><w:shd w:fill="000000"/><w:color w:val="FFFFFF"/></w:rPr><w:t>framed</w:t></w:r>"#;
    let vanished = "<w:r><w:rPr><w:vanish/></w:rPr><w:t>gone</w:t></w:r>";
    let body = format!(
        "<w:p><w:r><w:t>shown</w:t></w:r>{white}{vanished}</w:p><w:p>{ground}</w:p><w:tbl><w:tr><w:tc><w:p>{white}</w:p></w:tc></w:tr></w:tbl>"
    );
    let source = read(Format::Docx, &docx_of(&body)).unwrap();
    assert_eq!(source.text, "shown\n\nframed\n\nwhite");
    assert_eq!(source.hidden_characters, "whitegone".len());

    let source = read(Format::Text, "a \u{202e}b\u{202c} \u{e0041}c".as_bytes()).unwrap();
    assert_eq!(source.hidden_characters, 2);
}

#[test]
fn docx_bombs_are_refused() {
    let zeros = "<w:p/>".repeat(1_000_000);
    assert_eq!(reason(read(Format::Docx, &docx_of(&zeros))), UnreadableReason::TooLarge);
    let names: Vec<String> = (0..10_001).map(|part| format!("word/media/{part}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    assert_eq!(reason(read(Format::Docx, &zipped(&many))), UnreadableReason::TooLarge);
    let deep = "<w:sdt>".repeat(100_000);
    assert_eq!(reason(read(Format::Docx, &docx_of(&deep))), UnreadableReason::Damaged);
    let laughs = r#"<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><x>&b;</x>"#;
    assert_eq!(reason(read(Format::Docx, &zipped(&[("word/document.xml", laughs)]))), UnreadableReason::Damaged);
    assert_eq!(reason(read(Format::Docx, &docx_of("<w:p><w:r><w:t>&x;</w:t></w:r></w:p>"))), UnreadableReason::Damaged);
    assert_eq!(
        reason(read(Format::Docx, &zipped(&[("../../etc/x", ""), ("word/document.xml", "<x/>")]))),
        UnreadableReason::Damaged
    );
    let whole = docx_of("<w:p/>");
    assert_eq!(reason(read(Format::Docx, &whole[..whole.len() / 2])), UnreadableReason::Damaged);
}

#[test]
fn csv_rows_name_their_columns() {
    let source = read(Format::Csv, "Id;Wish\n1;\"It must; be\nfast\"\n2;\n".as_bytes()).unwrap();
    let expected = [
        (BlockKind::Boilerplate, "Id | Wish"),
        (BlockKind::TableRow, "Id: 1 | Wish: It must; be fast"),
        (BlockKind::TableRow, "Id: 2"),
    ];
    assert_eq!(blocks(&source), expected);
}

#[test]
fn cues_of_one_speaker_are_one_paragraph() {
    let vtt = "WEBVTT\n\nNOTE x\n\n1\n00:01.000 --> 00:02.500 align:start\n<v Ann Lee>We must\n\n00:00:02.600 --> \
        00:00:04.000\n<v Ann Lee>export &amp; <i>print</i>.</v>\n\n01:00:05.000 --> 01:00:06.000\n<v Bob>Yes.\n";
    let source = read(Format::Vtt, vtt.as_bytes()).unwrap();
    assert_eq!(blocks(&source), [(BlockKind::Paragraph, "We must export & print."), (BlockKind::Paragraph, "Yes.")]);
    let cues: Vec<(&str, u64, u64, &str)> = source
        .cues
        .iter()
        .map(|cue| {
            (cue.speaker.as_deref().unwrap(), cue.start_ms, cue.end_ms, at(&source, cue.start_offset, cue.end_offset))
        })
        .collect();
    assert_eq!(
        cues,
        [
            ("Ann Lee", 1_000, 2_500, "We must"),
            ("Ann Lee", 2_600, 4_000, "export & print."),
            ("Bob", 3_605_000, 3_606_000, "Yes.")
        ]
    );
}

#[test]
fn names_in_srt_are_speakers_only_if_used_so() {
    let srt = "1\n00:00:01,000 --> 00:00:02,000\nAnn: Hello.\n\n2\n00:00:02,000 --> 00:00:03,000\nStill me.\n\n3\n\
        00:00:03,000 --> 00:00:04,000\nBob: Decision: we ship.\n\n4\n00:00:04,000 --> 00:00:05,000\nAnn: Fine.\n";
    let source = read(Format::Srt, srt.as_bytes()).unwrap();
    let speakers: Vec<&str> = source.cues.iter().map(|cue| cue.speaker.as_deref().unwrap()).collect();
    assert_eq!(speakers, ["Ann", "Ann", "Bob", "Ann"]);
    assert_eq!(source.text, "Hello. Still me.\n\nDecision: we ship.\n\nFine.");
}

#[test]
fn what_is_past_a_bound_is_refused_in_words() {
    let cue = "00:01.000 --> 00:02.000\n<v Ann>Yes\n\n";
    for (format, content, bound) in [
        (Format::Text, "wörd ".repeat(draft::CHARACTERS / 5 + 1), "5000000 characters"),
        (Format::Html, "wörd ".repeat(draft::CHARACTERS / 5 + 1), "5000000 characters"),
        (Format::Markdown, "a\n\n".repeat(draft::BLOCKS + 1), "150000 paragraphs"),
        (Format::Csv, "1,2\n".repeat(draft::BLOCKS + 1), "150000 paragraphs"),
        (Format::Html, "<h1>a</h1>".repeat(draft::SECTIONS + 1), "20000 headings"),
        (Format::Vtt, format!("WEBVTT\n\n{}", cue.repeat(draft::CUES + 1)), "50000 cues"),
    ] {
        let refused = read(format, content.as_bytes()).unwrap_err();
        assert_eq!(refused.reason, UnreadableReason::TooLarge);
        assert!(refused.message.contains(bound), "{format:?}: {}", refused.message);
    }
}

#[test]
fn long_headings_and_names_are_cut_and_the_text_is_not() {
    let long = "Kapitel ".repeat(60_000);
    let source = read(Format::Html, format!("<h1>{long}</h1><p>Body.").as_bytes()).unwrap();
    assert_eq!(source.sections[0].title.chars().count(), draft::NAME);
    assert!(source.text.starts_with(source.sections[0].title.trim_end_matches('…')));
    assert!(source.text.starts_with(long.trim_end()));
    let vtt = format!("WEBVTT\n\n00:01.000 --> 00:02.000\n<v {long}>Yes");
    let cues = read(Format::Vtt, vtt.as_bytes()).unwrap().cues;
    assert_eq!(cues[0].speaker.as_ref().unwrap().chars().count(), draft::NAME);
}

#[test]
fn a_sign_that_opens_no_tag_is_a_sign() {
    let vtt = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>a < b <i>and</i> <c> <none> <v Bob>x <";
    let source = read(Format::Vtt, vtt.as_bytes()).unwrap();
    assert_eq!(source.text, "a < b and <none>\n\nx <");
}

#[test]
fn the_language_is_told_only_when_clear() {
    let german =
        "Das System muss alle Anträge innerhalb von zwei Sekunden speichern und darf dabei keine Daten verlieren.";
    assert_eq!(read(Format::Text, german.as_bytes()).unwrap().language.as_deref(), Some("de"));
    assert_eq!(read(Format::Text, b"ok").unwrap().language, None);
}

/// Returns the content as a file, as the server passes it to a reader.
fn file(content: &[u8]) -> std::fs::File {
    use std::io::Seek;
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file.rewind().unwrap();
    file
}

/// Writes a shell script that replaces the binary; it gets the same arguments and pipes.
#[cfg(unix)]
fn acting(folder: &std::path::Path, name: &str, script: &str) -> std::path::PathBuf {
    use std::os::unix::fs::PermissionsExt;
    let path = folder.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
    path
}

#[cfg(unix)]
#[tokio::test]
async fn whatever_the_child_does_the_parent_gets_a_clear_answer() {
    let folder = tempfile::tempdir().unwrap();
    let limits = ReaderLimits { wall: std::time::Duration::from_secs(2), output: 1_000_000, parallel: 2 };
    for (name, script, reason) in [
        ("hangs", "exec sleep 60", UnreadableReason::Interrupted),
        ("loops", "while :; do :; done", UnreadableReason::Interrupted),
        ("over-cpu", "kill -XCPU $$", UnreadableReason::TimedOut),
        ("floods", "exec yes", UnreadableReason::TooLarge),
        ("segfaults", "kill -SEGV $$", UnreadableReason::Crashed),
        ("aborts", "kill -ABRT $$", UnreadableReason::Crashed),
        ("is-told-to-end", "kill -TERM $$", UnreadableReason::Interrupted),
        ("babbles", "cat >/dev/null; echo hello", UnreadableReason::Crashed),
        ("fails", "exit 1", UnreadableReason::Crashed),
        (
            "is-refused",
            r#"cat >/dev/null; printf 'noise \036unreadable\n{"reason":"EMPTY","message":"None."}'"#,
            UnreadableReason::Empty,
        ),
        ("lies", r#"printf '\036read\n{"text":1}'"#, UnreadableReason::Crashed),
        ("is-cut-off", r#"printf '\036re'"#, UnreadableReason::Crashed),
    ] {
        let reader = Reader::new(acting(folder.path(), name, script), limits);
        let started = std::time::Instant::now();
        let error = reader.read(Format::Pdf, file(&[b'x'; 300_000])).await.unwrap_err();
        assert_eq!(error.reason, reason, "{name}: {error}");
        assert!(error.message.ends_with('.') && started.elapsed().as_secs() < 10, "{name}");
    }
    let nobody = Reader::new(folder.path().join("missing"), limits);
    assert_eq!(nobody.read(Format::Pdf, file(b"")).await.unwrap_err().reason, UnreadableReason::Interrupted);
}

#[cfg(unix)]
#[tokio::test]
async fn the_child_sees_no_environment_and_waits_for_a_place() {
    let folder = tempfile::tempdir().unwrap();
    let script = r#"test -z "$HOME" || exit 1; cat >/dev/null; sleep 0.5
printf '\036read\n{"text":"%s","pages":[],"sections":[],"cues":[],"blocks":[],"language":"de","readerVersion":"1"}' "$*""#;
    let limits = ReaderLimits { parallel: 1, ..ReaderLimits::default() };
    let reader = Reader::new(acting(folder.path(), "reads", script), limits);
    let started = std::time::Instant::now();
    let (one, two) = tokio::join!(reader.read(Format::Vtt, file(b"")), reader.read(Format::Csv, file(&[0; 1 << 20])));
    let (one, two) = (one.unwrap(), two.unwrap());
    let text = |read: &ReadDocument| serde_json::from_str::<SourceText>(&read.json).unwrap().text;
    assert_eq!(text(&one), "read-document --format vtt --memory-mib 512 --seconds 3");
    assert_eq!(text(&two), "read-document --format csv --memory-mib 512 --seconds 5", "more for what is larger");
    assert_eq!((one.pages, one.characters, one.language.as_deref()), (0, 55, Some("de")));
    assert!(started.elapsed().as_millis() >= 1_000, "one after the other");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600), text in "[\\PC\n|#<>*&;:,\"-]{0,300}") {
        for (format, _) in Format::ALL {
            if let Ok(source) = read(format, &bytes) {
                honest(&source);
            }
            if let Ok(source) = read(format, text.as_bytes()) {
                honest(&source);
            }
        }
        let _ = sniff("a.txt", &bytes);
        let _ = read(Format::Pdf, &[b"%PDF-1.4\n".as_slice(), &bytes].concat());
    }
}
