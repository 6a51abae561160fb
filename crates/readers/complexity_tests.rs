//! Scaling tests of the readers with input made to be slow: twice the size must not take more than three times the
//! processor time, and the JSON must stay in proportion to the document.

use std::io::{Cursor, Write};

use zip::write::SimpleFileOptions;

use super::{Format, read};

/// Maximum bytes of JSON for each byte of a document; `JSON_BASE` is added for any document.
const JSON_PER_BYTE: usize = 100;
const JSON_BASE: usize = 4096;

pub(super) fn assert_linear(name: &str, format: Format, first: usize, make: impl Fn(usize) -> Vec<u8>) {
    complexity::assert_linear(name, first, &make, |bytes| read(format, bytes));
    let bytes = make(4 * first);
    if let Ok(source) = read(format, &bytes) {
        let json = serde_json::to_vec(&source).unwrap().len();
        assert!(json <= JSON_BASE + JSON_PER_BYTE * bytes.len(), "{name}: {json} bytes of JSON from {}", bytes.len());
    }
}

/// Asserts linear time for each piece, repeated n times.
pub(super) fn assert_linear_repeated(format: Format, before: &str, pieces: &[&str]) {
    for piece in pieces {
        assert_linear(piece, format, 20_000 / piece.len(), |n| (before.to_owned() + &piece.repeat(n)).into_bytes());
    }
}

#[test]
fn html_is_read_in_proportion_to_its_size() {
    let tags =
        ["<", "<a ", "</", "</p ", "<!", "<!--", "<p>", "<p>x", "</p>", "<div>", "<h2>", "<del>", "<br>", "<li>"];
    assert_linear_repeated(Format::Html, "", &tags);
    let more =
        ["<table><tr><td>", "<ul><li>", "<pre>", "<script>", "<title>", "<svg>", "<footer>", "&", "&amp", "&#1", "x\n"];
    assert_linear_repeated(Format::Html, "", &more);
    assert_linear_repeated(Format::Html, "<table><tr>", &["<td>", "<td>x", "<tr><td>x<td>y"]);
    assert_linear_repeated(Format::Html, "<p ", &["a ", "a=b ", "a='", "/"]);
    assert_linear_repeated(Format::Html, "<script>", &["<", "</", "</script", "<!--"]);
    assert_linear_repeated(Format::Html, "<!--", &["-", "<!--", "--!"]);
    assert_linear("attributes", Format::Html, 2_000, |n| {
        let attributes: String = (0..n).map(|at| format!(" a{at}=1")).collect();
        format!("<p{attributes}>x").into_bytes()
    });
    assert_linear("headings in headings", Format::Html, 30, |n| {
        let heading = "Heading ".repeat(60);
        (0..n).map(|at| format!("<h{0}>{heading}</h{0}><p>x", at % 6 + 1)).collect::<String>().into_bytes()
    });
}

#[test]
fn markdown_is_read_in_proportion_to_its_size() {
    let marks = [
        "[", "[a", "[a](", "[](", "](", "![", "*", "*a ", "*a_ ", "**a *", "_", "~", "~~a", ">", "> ", "- ", "1. ",
        "* a\n",
    ];
    assert_linear_repeated(Format::Markdown, "", &marks);
    let more = [
        "`",
        "`a",
        "a\n",
        "a\n\n",
        "# a\n",
        "#",
        "|a",
        "|-",
        "---\n",
        "===\n",
        "<",
        "<a ",
        "<!--",
        "<?",
        "<![CDATA[",
        "<!A",
    ];
    assert_linear_repeated(Format::Markdown, "", &more);
    let links = [
        "[a]: b\n",
        "[a]: b\n\n[a]",
        "[^a]: b\n\n",
        "[^a]",
        "[^",
        "[a](<b",
        "[a][",
        "[a](b \"",
        "&",
        "&#",
        "\\",
        "\t",
        "    a\n",
        "```\n",
    ];
    assert_linear_repeated(Format::Markdown, "", &links);
}

#[test]
fn text_is_read_in_proportion_to_its_size() {
    let lines = [
        "a",
        ".",
        "\n",
        "\r",
        "a\n",
        "a\n\n",
        "- a\n",
        "- ",
        "1. A\n\n",
        "1.1 ",
        "===\n",
        "a\n===\n\n",
        "x ",
        " ",
        "\t",
        "é",
    ];
    assert_linear_repeated(Format::Text, "", &lines);
    assert_linear_repeated(
        Format::Text,
        "",
        &["A line that is as long as those that are wrapped at their end\n", "annex A ", "\u{2028}"],
    );
}

#[test]
fn csv_is_read_in_proportion_to_its_size() {
    assert_linear_repeated(Format::Csv, "", &[",", "a,", "a,b\n", "\"", "\"\"", "\"a\",", "\n", "a;b\n", "\"a\n"]);
    assert_linear_repeated(Format::Csv, "name,wish\n", &["a,b\n", ",\n", "a,b,c,d,e\n", "\"a\n"]);
    assert_linear("many columns", Format::Csv, 500, |n| {
        let names: Vec<String> = (0..n).map(|at| format!("name {at}x")).collect();
        (names.join(",") + "\n" + &"a,b\n".repeat(n)).into_bytes()
    });
    assert_linear("a long name over many rows", Format::Csv, 2_000, |n| {
        ("n".repeat(n) + ",b\n" + &"1,2\n".repeat(n)).into_bytes()
    });
}

