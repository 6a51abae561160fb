//! Tests of the child process that parses documents, on hostile input: it is killed or refuses, and its parent returns
//! the error.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::fs::File;
use std::io::{Seek, Write};

use readers::{Format, Reader, ReaderLimits, SourceText, Unreadable, UnreadableReason};

/// Parses a document in a child process, as the server does.
async fn read(format: Format, content: &[u8]) -> Result<SourceText, Unreadable> {
    let reader =
        Reader::new(env!("CARGO_BIN_EXE_colloquy").into(), ReaderLimits { parallel: 2, ..ReaderLimits::default() });
    let read = reader.read(format, file(content)).await?;
    let text: SourceText = serde_json::from_str(&read.json).unwrap();
    assert_eq!((read.pages, read.characters), (text.pages.len(), text.text.chars().count()));
    Ok(text)
}

fn file(content: &[u8]) -> File {
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(content).unwrap();
    file.rewind().unwrap();
    file
}

/// Builds a PDF of these objects, numbered from 1; the first is the catalogue.
fn pdf(objects: &[Vec<u8>]) -> Vec<u8> {
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut starts = Vec::new();
    for (at, object) in objects.iter().enumerate() {
        starts.push(out.len());
        writeln!(out, "{} 0 obj", at + 1).unwrap();
        out.extend_from_slice(object);
        out.extend_from_slice(b"\nendobj\n");
    }
    let table = out.len();
    write!(out, "xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).unwrap();
    for start in starts {
        writeln!(out, "{start:010} 00000 n ").unwrap();
    }
    write!(out, "trailer <</Size {} /Root 1 0 R>>\nstartxref\n{table}\n%%EOF\n", objects.len() + 1).unwrap();
    out
}

fn stream(dictionary: &str, content: &[u8]) -> Vec<u8> {
    let head = format!("<<{dictionary} /Length {}>>\nstream\n", content.len());
    [head.as_bytes(), content, b"\nendstream"].concat()
}

/// Builds a PDF with one page of `content`, and one more object that the page can refer to as `X`.
fn page(content: Vec<u8>, more: Vec<u8>) -> Vec<u8> {
    pdf(&[
        b"<</Type/Catalog/Pages 2 0 R>>".to_vec(),
        b"<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 600 800]>>".to_vec(),
        b"<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</XObject<</X 5 0 R>>/Font<</F 6 0 R>>>>>>".to_vec(),
        content,
        more,
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>".to_vec(),
    ])
}

fn hello() -> Vec<u8> {
    page(stream("", b"BT /F 12 Tf 72 700 Td (Hello there) Tj ET"), b"null".to_vec())
}

/// Returns `mib` MiB of spaces, deflated.
fn bomb(mib: usize) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..mib {
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    packed.finish().unwrap()
}

#[tokio::test]
async fn a_plain_page_is_read() {
    assert_eq!(read(Format::Pdf, &hello()).await.unwrap().text, "Hello there");
}

#[tokio::test]
async fn hostile_documents_end_in_an_answer() {
    let drawn_in_itself = "/Type/XObject/Subtype/Form/Resources<</XObject<</X 5 0 R>>>>";
    let circle: [&[u8]; 3] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[2 0 R 3 0 R]/Count 2/Parent 2 0 R>>",
        b"<</Type/Page/Parent 2 0 R>>",
    ];
    let deep = "[".repeat(1_000_000);
    let cases = [
        ("a form that draws itself", page(stream("", b"/X Do"), stream(drawn_in_itself, b"/X Do"))),
        ("a page of 900 MiB", page(stream("/Filter/FlateDecode", &bomb(900)), b"null".to_vec())),
        ("a deep list", page(stream("", b"BT ET"), deep.clone().into_bytes())),
        ("a deep list in a page", page(stream("", deep.as_bytes()), b"null".to_vec())),
        ("pages in a circle", pdf(&circle.map(<[u8]>::to_vec))),
        ("half a file", hello()[..hello().len() / 2].to_vec()),
        ("no text", page(stream("", b"0 0 m 9 9 l S"), b"null".to_vec())),
    ];
    for (name, bytes) in cases {
        let outcome = read(Format::Pdf, &bytes).await;
        assert!(outcome.is_err_and(|unreadable| unreadable.message.ends_with('.')), "{name}");
    }
}

/// Cases found by attack: each took the full thirty seconds, however small it was. A small file now has three seconds
/// and needs less, even in an unoptimised build.
#[tokio::test]
async fn small_files_that_cost_much_are_refused_or_read_within_the_time_of_small_files() {
    let parents: [&[u8]; 3] = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1/Parent 2 0 R>>",
        b"<</Type/Page/Parent 2 0 R>>",
    ];
    let parents = pdf(&parents.map(<[u8]>::to_vec));
    assert!(parents.len() < 450, "{}", parents.len());
    assert_eq!(read(Format::Pdf, &parents).await.unwrap_err().reason, UnreadableReason::Damaged);
    let attributes: String = (0..40_000).map(|at| format!(" a{at}=1")).collect();
    let said = read(Format::Html, format!("<p{attributes}>Read.").as_bytes()).await;
    assert_eq!(said.unwrap().text, "Read.");
    let signs = "<".repeat(300_000);
    assert_eq!(read(Format::Html, signs.as_bytes()).await.unwrap().text, signs);
    let cue = format!("WEBVTT\n\n00:01.000 --> 00:02.000\n{signs}");
    assert_eq!(read(Format::Vtt, cue.as_bytes()).await.unwrap().text, signs);
}

/// At most five million characters are read, whatever the size of the file in bytes.
#[tokio::test]
async fn as_much_text_as_is_read_passes_through_the_child_and_more_is_too_large() {
    let paragraph = "The system shall keep every change for ten years, and it must be fast. ".repeat(50);
    for end in ["\n\n", " "] {
        let text = format!("{paragraph}{end}").repeat(4_900_000 / 3_700);
        assert!(read(Format::Text, text.as_bytes()).await.unwrap().text.trim_end() == text.trim_end());
        let refused = read(Format::Text, text.repeat(2).as_bytes()).await.unwrap_err();
        assert_eq!(refused.reason, UnreadableReason::TooLarge, "{refused}");
    }
    let cues = |count: usize| "00:00:01.000 --> 00:00:02.000\n<v Ann>We do.\n\n".repeat(count);
    assert_eq!(read(Format::Vtt, cues(50_000).as_bytes()).await.unwrap().cues.len(), 50_000);
    assert_eq!(read(Format::Vtt, cues(500_000).as_bytes()).await.unwrap_err().reason, UnreadableReason::TooLarge);
}

#[test]
fn the_child_is_no_command_of_the_program() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_colloquy")).arg("--help").output().unwrap();
    assert!(!String::from_utf8(help.stdout).unwrap().contains("read-document"));
}
