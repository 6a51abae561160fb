//! Tests of what nobody sees on the pages of a PDF, and of what only looks as if.

use std::path::Path;

use super::pdf_complexity_tests::{CATALOGUE, FONT, page, pdf, stream};
use super::{Format, SourceText, UnreadableReason, read};

/// Draws words in a line of their own, with operators before them.
fn line(before: &str, y: u32, words: &str) -> String {
    format!("q {before} BT /F 12 Tf 72 {y} Td ({words}) Tj ET Q\n")
}

fn of(content: &str) -> SourceText {
    with(content, "", &[])
}

fn with(content: &str, resources: &str, more: &[String]) -> SourceText {
    read(Format::Pdf, &page(content, resources, more)).unwrap()
}

/// The text, and how many characters are hidden.
fn parts(source: &SourceText) -> (&str, usize) {
    (&source.text, source.hidden_characters)
}

#[test]
fn hidden_text_is_counted() {
    let content = line("", 700, "Shown.")
        + &line("1 g", 650, "white ink")
        + &line("3 Tr", 600, "no paint")
        + &line("1 0 0 1 0 900 cm", 550, "above")
        + &line("0.01 0 0 0.01 72 500 cm", 550, "tiny")
        + &line("1 Tr 1 G", 450, "outlined")
        + &line("2 Tr 1 G", 400, "Filled.");
    assert_eq!(parts(&of(&content)), ("Shown.\n\nFilled.", "whiteinknopaintabovetinyoutlined".len()));
}

#[test]
fn what_is_painted_before_is_the_ground_and_what_is_painted_later_is_not() {
    let ground = "0 g 60 690 300 30 re f ";
    let words = line("1 g", 700, "Words.");
    let more = line("", 100, "More.");
    let is_shown = |content: &str| parts(&of(&format!("{content}{more}"))).1 == 0;
    assert!(is_shown(&format!("{ground}{words}")));
    assert!(!is_shown(&format!("{words}{ground}")));
    assert!(!is_shown(&format!("{ground} q 1 g 50 680 320 50 re f Q {words}")));
    // White that is cut off, that is not all over the words, or that lets the ground through.
    assert!(is_shown(&format!("{ground} q 0 0 9 9 re W n 1 g 50 680 320 50 re f Q {words}")));
    assert!(is_shown(&format!("{ground} q 0 0 m 9 0 l 9 999 l h W n 1 g 50 680 320 50 re f Q {words}")));
    assert!(is_shown(&format!("{ground} q 1 g 50 680 m 60 690 l 70 680 l f Q {words}")));
    let half = format!("{ground} q /G gs 1 g 50 680 320 50 re f Q {words}{more}");
    for state in ["/ca 0.5", "/BM/Screen", "/SMask<</S/Luminosity>>"] {
        let inline = with(&half, &format!("/ExtGState<</G<<{state}>>>>"), &[]);
        assert_eq!(inline.hidden_characters, 0, "{state}");
        let elsewhere = with(&half, "/ExtGState<</G 6 0 R>>", &[format!("<<{state}>>")]);
        assert_eq!(elsewhere.hidden_characters, 0, "{state}");
    }
    let opaque = with(&half, "/ExtGState<</G<</ca 1/BM/Normal/SMask/None>>>>", &[]);
    assert_eq!(opaque.hidden_characters, "Words.".len());
    // A thin rule beside the words is no ground.
    assert!(!is_shown(&format!("0 g 60 716 300 0.5 re f {words}")));
    assert!(is_shown(&format!("0 G 30 w 60 705 m 400 705 l S {words}")));
}

#[test]
fn unpainted_text_is_read_where_a_page_looks_scanned() {
    let picture = stream("/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceGray", "x");
    let scan = "q 600 0 0 800 0 0 cm /P Do Q ";
    let stamp = "q 60 0 0 80 0 0 cm /P Do Q ";
    let words = line("3 Tr", 700, "The words of the picture.");
    let with_picture = |content: &str| with(content, "/XObject<</P 6 0 R>>", std::slice::from_ref(&picture));
    let short = line("", 100, "Copy");
    let long = line("", 100, "A page of visible words, and some more.");
    assert_eq!(with_picture(&format!("{words}{scan}{short}")).text, "The words of the picture.\n\nCopy");
    assert_eq!(with_picture(&format!("{scan}{words}")).text, "The words of the picture.");
    // The picture is elsewhere; most of the page is no scan; there is no picture at all.
    assert_eq!(with_picture(&format!("{stamp}{words}{short}")).text, "Copy");
    assert_eq!(with_picture(&format!("{scan}{words}{long}")).text, "A page of visible words, and some more.");
    assert_eq!(of(&format!("{words}{short}")).text, "Copy");
    assert_eq!(parts(&of(&words)), ("The words of the picture.", 0));
}

