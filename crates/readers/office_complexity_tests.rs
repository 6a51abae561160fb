//! Scaling tests of the readers of presentations, workbooks, OpenDocument texts and mails; see `complexity_tests`.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

use super::Format;
use super::complexity_tests::{assert_linear, assert_linear_repeated};

/// Builds a package without compression, so that the compression is not measured.
fn stored(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, content) in parts {
        zip.start_file(*name, options).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn sheet(before: &str, rows: &str, after: &str, strings: &str, styles: &str) -> Vec<u8> {
    let relations = "<R><Relationship Id=\"a\" Type=\"/worksheet\" Target=\"w.xml\"/></R>";
    let sheet = format!("<worksheet>{before}<sheetData>{rows}</sheetData>{after}</worksheet>");
    stored(&[
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"One\" r:id=\"a\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/w.xml", &sheet),
        ("xl/sharedStrings.xml", &format!("<sst>{strings}</sst>")),
        ("xl/styles.xml", &format!("<styleSheet>{styles}</styleSheet>")),
    ])
}

#[test]
fn workbooks_are_read_in_proportion_to_their_size() {
    for row in [
        "<row><c><v>1</v></c></row>",
        "<row/>",
        "<row r=\"1\"><c r=\"A1\" t=\"s\"><v>0</v></c><c r=\"C1\"><v>2</v></c></row>",
        "<row hidden=\"1\"><c><v>1</v></c></row>",
        "<row><c t=\"inlineStr\"><is><t>Name</t></is></c><c t=\"str\"><v>Wish</v></c></row>",
        "<!-- -->",
    ] {
        assert_linear(row, Format::Xlsx, 200, |n| sheet("", &row.repeat(n), "", "<si><t>x</t></si>", ""));
    }
    assert_linear("cells of a row", Format::Xlsx, 400, |n| {
        sheet("", &format!("<row>{}</row>", "<c><v>1</v></c>".repeat(n)), "", "", "")
    });
    assert_linear("parts of a cell", Format::Xlsx, 1_000, |n| {
        sheet("", &format!("<row><c t=\"str\">{}</c></row>", "<v>_x0</v>&lt;".repeat(n)), "", "", "")
    });
    assert_linear("escapes", Format::Xlsx, 2_000, |n| {
        sheet("", &format!("<row><c t=\"str\"><v>{}</v></c></row>", "_x_x000D_".repeat(n)), "", "", "")
    });
    assert_linear("hidden columns", Format::Xlsx, 400, |n| {
        let columns =
            "<col min=\"1\" max=\"16384\" hidden=\"1\"/><col min=\"20000\" max=\"20001\" hidden=\"1\"/>".repeat(n);
        sheet(&format!("<cols>{columns}</cols>"), &"<row><c><v>1</v></c></row>".repeat(n), "", "", "")
    });
    assert_linear("shared strings and styles", Format::Xlsx, 400, |n| {
        let cells: String = (0..n).map(|at| format!("<row><c t=\"s\" s=\"{at}\"><v>{at}</v></c></row>")).collect();
        sheet("", &cells, "", &"<si><t>x</t></si>".repeat(n), &format!("<cellXfs>{}</cellXfs>", "<xf/>".repeat(n)))
    });
    assert_linear("a long shared string in many cells", Format::Xlsx, 100, |n| {
        let string = format!("<si><t>{}</t></si>", "word ".repeat(5 * n));
        sheet("", &"<row hidden=\"1\"><c t=\"s\"><v>0</v></c></row>".repeat(20_000), "", &string, "")
    });
    assert_linear("merged cells over rows", Format::Xlsx, 100, |n| {
        let merged: String = (0..n).map(|at| format!("<mergeCell ref=\"{}1:{0}9999\"/>", column(at))).collect();
        let first: String = (0..n).map(|at| format!("<c r=\"{}1\" t=\"str\"><v>x</v></c>", column(at))).collect();
        let rows = format!("<row r=\"1\">{first}</row>{}", "<row/>".repeat(20 * n));
        sheet("", &rows, &format!("<mergeCells>{merged}</mergeCells>"), "", "")
    });
    assert_linear("relations", Format::Xlsx, 200, |n| {
        let relations: String =
            (0..n).map(|at| format!("<Relationship Id=\"{at}\" Type=\"/worksheet\" Target=\"w.xml\"/>")).collect();
        let sheets: String = (0..n).map(|at| format!("<sheet name=\"S\" r:id=\"{at}\"/>")).collect();
        stored(&[
            ("xl/workbook.xml", &format!("<workbook><sheets>{sheets}</sheets></workbook>")),
            ("xl/_rels/workbook.xml.rels", &format!("<R>{relations}</R>")),
            ("xl/w.xml", "<worksheet><sheetData/></worksheet>"),
        ])
    });
}

fn column(at: usize) -> String {
    let letter = |at: usize| char::from(b'A' + u8::try_from(at % 26).unwrap());
    [at / 676 + 25, at / 26 + 26, at].map(letter).iter().collect()
}

