//! Scaling tests of the import with files made to be slow or large: twice the size must not take more than three times the processor
//! time, and what there may be many of is refused while it is read.

use complexity::assert_linear;

use super::import::{archive, as_file, document};
use super::samples;
use crate::import::{Imported, ImportedUserStory, MAX_NOTES, compare, read_reqif, read_xlsx};
use crate::text::clean;

const HEADINGS: [&str; 5] = ["Code", "Title", "Statement", "Conflicts with", "ID"];

/// A workbook of these parts; one sheet of requirements where there is none among them.
fn workbook(parts: &[(&str, &str)]) -> Vec<u8> {
    let sheet = "<workbook><sheets><sheet name=\"Requirements\" id=\"s\"/></sheets></workbook>";
    let relation = "<Relationships><Relationship Id=\"s\" Target=\"worksheets/sheet1.xml\"/></Relationships>";
    let mut all = vec![("xl/workbook.xml", sheet), ("xl/_rels/workbook.xml.rels", relation)];
    all.retain(|(name, _)| !parts.iter().any(|(given, _)| given == name));
    all.extend(parts);
    archive(&all.iter().map(|(name, part)| (*name, part.as_bytes())).collect::<Vec<_>>())
}

fn cell(text: &str) -> String {
    format!("<c t=\"inlineStr\"><is><t>{text}</t></is></c>")
}

fn row(cells: &[&str]) -> String {
    format!("<row>{}</row>", cells.iter().map(|text| cell(text)).collect::<String>())
}

/// A workbook whose sheet of requirements has these rows below its headings.
fn requirements(rows: &str) -> Vec<u8> {
    let sheet = format!("<worksheet><sheetData>{}{rows}</sheetData></worksheet>", row(&HEADINGS));
    workbook(&[("xl/worksheets/sheet1.xml", &sheet)])
}

fn xlsx(name: &str, first: usize, make: impl Fn(usize) -> Vec<u8>) {
    assert_linear(name, first, make, |bytes| read_xlsx(bytes));
}

fn reqif(name: &str, first: usize, make: impl Fn(usize) -> String) {
    assert_linear(name, first, |n| document(&make(n)).into_bytes(), |bytes| read_reqif(bytes));
}

fn attributes(n: usize) -> String {
    (0..n).map(|at| format!(" a{at}=\"\"")).collect()
}

#[test]
fn workbooks_that_come_back_are_read_in_proportion_to_their_size() {
    xlsx("rows", 500, |n| {
        let rows =
            (0..n).map(|at| row(&[&format!("REQ-{at}"), "Title", "Statement", "REQ-1, REQ-2", &format!("id{at}")]));
        requirements(&rows.collect::<String>())
    });
    xlsx("cells of a row", 1_000, |n| requirements(&row(&vec!["x"; n])));
    xlsx("cells without a column", 1_000, |n| {
        requirements(&format!("<row>{}</row>", "<c r=\"B1\"><v>1</v></c>".repeat(n)))
    });
    xlsx("links of a cell", 2_000, |n| requirements(&row(&["REQ-1", "Title", "Statement", &"REQ-1,".repeat(n), "id"])));
    // Every sheet looked through all relations.
    xlsx("sheets and relations", 200, |n| {
        let sheets: String = (0..n).map(|at| format!("<sheet name=\"Requirements\" id=\"r{}\"/>", n + at)).collect();
        let relations: String = (0..n).map(|at| format!("<Relationship Id=\"r{at}\" Target=\"a{at}.xml\"/>")).collect();
        workbook(&[
            ("xl/workbook.xml", &format!("<workbook><sheets>{sheets}</sheets></workbook>")),
            ("xl/_rels/workbook.xml.rels", &format!("<Relationships>{relations}</Relationships>")),
        ])
    });
    xlsx("attributes", 2_000, |n| workbook(&[("xl/workbook.xml", &format!("<workbook{}/>", attributes(n)))]));
    xlsx("shared strings", 2_000, |n| {
        let texts: String = (0..n).map(|at| format!("<si><t>text _x000D_ {at}</t></si>")).collect();
        let rows: String = (0..n).map(|at| format!("<row><c t=\"s\"><v>{at}</v></c></row>")).collect();
        let sheet = format!("<worksheet><sheetData>{}{rows}</sheetData></worksheet>", row(&HEADINGS));
        let texts = format!("<sst>{texts}</sst>");
        workbook(&[("xl/worksheets/sheet1.xml", &sheet), ("xl/sharedStrings.xml", &texts)])
    });
    xlsx("long texts", 500, |n| {
        let sheets = "<workbook><sheets><sheet name=\"Requirements\" id=\"s\"/><sheet name=\"Long texts\" id=\"t\"/></sheets></workbook>";
        let relations = "<Relationships><Relationship Id=\"s\" Target=\"1.xml\"/><Relationship Id=\"t\" Target=\"2.xml\"/></Relationships>";
        let rows = (0..n).map(|at| {
            let continued = format!("x\n… (continues in sheet “Long texts”, row {at})");
            row(&[&format!("REQ-{at}"), "Title", &continued, "", &format!("id{at}")])
        });
        let pieces = (0..n).map(|at| row(&["Requirements", "Statement", "2", "y", &format!("id{at}")]));
        let rows = format!("<w>{}{}</w>", row(&HEADINGS), rows.collect::<String>());
        let columns = row(&["Sheet", "Column", "Part", "Text", "ID"]);
        let pieces = format!("<w>{columns}{}</w>", pieces.collect::<String>());
        let bytes = workbook(&[
            ("xl/workbook.xml", sheets),
            ("xl/_rels/workbook.xml.rels", relations),
            ("xl/1.xml", &rows),
            ("xl/2.xml", &pieces),
        ]);
        let read = read_xlsx(&bytes).unwrap();
        assert_eq!(read.requirements[0].statement.as_deref(), Some("xy"), "what is measured is what is meant");
        bytes
    });
}