#[test]
fn a_string_without_characters_or_of_an_operator_that_is_not_read_hides_nothing_else() {
    let before = line("", 700, "Shown.");
    let content = format!("{before} 1 g BT /F 12 Tf 72 600 Td [() 20 (white) () (er)] TJ () Tj (!) Tj ET");
    assert_eq!(parts(&of(&content)), ("Shown.", "whiteer!".len()));
    // pdf-extract does not read (skipped), nor does it go down a line for it: what follows may be anywhere.
    let content = format!("{before} BT /F 12 Tf 72 9000 Td 99000 TL (skipped) ' (still read) Tj ET");
    assert_eq!(parts(&of(&content)), ("Shown.\n\nstill read", 0));
}

#[test]
fn letters_that_are_drawings_have_a_size_and_a_colour_of_their_own() {
    let font = "<</Type/Font/Subtype/Type3/FontBBox[0 0 99 99]/FontMatrix[1 0 0 1 0 0]/CharProcs<</a 7 0 R>>\
        /Encoding<</Differences[97/a]>>/FirstChar 97/LastChar 97/Widths[9]>>";
    let objects = [font.to_owned(), stream("", "9 0 d0 0 0 9 9 re f")];
    let content = "1 g BT /F 12 Tf 72 700 Td (white) Tj /T 0.1 Tf 0 -50 Td (a) Tj 3 Tr (a) Tj ET";
    let source = with(content, "/Font<</F 5 0 R/T 6 0 R>>", &objects);
    assert_eq!(parts(&source), ("aa", "white".len()));
}

#[test]
fn a_page_is_measured_by_its_own_unit_and_box() {
    let poster = |extent: &str, unit: &str, size: &str| {
        let objects = [
            CATALOGUE.to_owned(),
            format!("<</Type/Pages/Kids[3 0 R]/Count 1{extent}>>"),
            format!("<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>{unit}>>"),
            stream("", &format!("BT /F {size} Tf 1 1 Td (Words) Tj ET")),
            FONT.to_owned(),
        ];
        read(Format::Pdf, &pdf(&objects))
    };
    assert_eq!(poster("/MediaBox[60 80 0 0]", "", "0.5").unwrap().text, "Words");
    assert_eq!(poster("/MediaBox[0 0 600 800]", "/UserUnit 3", "0.5").unwrap().text, "Words");
    let hidden = poster("/MediaBox[0 0 600 800]", "", "0.5").unwrap_err();
    assert_eq!(hidden.reason, UnreadableReason::Empty);
    assert!(hidden.to_string().contains("is hidden"), "{hidden}");
    assert_eq!(poster("/MediaBox[0 0 9 9]/CropBox[50 50 60 60]", "", "1").unwrap().text, "Words");
    assert!(poster("/MediaBox[0 0 600 800]/CropBox[300 300 400 400]", "", "12").is_err());
}

#[test]
fn honest_documents_have_no_hidden_text() {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/samples");
    for name in [
        "call-for-tenders.pdf",
        "annex-operations.pdf",
        "readers/arabic.pdf",
        "readers/table.pdf",
        "readers/two-columns.pdf",
    ] {
        let source = read(Format::Pdf, &std::fs::read(samples.join(name)).unwrap()).unwrap();
        assert_eq!(source.hidden_characters, 0, "{name}");
    }
    for (name, hidden) in
        [("pdf/reportlab-scanned.pdf", 0), ("pdf/reportlab-dark.pdf", 0), ("pdf/reportlab-unpainted.pdf", 35)]
    {
        let source = read(Format::Pdf, &std::fs::read(samples.join(name)).unwrap()).unwrap();
        assert_eq!(source.hidden_characters, hidden, "{name}");
    }
}
