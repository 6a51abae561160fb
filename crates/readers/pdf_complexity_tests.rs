//! Scaling tests of the PDF reader: long files of every kind of part, and small files that reference their parts many
//! times.

use std::fmt::Write;

use super::{Format, UnreadableReason, read};

/// Builds a file of these objects, numbered from 1; the first is the catalogue.
pub(super) fn pdf(objects: &[String]) -> Vec<u8> {
    let mut file = "%PDF-1.4\n".to_owned();
    let mut table = String::new();
    for (at, object) in objects.iter().enumerate() {
        writeln!(table, "{:010} 00000 n ", file.len()).unwrap();
        write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1).unwrap();
    }
    let (start, size) = (file.len(), objects.len() + 1);
    write!(file, "xref\n0 {size}\n0000000000 65535 f \n{table}trailer <</Size {size} /Root 1 0 R>>\n").unwrap();
    write!(file, "startxref\n{start}\n%%EOF\n").unwrap();
    file.into_bytes()
}

pub(super) fn stream(dictionary: &str, content: &str) -> String {
    format!("<<{dictionary}/Length {}>>\nstream\n{content}\nendstream", content.len() + 1)
}

pub(super) const CATALOGUE: &str = "<</Type/Catalog/Pages 2 0 R>>";
pub(super) const FONT: &str = "<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>";

/// Builds a file with one page; `more` are the objects from 6 on, which `resources` may reference.
pub(super) fn page(content: &str, resources: &str, more: &[String]) -> Vec<u8> {
    let mut objects = vec![
        CATALOGUE.to_owned(),
        "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 600 800]>>".to_owned(),
        format!("<</Type/Page/Parent 2 0 R/Contents 4 0 R/Resources<</Font<</F 5 0 R>>{resources}>>>>"),
        stream("", content),
        FONT.to_owned(),
    ];
    objects.extend_from_slice(more);
    pdf(&objects)
}

fn assert_linear(name: &str, first: usize, make: impl Fn(usize) -> Vec<u8>) {
    complexity::assert_linear(name, first, make, |bytes| read(Format::Pdf, bytes));
}

fn refused(name: &str, bytes: &[u8]) {
    let refused = read(Format::Pdf, bytes).unwrap_err();
    assert_eq!(refused.reason, UnreadableReason::Damaged, "{name}: {refused}");
}

#[test]
fn a_page_is_read_in_proportion_to_what_is_drawn() {
    let line = "BT /F 12 Tf 72 700 Td (Some words) Tj ET\n";
    for piece in [
        line,
        "BT /F 12 Tf (a) Tj ET ",
        "q ",
        "q Q ",
        "BI ",
        "BI /W 1 ID x EI ",
        "( ",
        "1 ",
        "/a ",
        "% ",
        "<",
        "0 0 m ",
    ] {
        assert_linear(piece, 2_000 / piece.len(), |n| page(&format!("{line}{}", piece.repeat(n)), "", &[]));
    }
    assert_linear("one string", 500, |n| page(&format!("BT /F 12 Tf ({}) Tj ET", "word ".repeat(n)), "", &[]));
    assert_linear("letters apart", 200, |n| page(&format!("BT /F 12 Tf [{}] TJ ET", "(a) 300 ".repeat(n)), "", &[]));
    assert_linear("lines of any size", 60, |n| {
        let line = |at| format!("BT /F {} Tf 72 {at} Td (Some words) Tj ET\n", 8 + at);
        page(&(0..n).map(line).collect::<String>(), "", &[])
    });
    assert_linear("one word far below another", 60, |n| {
        page(&(0..n).map(|at| format!("BT /F 9 Tf 72 {} Td (word) Tj ET\n", at * 11)).collect::<String>(), "", &[])
    });
}