const WHITE_RUN: &str =
    "<a:p><a:r><a:rPr><a:solidFill><a:srgbClr val=\"FFFFFF\"/></a:solidFill></a:rPr><a:t>x</a:t></a:r></a:p>";

fn slides(contents: &[String]) -> Vec<u8> {
    let names: Vec<String> = (0..contents.len()).map(|at| format!("ppt/{at}.xml")).collect();
    let list: String = (0..contents.len()).map(|at| format!("<p:sldId r:id=\"r{at}\"/>")).collect();
    let relation = |at: usize| format!("<Relationship Id=\"r{at}\" Type=\"/slide\" Target=\"{at}.xml\"/>");
    let relations = format!("<R>{}</R>", (0..contents.len()).map(relation).collect::<String>());
    let presentation = format!("<p:presentation>{list}<p:sldSz cx=\"9\" cy=\"9\"/></p:presentation>");
    let mut parts =
        vec![("ppt/presentation.xml", presentation.as_str()), ("ppt/_rels/presentation.xml.rels", relations.as_str())];
    parts.extend(names.iter().map(String::as_str).zip(contents.iter().map(String::as_str)));
    stored(&parts)
}

#[test]
fn presentations_are_read_in_proportion_to_their_size() {
    let text = "<a:p><a:r><a:t>x</a:t></a:r></a:p>";
    for piece in [
        text,
        "<a:p/>",
        "<a:br/>",
        "<a:r><a:rPr><a:noFill/></a:rPr><a:t>x</a:t></a:r>",
        "<a:tr><a:tc><a:p/></a:tc><a:tc/></a:tr>",
        "</p:sp><p:sp>",
        "</p:sp><p:grpSp><p:sp><a:p/></p:sp></p:grpSp><p:sp>",
        "<p:ph type=\"title\"/>",
        "<dgm:relIds r:dm=\"x\"/>",
        WHITE_RUN,
        "</p:sp><p:sp><p:spPr><a:gradFill/></p:spPr><a:p><a:r><a:rPr><a:solidFill><a:schemeClr \
            val=\"bg1\"/></a:solidFill></a:rPr><a:t>x</a:t></a:r></a:p>",
    ] {
        assert_linear(piece, Format::Pptx, 300, |n| {
            slides(&[format!("<p:sld><p:sp>{}</p:sp></p:sld>", piece.repeat(n))])
        });
    }
    assert_linear("one paragraph of many runs", Format::Pptx, 400, |n| {
        slides(&[format!("<p:sld><p:sp><a:p>{}</a:p></p:sp></p:sld>", "<a:r><a:t>x</a:t></a:r>".repeat(n))])
    });
    assert_linear("cells", Format::Pptx, 300, |n| {
        let cells = format!("<a:tc>{text}</a:tc>").repeat(n);
        slides(&[format!("<p:sld><p:graphicFrame><a:tr>{cells}</a:tr></p:graphicFrame></p:sld>")])
    });
    assert_linear("titles", Format::Pptx, 300, |n| {
        let title = format!("<p:sp><p:ph type=\"title\"/>{text}</p:sp>").repeat(n);
        slides(&[format!("<p:sld>{title}</p:sld>")])
    });
    assert_linear("slides", Format::Pptx, 30, |n| {
        let slide = format!("<p:sld><p:sp>{text}</p:sp></p:sld>");
        slides(&vec![slide; n])
    });
    assert_linear("slides of one layout", Format::Pptx, 30, |n| {
        let names: Vec<String> = (0..n).map(|at| format!("ppt/{at}.xml")).collect();
        let relations: Vec<String> = (0..n).map(|at| format!("ppt/_rels/{at}.xml.rels")).collect();
        let relation =
            |kind: &str, target: &str| format!("<Relationship Id=\"{target}\" Type=\"/{kind}\" Target=\"{target}\"/>");
        let list: String = (0..n).map(|at| format!("<p:sldId r:id=\"{at}.xml\"/>")).collect();
        let presentation = format!("<p:presentation>{list}<p:sldSz cx=\"9\" cy=\"9\"/></p:presentation>");
        let of_presentation: String = (0..n).map(|at| relation("slide", &format!("{at}.xml"))).collect();
        let of_presentation = format!("<R>{of_presentation}</R>");
        let of_slide = format!("<R>{}</R>", relation("slideLayout", "layout.xml"));
        let layout = format!("<p:sldLayout>{}</p:sldLayout>", "<p:pic/>".repeat(20 * n));
        let slide = format!("<p:sld><p:sp>{WHITE_RUN}</p:sp></p:sld>");
        let mut parts = vec![
            ("ppt/presentation.xml", presentation.as_str()),
            ("ppt/_rels/presentation.xml.rels", of_presentation.as_str()),
            ("ppt/layout.xml", layout.as_str()),
        ];
        parts.extend(names.iter().map(|name| (name.as_str(), slide.as_str())));
        parts.extend(relations.iter().map(|name| (name.as_str(), of_slide.as_str())));
        stored(&parts)
    });
}

fn odt(styles: &str, body: &str) -> Vec<u8> {
    stored(&[("content.xml", &format!("<d>{styles}<office:text>{body}</office:text></d>"))])
}

