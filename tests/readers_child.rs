//! The real child on hostile documents: each is killed or refused, and its parent says so.

#![expect(clippy::unwrap_used, reason = "tests")]

use std::io::Write;
use std::time::{Duration, Instant};

use colloquy::pipeline::readers::{Format, Limits, Reader};

fn reader() -> Reader {
    let limits = Limits { parallel: 2, output: 128 * 1024 * 1024, ..Limits::default() };
    Reader::new(env!("CARGO_BIN_EXE_colloquy").into(), limits)
}

/// A PDF of these objects, numbered from 1; the first is the catalogue.
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

/// One page with `content`, and one more object that it may name as `X`.
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

/// `mib` MiB of spaces, deflated.
fn bomb(mib: usize) -> Vec<u8> {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    for _ in 0..mib {
        packed.write_all(&vec![b' '; 1 << 20]).unwrap();
    }
    packed.finish().unwrap()
}

#[tokio::test]
async fn a_plain_page_is_read() {
    assert_eq!(reader().read(Format::Pdf, hello()).await.unwrap().text, "Hello there");
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
        let started = Instant::now();
        let outcome = reader().read(Format::Pdf, bytes).await;
        assert!(outcome.is_err_and(|unreadable| unreadable.message.ends_with('.')), "{name}");
        assert!(started.elapsed() < Duration::from_secs(35), "{name}: {:?}", started.elapsed());
    }
}

/// As much text as an upload may have. The child's own limit is on processor time, so that it must not be one of many.
#[tokio::test]
#[cfg_attr(debug_assertions, ignore = "takes too long unoptimised")]
async fn fifty_mebibytes_pass_through_the_child() {
    for end in ["\n\n", " "] {
        let text =
            format!("The system shall keep every change for ten years, and it must be fast.{end}").repeat(700_000);
        let read = reader().read(Format::Text, text.clone().into_bytes()).await.unwrap();
        assert!(read.text.trim_end() == text.trim_end());
    }
}

#[test]
fn the_child_is_no_command_of_the_program() {
    let help = std::process::Command::new(env!("CARGO_BIN_EXE_colloquy")).arg("--help").output().unwrap();
    assert!(!String::from_utf8(help.stdout).unwrap().contains("read-document"));
}