#[test]
fn a_document_is_read_in_proportion_to_its_pages() {
    assert_linear("pages", 30, |n| {
        let kids: String = (0..n).map(|at| format!("{} 0 R ", at * 2 + 4)).collect();
        let mut objects =
            vec![CATALOGUE.to_owned(), format!("<</Type/Pages/Kids[{kids}]/MediaBox[0 0 600 800]>>"), FONT.to_owned()];
        for at in 0..n {
            let content = at * 2 + 5;
            objects.push(format!("<</Type/Page/Parent 2 0 R/Contents {content} 0 R/Resources<</Font<</F 3 0 R>>>>>>"));
            objects.push(stream("", &format!("BT /F 12 Tf 72 700 Td (Page {at} says this) Tj ET")));
        }
        pdf(&objects)
    });
    assert_linear("objects that nobody names", 300, |n| {
        page("BT /F 12 Tf (a) Tj ET", "", &vec!["<</A[1 2 3]>>".to_owned(); n])
    });
    assert_linear("tables before tables", 50, |n| {
        let mut file = page("BT /F 12 Tf (a) Tj ET", "", &[]);
        let mut last = file.windows(4).position(|window| window == b"xref").unwrap();
        for _ in 0..n {
            let start = file.len();
            let more = format!(
                "xref\n0 1\n0000000000 65535 f \ntrailer <</Size 6 /Root 1 0 R /Prev {last}>>\nstartxref\n{start}\n%%EOF\n"
            );
            file.extend_from_slice(more.as_bytes());
            last = start;
        }
        file
    });
}

#[test]
fn what_is_seen_is_found_in_proportion_to_what_is_painted() {
    let white = "1 g BT /F 12 Tf 72 700 Td (Some words) Tj ET\n";
    for piece in [
        "0 g 0 0 600 800 re f ",
        "1 g 0 0 600 800 re f ",
        "30 w 0 0 m 600 800 l S ",
        "30 w 0 0 m 9 9 l 0 9 l 9 0 l ",
        "0 0 600 800 re W n ",
        "q 1 0 0 1 1 1 cm ",
        "/S cs 1 scn ",
        "/G gs ",
        "3 Tr ",
        "sh ",
    ] {
        let resources = "/ColorSpace<</S 6 0 R>>/ExtGState<</G<</ca 1>>>>";
        let space = "[/Separation/Ink/DeviceGray 7 0 R]".to_owned();
        assert_linear(piece, 2_000 / piece.len(), |n| {
            page(&format!("{white}{}", format!("{piece}{white}").repeat(n)), resources, std::slice::from_ref(&space))
        });
        assert_linear(piece, 2_000 / piece.len(), |n| {
            page(&format!("{white}{}{white}", piece.repeat(n)), resources, std::slice::from_ref(&space))
        });
    }
    assert_linear("forms of white words", 100, |n| {
        let form = stream("/Subtype/Form/BBox[0 0 600 800]/Matrix[1 0 0 1 1 1]", white);
        page(&"0 g 9 9 9 9 re f /X Do ".repeat(n), "/XObject<</X 6 0 R>>", &[form])
    });
    assert_linear("resources that all pages have", 60, |n| {
        let kids: String = (0..n).map(|at| format!("{} 0 R ", at + 6)).collect();
        let states: String = (0..n).map(|at| format!("/G{at} 5 0 R")).collect();
        let mut objects = vec![
            CATALOGUE.to_owned(),
            format!("<</Type/Pages/Kids[{kids}]/MediaBox[0 0 600 800]>>"),
            FONT.to_owned(),
            format!("<<{states}>>"),
            "<</ca 0.5>>".to_owned(),
        ];
        objects.extend((0..n).map(|_| "<</Type/Page/Parent 2 0 R/Resources<</ExtGState 4 0 R>>>>".to_owned()));
        pdf(&objects)
    });
}