#[test]
fn transcripts_are_read_in_proportion_to_their_size() {
    let cue = "WEBVTT\n\n00:01.000 --> 00:02.000\n";
    let speech = [
        "<", "<v ", "<v A>", "<v A>x", "<i>", "</", "<00:", "&", "&lt;", "a ", "a: ", "A b: ", "A", "-", ">", "-->",
        "x\n",
    ];
    assert_linear_repeated(Format::Vtt, cue, &speech);
    assert_linear("signs up to one end", Format::Vtt, 4_000, |n| format!("{cue}{}>", "<".repeat(n)).into_bytes());
    assert_linear_repeated(
        Format::Vtt,
        "WEBVTT\n\n",
        &["00:01.000 --> 00:02.000\n<v A>x\n\n", "00:01.000 --> 00:02.000\nx\n", "NOTE\n\n", "-->"],
    );
    assert_linear_repeated(Format::Srt, "", &["1\n00:00:01,000 --> 00:00:02,000\nAnn: x\n\n", "00:"]);
    assert_linear("many speakers", Format::Srt, 200, |n| {
        let cue = |at: usize| format!("{at}\n00:00:01,000 --> 00:00:02,000\nAnn {at}: x\n\n");
        (0..n).map(|at| cue(at % (n / 2 + 1))).collect::<String>().into_bytes()
    });
    assert_linear("a long speaker in many cues", Format::Vtt, 300, |n| {
        let name = "n".repeat(30 * n);
        format!("WEBVTT\n\n00:01.000 --> 00:02.000\n<v {name}>x\n\n{}", "00:01.000 --> 00:02.000\nx\n\n".repeat(n))
            .into_bytes()
    });
}

/// Builds a DOCX without compression, so that the compression is not measured.
fn docx(body: &str, more: &[(&str, String)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    let document = format!("<w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>");
    for (name, content) in more.iter().map(|(name, content)| (*name, content)).chain([("word/document.xml", &document)])
    {
        zip.start_file(name, stored).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

#[test]
fn docx_is_read_in_proportion_to_its_size() {
    let text = "<w:p><w:r><w:t>x</w:t></w:r></w:p>";
    let pieces = [
        text,
        "<w:p/>",
        "<w:p><w:pPr><w:pStyle w:val=\"heading 1\"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>",
        "<w:tbl><w:tr><w:tc><w:p/></w:tc><w:tc><w:p/></w:tc></w:tr></w:tbl>",
        "<!-- -->",
        "&#65;",
    ];
    for piece in pieces {
        assert_linear(piece, Format::Docx, 200, |n| docx(&piece.repeat(n), &[]));
    }
    for piece in ["<w:r><w:t>x</w:t></w:r>", "<w:tab/>", "<w:footnoteReference w:id=\"2\"/>", "<w:pStyle w:val=\"x\"/>"]
    {
        assert_linear(piece, Format::Docx, 400, |n| docx(&format!("<w:p>{}</w:p>", piece.repeat(n)), &[]));
    }
    assert_linear("cells", Format::Docx, 300, |n| {
        docx(&format!("<w:tbl><w:tr>{}</w:tr></w:tbl>", format!("<w:tc>{text}</w:tc>").repeat(n)), &[])
    });
    assert_linear("attributes", Format::Docx, 1_000, |n| {
        let attributes: String = (0..n).map(|at| format!(" a{at}=\"1\"")).collect();
        docx(&format!("<w:p><w:pPr><w:pStyle{attributes}/></w:pPr></w:p>{text}"), &[])
    });
    assert_linear("a style with a long name", Format::Docx, 200, |n| {
        let name = "n".repeat(100 * n);
        let styles = format!("<s><style styleId=\"a\"><name val=\"{name}\"/></style></s>");
        let paragraph = "<w:p><w:pPr><w:pStyle w:val=\"a\"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>";
        docx(&paragraph.repeat(n), &[("word/styles.xml", styles)])
    });
    assert_linear("styles upon styles", Format::Docx, 200, |n| {
        let style = |at: usize| format!("<style styleId=\"{at}\"><basedOn val=\"{}\"/></style>", at + 1);
        let styles = format!("<s>{}</s>", (0..n).map(style).collect::<String>());
        let paragraph = |at| format!("<w:p><w:pPr><w:pStyle w:val=\"{at}\"/></w:pPr><w:r><w:t>x</w:t></w:r></w:p>");
        docx(&(0..n).map(paragraph).collect::<String>(), &[("word/styles.xml", styles)])
    });
    assert_linear("a long note named often", Format::Docx, 200, |n| {
        let note = "note ".repeat(20 * n);
        let notes = format!("<f><footnote id=\"2\"><p><r><t>{note}</t></r></p></footnote></f>");
        let paragraph = "<w:p><w:r><w:t>x</w:t><w:footnoteReference w:id=\"2\"/></w:r></w:p>";
        docx(&paragraph.repeat(n), &[("word/footnotes.xml", notes)])
    });
    assert_linear("many parts", Format::Docx, 50, |n| {
        let names: Vec<String> = (0..n).map(|at| format!("word/media/{at}")).collect();
        let parts: Vec<(&str, String)> = names.iter().map(|name| (name.as_str(), String::new())).collect();
        docx(text, &parts)
    });
}