fn value(kind: &str, attribute: &str, value: &str) -> String {
    format!("<ATTRIBUTE-VALUE-{kind}{value}><DEFINITION><R>{attribute}</R></DEFINITION></ATTRIBUTE-VALUE-{kind}>")
}

fn object(identifier: &str, kind: &str, values: &str) -> String {
    format!(
        "<SPEC-OBJECT IDENTIFIER=\"{identifier}\"><TYPE><R>{kind}</R></TYPE><VALUES>{values}</VALUES></SPEC-OBJECT>"
    )
}

fn object_type(identifier: &str, attributes: &str) -> String {
    format!(
        "<SPEC-OBJECT-TYPE IDENTIFIER=\"{identifier}\" \
            LONG-NAME=\"Requirement\"><SPEC-ATTRIBUTES>{attributes}</SPEC-ATTRIBUTES></SPEC-OBJECT-TYPE>"
    )
}

fn text_attribute(identifier: &str, default: &str) -> String {
    format!(
        "<A IDENTIFIER=\"{identifier}\" LONG-NAME=\"ReqIF.Text\"><DEFAULT-VALUE><V THE-VALUE=\"{default}\"/></DEFAULT-VALUE></A>"
    )
}

#[test]
fn reqif_is_read_in_proportion_to_its_size() {
    reqif("objects of a type with many attributes", 200, |n| {
        let attributes: String = (0..n).map(|at| text_attribute(&format!("a{at}"), "x")).collect();
        let objects: String = (0..n).map(|at| object(&format!("_{at}"), "t", "")).collect();
        let types = object_type("t", &attributes);
        format!("<SPEC-TYPES>{types}</SPEC-TYPES><SPEC-OBJECTS>{objects}</SPEC-OBJECTS>")
    });
    reqif("values of an object", 200, |n| {
        let attributes: String = (0..n).map(|at| text_attribute(&format!("a{at}"), "x")).collect();
        let values: String = (0..n).map(|at| value("STRING", &format!("a{at}"), " THE-VALUE=\"y\"")).collect();
        let (types, object) = (object_type("t", &attributes), object("_o", "t", &values));
        format!("<SPEC-TYPES>{types}</SPEC-TYPES><SPEC-OBJECTS>{object}</SPEC-OBJECTS>")
    });
    reqif("relations, and types of them", 500, |n| {
        let types: String =
            (0..n).map(|at| format!("<SPEC-RELATION-TYPE IDENTIFIER=\"r{at}\" LONG-NAME=\"traces\"/>")).collect();
        let objects: String = (0..n).map(|at| object(&format!("_{at}"), "t", "")).collect();
        let relations: String = (0..n)
            .map(|at| format!("<SPEC-RELATION><TYPE><R>r{at}</R></TYPE><SOURCE><R>_{at}</R></SOURCE><TARGET><R>_0</R></TARGET></SPEC-RELATION>"))
            .collect();
        format!(
            "<SPEC-TYPES>{types}</SPEC-TYPES><SPEC-OBJECTS>{objects}</SPEC-OBJECTS><SPEC-RELATIONS>{relations}</SPEC-RELATIONS>"
        )
    });
    reqif("links of one requirement", 1_000, |n| {
        let relations: String = (0..n)
            .map(|at| format!("<SPEC-RELATION><TYPE><R>r</R></TYPE><SOURCE><R>_0</R></SOURCE><TARGET><R>_x{at}</R></TARGET></SPEC-RELATION>"))
            .collect();
        let types = "<SPEC-RELATION-TYPE IDENTIFIER=\"r\" LONG-NAME=\"conflicts with\"/>";
        let object = object("_0", "t", "");
        format!(
            "<SPEC-TYPES>{types}</SPEC-TYPES><SPEC-OBJECTS>{object}</SPEC-OBJECTS><SPEC-RELATIONS>{relations}</SPEC-RELATIONS>"
        )
    });
    reqif("words of a value", 500, |n| {
        let words: String =
            (0..n).map(|at| format!("<ENUM-VALUE IDENTIFIER=\"w{at}\" LONG-NAME=\"Word {at}\"/>")).collect();
        let named: String = (0..n).map(|at| format!("<R>w{at}</R>")).collect();
        let attribute = "<A IDENTIFIER=\"a\" LONG-NAME=\"ReqIF.Name\"/>";
        let value = format!(
            "<ATTRIBUTE-VALUE-ENUMERATION><VALUES>{named}</VALUES><DEFINITION><R>a</R></DEFINITION></ATTRIBUTE-VALUE-ENUMERATION>"
        );
        format!(
            "<DATATYPES><DATATYPE-DEFINITION-ENUMERATION><SPECIFIED-VALUES>{words}</SPECIFIED-VALUES></DATATYPE-DEFINITION-ENUMERATION></DATATYPES><SPEC-TYPES>{}</SPEC-TYPES><SPEC-OBJECTS>{}</SPEC-OBJECTS>",
            object_type("t", attribute),
            object("_o", "t", &value),
        )
    });
    for piece in [
        "<p>a</p>",
        "<table><tr><td>a</td></tr></table>",
        "<ul><li>a</li></ul>",
        "<pre>a </pre>",
        "<br/>",
        "&#65;",
        " a ",
    ] {
        reqif(piece, 1_000, |n| {
            let attribute = "<A IDENTIFIER=\"a\" LONG-NAME=\"ReqIF.Text\"/>";
            let value = format!(
                "<ATTRIBUTE-VALUE-XHTML><THE-VALUE><div>{}</div></THE-VALUE><DEFINITION><R>a</R></DEFINITION></ATTRIBUTE-VALUE-XHTML>",
                piece.repeat(n)
            );
            format!(
                "<SPEC-TYPES>{}</SPEC-TYPES><SPEC-OBJECTS>{}</SPEC-OBJECTS>",
                object_type("t", attribute),
                object("_o", "t", &value)
            )
        });
    }
    reqif("attributes", 2_000, |n| format!("<SPEC-OBJECTS><SPEC-OBJECT{}/></SPEC-OBJECTS>", attributes(n)));
    reqif("unknown attributes", 500, |n| {
        let values: String = (0..n).map(|at| value("STRING", &format!("u{at}"), " THE-VALUE=\"y\"")).collect();
        format!("<SPEC-OBJECTS>{}</SPEC-OBJECTS>", object("_o", "t", &values))
    });
}