/// Without limits, each file would cause `n` parts to be processed at least `n` times.
#[test]
fn what_is_named_again_and_again_is_not_read_again_and_again() {
    let words = |n: usize| "BT /F 12 Tf 72 700 Td (Some words) Tj ET\n".repeat(n);
    let pages_of_one = |n: usize| {
        let kids: String = (0..n).map(|at| format!("{} 0 R ", at + 5)).collect();
        let mut objects = vec![
            CATALOGUE.to_owned(),
            format!("<</Type/Pages/Kids[{kids}]/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>>>"),
            FONT.to_owned(),
            stream("", &words(n)),
        ];
        objects.extend((0..n).map(|_| "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>".to_owned()));
        pdf(&objects)
    };
    assert_linear("pages of one content", 1_000, pages_of_one);
    refused("pages of one content", &pages_of_one(2_000));
    let form = |n: usize| {
        page(&"/X Do ".repeat(n), "/XObject<</X 6 0 R>>", &[stream("/Type/XObject/Subtype/Form", &words(n))])
    };
    assert_linear("a form drawn often", 1_000, form);
    refused("a form drawn often", &form(2_000));
    let doubled = |n: usize| {
        let level =
            |at: usize| stream(&format!("/Subtype/Form/Resources<</XObject<</X {} 0 R>>>>", at + 7), "/X Do /X Do");
        let mut forms: Vec<String> = (0..n).map(level).collect();
        forms.push(stream("/Subtype/Form", "BT /F 12 Tf (a) Tj ET"));
        page("/X Do", "/XObject<</X 6 0 R>>", &forms)
    };
    assert_linear("forms that double", 26, doubled);
    refused("forms that double", &doubled(26));
    assert_linear("a colour profile chosen often", 300, |n| {
        let profile = stream("/N 3", &"p".repeat(100 * n));
        page(&format!("{}{}", "/C cs q ".repeat(n), words(1)), "/ColorSpace<</C[/ICCBased 6 0 R]>>", &[profile])
    });
    let fonts = |n: usize| {
        let (named, chosen): (Vec<_>, Vec<_>) =
            (0..n).map(|at| (format!("/f{at}<<>>"), format!("/f{at} 1 Tf "))).unzip();
        let contents = "4 0 R ".repeat(n);
        let resources = format!("/Resources<</Font<<{}>>>>", named.concat());
        pdf(&[
            CATALOGUE.to_owned(),
            "<</Type/Pages/Kids[3 0 R]/Count 1/MediaBox[0 0 600 800]>>".to_owned(),
            format!("<</Type/Page/Parent 2 0 R/Contents[{contents}]{resources}>>"),
            stream("", &chosen.concat()),
        ])
    };
    assert_linear("a content of many fonts named often", 500, fonts);
    refused("a content of many fonts named often", &fonts(2_000));
    assert_linear("a mask set often", 300, |n| {
        let state = format!("/ExtGState<</G<</SMask<</A[{}]>>>>>>", "1 ".repeat(20 * n));
        page(&format!("{}{}", "/G gs q ".repeat(n), words(1)), &state, &[])
    });
    assert_linear("a picture drawn often", 300, |n| {
        let picture = stream("/Subtype/Image", &"p ".repeat(50 * n));
        page(&format!("{}{}", "/X Do ".repeat(n), words(1)), "/XObject<</X 6 0 R>>", &[picture])
    });
    assert_linear("corners without end", 300, |n| {
        let kids: String = (0..n).map(|at| format!("{} 0 R ", at + 3)).collect();
        let mut objects =
            vec![CATALOGUE.to_owned(), format!("<</Type/Pages/Kids[{kids}]/MediaBox[{}]>>", "9 ".repeat(20 * n))];
        objects.extend((0..n).map(|_| "<</Type/Page/Parent 2 0 R>>".to_owned()));
        pdf(&objects)
    });
}

#[test]
fn circles_are_refused() {
    let tree = |parent: &str, kids: &str| {
        let nodes = [
            CATALOGUE.to_owned(),
            format!("<</Type/Pages/Kids[{kids}]/Count 1{parent}>>"),
            "<</Type/Page/Parent 2 0 R/Contents 4 0 R>>".to_owned(),
            stream("", "BT ET"),
        ];
        pdf(&nodes)
    };
    refused("a parent of itself", &tree("/Parent 2 0 R", "3 0 R"));
    refused("a parent that is a child", &tree("/Parent 3 0 R", "3 0 R"));
    refused("a child of itself", &tree("", "3 0 R 2 0 R"));
    refused("a page twice", &tree("", "3 0 R 3 0 R"));
    let itself = stream("/Subtype/Form/Resources<</XObject<</X 6 0 R>>>>", "/X Do");
    refused("a form in itself", &page("/X Do", "/XObject<</X 6 0 R>>", &[itself]));
    assert_linear("a tall tree", 500, |n| {
        let node = |at: usize| format!("<</Type/Pages/Kids[{} 0 R]/Parent {} 0 R>>", at + 3, at + 1);
        let mut objects = vec![CATALOGUE.to_owned()];
        objects.extend((0..n).map(node));
        objects.push(format!("<</Type/Page/Parent {} 0 R>>", n + 1));
        pdf(&objects)
    });
}