#[test]
fn opendocument_texts_are_read_in_proportion_to_their_size() {
    let text = "<text:p>x</text:p>";
    for piece in [
        text,
        "<text:h text:outline-level=\"3\">x</text:h>",
        "<text:list><text:list-item><text:p>x</text:p></text:list-item></text:list>",
        "<table:table><table:table-row><table:table-cell/><table:table-cell><text:p>x</text:p></table:table-cell></table:table-row></table:table>",
        "<text:section text:display=\"none\"><text:p>x</text:p></text:section>",
        "<office:annotation><text:p>x</text:p></office:annotation>",
    ] {
        assert_linear(piece, Format::Odt, 200, |n| odt("", &piece.repeat(n)));
    }
    for piece in [
        "<text:span text:style-name=\"a\">x</text:span>",
        "<text:s text:c=\"100\"/>",
        "<text:tab/>",
        " &#32;x",
        "<text:note><text:note-body><text:p>x</text:p></text:note-body></text:note>",
        "<draw:frame><draw:text-box><text:p>x</text:p></draw:text-box></draw:frame>",
        "<text:hidden-paragraph text:is-hidden=\"true\"/>x",
    ] {
        assert_linear(piece, Format::Odt, 300, |n| odt("", &format!("<text:p>{}</text:p>", piece.repeat(n))));
    }
    assert_linear("styles upon styles", Format::Odt, 200, |n| {
        let style = |at: usize| format!("<style:style style:name=\"{at}\" style:parent-style-name=\"{}\"/>", at + 1);
        let paragraph = |at: usize| format!("<text:p text:style-name=\"{at}\">x</text:p>");
        odt(&(0..n).map(style).collect::<String>(), &(0..n).map(paragraph).collect::<String>())
    });
    assert_linear("cells", Format::Odt, 300, |n| {
        let cells = format!("<table:table-cell>{text}</table:table-cell>").repeat(n);
        odt("", &format!("<table:table><table:table-row>{cells}</table:table-row></table:table>"))
    });
}

#[test]
fn mails_are_read_in_proportion_to_their_size() {
    let lines = [
        "a",
        "\n",
        "> a\n",
        ">",
        "> > a\na\n",
        ">a\n>>a\n",
        "-- \n",
        "--\n",
        "--b\n",
        "On 1 May a wrote:\n> a\n",
        "a \n",
        " >",
    ];
    assert_linear_repeated(Format::Eml, "Subject: x\n\n", &lines);
    assert_linear_repeated(
        Format::Eml,
        "Subject: x\nContent-Type: text/plain; format=flowed\n\n",
        &["a \n", " \n", "> a \n", "a\n"],
    );
    assert_linear_repeated(
        Format::Eml,
        "Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\n",
        &[
            "a\n",
            "--b\n",
            "--b",
            "--b\nContent-Type: text/html\n\n<p>\n",
            "--b\nContent-Type: message/rfc822\n\nSubject: x\n\n",
        ],
    );
    let alternatives = |count: usize, parts: usize| {
        let kind = "--b\nContent-Type: multipart/alternative; boundary=c\n\n";
        let parts = "--c\nContent-Type: text/plain\n\nx\n".repeat(parts);
        format!("Subject: x\nContent-Type: multipart/mixed; boundary=b\n\n{}", format!("{kind}{parts}").repeat(count))
            .into_bytes()
    };
    assert_linear("many parts of which one is chosen", Format::Eml, 500, |n| alternatives(4, n / 4));
    assert_linear("one of a few parts, many times", Format::Eml, 500, |n| alternatives(n / 4, 4));
    assert_linear("many of many parts", Format::Eml, 500, |n| alternatives(n.isqrt(), n.isqrt()));
    for header in [
        "To: a@b,",
        "To: \"",
        "To: (",
        "To: <",
        "To: a:",
        "Subject: =?utf-8?q?a",
        "Subject: =?utf-8?b?",
        "Date: 1 ",
        "Content-Type: a/b; ",
        "X: ",
        "From: a <a@b>, ",
    ] {
        let (name, piece) = header.split_once(' ').unwrap();
        let piece = if piece.is_empty() { "x" } else { piece };
        assert_linear(header, Format::Eml, 20_000 / piece.len(), |n| {
            format!("{name} {}\nSubject: x\n\nHello.", piece.repeat(n)).into_bytes()
        });
    }
    assert_linear_repeated(Format::Eml, "", &["A: b\n", "To: a@b\n", "Content-Type: a/b; c=d\n", "Subject: x\n x\n"]);
    let attributes = ["; a=b", "; boundary*0=a", "; a*=utf-8''%41", "; a=\"b"];
    for attribute in attributes {
        assert_linear(attribute, Format::Eml, 2_000, |n| {
            format!("Content-Type: text/plain{}\n\nHello.", attribute.repeat(n)).into_bytes()
        });
    }
    for encoding in ["base64", "quoted-printable"] {
        let head = format!("Subject: x\nContent-Transfer-Encoding: {encoding}\n\n");
        assert_linear_repeated(Format::Eml, &head, &["YWFh", "=\n", "=41", " ", "\n"]);
    }
}