#[test]
fn a_file_is_compared_in_proportion_to_its_items_and_those_of_the_project() {
    let same = |n| {
        let specification = samples::large(n);
        let file = as_file(&specification);
        (specification, file)
    };
    assert_linear("the project itself", 50, same, |(specification, file)| compare(specification, file));
    let links = |n| {
        let specification = samples::large(n);
        // All that there are, and as many that lead nowhere.
        let named = specification.requirements.iter().map(|one| one.code.clone());
        let named = named.chain((0..n).map(|at| format!("_x{at}"))).collect();
        let file = Imported {
            user_stories: vec![ImportedUserStory { requirement_ids: Some(named), ..ImportedUserStory::default() }],
            ..Imported::default()
        };
        (specification, file)
    };
    assert_linear("links of a story", 200, links, |(specification, file)| compare(specification, file));
    let conflicts = |n| {
        let specification = samples::large(n);
        let mut file = as_file(&specification);
        let all: Vec<String> = specification.requirements.iter().map(|one| one.id.clone()).collect();
        file.requirements[0].conflicts_with = Some(all);
        (specification, file)
    };
    assert_linear("conflicts of a requirement", 100, conflicts, |(specification, file)| compare(specification, file));
}

#[test]
fn texts_are_cleaned_in_proportion_to_their_size() {
    for piece in ["\u{202d}", "\u{2069}", "\u{2067}", "\u{202a}", "\u{202c}", "\r\n", "\u{2067}\u{202d}\u{2069}"] {
        assert_linear(piece, 5_000, |n| piece.repeat(n), |text| clean(text).into_owned());
    }
    // Every end of an isolate looked through all marks for its beginning.
    let no_isolate = |n: usize| "\u{202d}".repeat(n) + &"\u{2069}".repeat(n);
    assert_linear("ends without a beginning", 5_000, no_isolate, |text| clean(text).into_owned());
}

#[test]
fn what_there_are_too_many_of_is_refused_while_it_is_read() {
    let refused = |bytes: &[u8]| read_xlsx(bytes).unwrap_err().to_string();
    let attributes = workbook(&[("xl/workbook.xml", &format!("<workbook{}/>", attributes(1_001)))]);
    assert_eq!(refused(&attributes), "xl/workbook.xml: An element of the XML has more than 1000 attributes.");
    let relations = format!("<Relationships>{}</Relationships>", "<R Id=\"a\" Target=\"b\"/>".repeat(10_001));
    let relations = workbook(&[("xl/_rels/workbook.xml.rels", &relations)]);
    assert_eq!(refused(&relations), "xl/_rels/workbook.xml.rels: The workbook names more than 10000 parts.");
    let texts = workbook(&[("xl/sharedStrings.xml", &format!("<sst>{}</sst>", "<si/>".repeat(1_000_001)))]);
    assert_eq!(refused(&texts), "xl/sharedStrings.xml: The workbook has more than 1000000 texts.");
    // The end of the sheet is not reached: it would be damaged.
    let rows = requirements(&format!("{}<broken", row(&["REQ-1"]).repeat(50_001)));
    assert_eq!(refused(&rows), "The workbook has more than 50000 items.");
    let links = requirements(&row(&["REQ-1", "Title", "Statement", &"REQ-1,".repeat(200_001), "id"]));
    assert_eq!(refused(&links), "Requirements, row 2: The file has more than 200000 links between items.");
    let name = requirements(&row(&[&"x".repeat(1_001)]));
    assert!(refused(&name).contains("is longer than 1000 bytes: “xxx"), "{}", refused(&name));
    // The bound on elements is common to all parts.
    let half = format!("<sst>{}</sst>", "<x/>".repeat(2_000_000));
    let sheet = format!("<worksheet>{}</worksheet>", "<x/>".repeat(2_000_000));
    let elements = workbook(&[("xl/sharedStrings.xml", &half), ("xl/worksheets/sheet1.xml", &sheet)]);
    assert!(refused(&elements).contains("too many elements"), "{}", refused(&elements));

    let refused = |content: &str| read_reqif(document(content).as_bytes()).unwrap_err().message;
    let many = |piece: &str, n: usize, within: &str| format!("<{within}>{}</{within}>", piece.repeat(n));
    assert_eq!(
        refused(&many("<SPEC-RELATION/>", 200_001, "SPEC-RELATIONS")),
        "The file has more than 200000 relations."
    );
    assert_eq!(
        refused(&many("<SPEC-OBJECT-TYPE/>", 50_001, "SPEC-TYPES")),
        "The file has more than 50000 types, attributes and words."
    );
    let values = object("_o", "t", &"<V/>".repeat(1_000_001));
    assert_eq!(refused(&format!("<SPEC-OBJECTS>{values}</SPEC-OBJECTS>")), "The file has more than 1000000 values.");
    // A default value is a text of every object that leaves it out.
    let types = object_type("t", &text_attribute("a", &"x".repeat(10 * 1024 * 1024)));
    let objects: String = (0..21).map(|at| object(&format!("_{at}"), "t", "")).collect();
    assert_eq!(
        refused(&format!("<SPEC-TYPES>{types}</SPEC-TYPES><SPEC-OBJECTS>{objects}</SPEC-OBJECTS>")),
        "The texts of all items together are larger than a file may be."
    );
}

#[test]
fn of_many_notes_the_first_are_kept_and_all_are_counted() {
    let values: String = (0..MAX_NOTES + 5).map(|at| value("STRING", &format!("u{at}"), " THE-VALUE=\"y\"")).collect();
    let read = read_reqif(document(&format!("<SPEC-OBJECTS>{}</SPEC-OBJECTS>", object("_o", "t", &values))).as_bytes());
    let read = read.unwrap();
    assert_eq!((read.not_understood.len(), read.more_not_understood), (MAX_NOTES, 5));
    let comparison = compare(&samples::empty(), &read);
    assert_eq!((comparison.not_understood.len(), comparison.more_not_understood), (MAX_NOTES, 6));
    // Names of any length are not repeated at any length.
    let name = "n".repeat(60_000);
    let read = read_reqif(&archive(&[(&format!("{name}.reqif"), document("").as_bytes()), (&name, b"x")])).unwrap();
    assert!(read.not_understood[0].place.chars().count() <= 201, "{}", read.not_understood[0].place.len());
}
