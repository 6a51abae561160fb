//! Tests of imports that attack their reader. Each of these files took the server down, or a core for minutes: they fail alone, with a
//! sentence, and within the memory of a small machine.

use std::io::{Cursor, Write};
use std::time::{Duration, Instant};

use super::NOTE;
use super::exports::Analysed;
use crate::support::ServerSetup;

/// The address space of the server's own process, in MiB.
const MEBIBYTES: u64 = 1024;
/// How much more of it a file may cost the server, in KiB.
const MAX_GROWN: u64 = 48 * 1024;

fn archive(parts: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, part) in parts {
        archive.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(part.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

const RELATIONS: &str = "xl/_rels/workbook.xml.rels";
const ONE_SHEET: [(&str, &str); 2] = [
    ("xl/workbook.xml", "<workbook><sheets><sheet name=\"Requirements\" id=\"s\"/></sheets></workbook>"),
    (RELATIONS, "<Relationships><Relationship Id=\"s\" Target=\"s.xml\"/></Relationships>"),
];

/// A workbook whose first element has so many attributes.
fn attributes(n: usize) -> Vec<u8> {
    archive(&[("xl/workbook.xml", &format!("<workbook{}/>", " a=\"\"".repeat(n)))])
}

/// A workbook with so many rows of requirements.
fn rows(n: usize) -> Vec<u8> {
    let headings = "<row><c t=\"inlineStr\"><is><t>Code</t></is></c></row>";
    let rows = format!("<worksheet>{headings}{}</worksheet>", "<row><c><v>1</v></c></row>".repeat(n));
    archive(&[ONE_SHEET[0], ONE_SHEET[1], ("xl/s.xml", &rows)])
}

/// A workbook that names so many sheets, each of which it would look for among so many relations.
fn sheets(n: usize, relations: usize) -> Vec<u8> {
    let sheets = format!("<workbook>{}</workbook>", "<sheet name=\"Requirements\" id=\"z\"/>".repeat(n));
    let relations = format!("<R>{}</R>", "<R Id=\"a\" Target=\"b\"/>".repeat(relations));
    archive(&[("xl/workbook.xml", &sheets), (RELATIONS, &relations)])
}

fn reqif(content: &str) -> Vec<u8> {
    let document = format!("<REQ-IF><CORE-CONTENT><REQ-IF-CONTENT>{content}</REQ-IF-CONTENT></CORE-CONTENT></REQ-IF>");
    archive(&[("a.reqif", &document)])
}

/// ReqIF with so many objects, each of which would look at so many attributes of its type.
fn objects(n: usize, attributes: usize) -> Vec<u8> {
    let attributes: String = (0..attributes).map(|at| {
        format!("<A IDENTIFIER=\"a{at}\" LONG-NAME=\"ReqIF.Text\"><DEFAULT-VALUE><V THE-VALUE=\"x\"/></DEFAULT-VALUE></A>")
    }).collect();
    let objects: String =
        (0..n).map(|at| format!("<SPEC-OBJECT IDENTIFIER=\"_{at}\"><TYPE><R>t</R></TYPE></SPEC-OBJECT>")).collect();
    reqif(&format!(
        "<SPEC-TYPES><SPEC-OBJECT-TYPE \
            IDENTIFIER=\"t\"><SPEC-ATTRIBUTES>{attributes}</SPEC-ATTRIBUTES></SPEC-OBJECT-TYPE></SPEC-TYPES>\
            <SPEC-OBJECTS>{objects}</SPEC-OBJECTS>"
    ))
}

on_sqlite! {
    async fn a_file_that_attacks_its_reader_fails_alone_and_the_server_stays_up(setup: ServerSetup) {
        // Built before the first request: compressing takes longer than an idle connection stays open.
        let cases = [
            ("attributes.xlsx", attributes(40_000_000), "An element of the XML has more than 1000 attributes."),
            ("rows.xlsx", rows(1_000_000), "The workbook has more than 50000 items."),
            ("sheets.xlsx", sheets(1_000_000, 9_000), "The workbook has no sheet of requirements"),
            ("relations.xlsx", sheets(10, 1_000_000), "The workbook names more than 10000 parts."),
            ("relations.reqifz", reqif(&format!("<SPEC-RELATIONS>{}</SPEC-RELATIONS>", "<SPEC-RELATION/>".repeat(3_900_000))),
                "The file has more than 200000 relations."),
            ("objects.reqifz", objects(49_000, 49_000), "The file changes more than 20000 items. Split it."),
        ];
        let server = setup.start_within(MEBIBYTES, &[]);
        let analysed = Analysed::of(server.user().await, NOTE).await;
        let good = analysed.exported("XLSX").await;
        analysed.import("warm.xlsx", &good).await;
        let before = server.memory().peak;
        for (name, content, said) in &cases {
            let begun = Instant::now();
            let import = analysed.ended_import(name, content).await;
            let took = begun.elapsed();
            println!("{name}: {} KiB, {took:?}, the server at most {} KiB more", content.len() / 1024,
                server.memory().peak.saturating_sub(before));
            assert_eq!(import["status"], "FAILED", "{name}: {import}");
            assert!(import["errorMessage"].as_str().unwrap().contains(said), "{name}: {import}");
        }
        let grown = server.memory().peak.saturating_sub(before);
        assert!(grown < MAX_GROWN, "{grown} KiB more");
        analysed.import("items.xlsx", &good).await;

        // One that nobody waits for any more is read by whoever starts next, and takes it down no more than before.
        let cut = analysed.importing("again.xlsx", &cases[1].1).tried();
        let _ = tokio::time::timeout(Duration::from_millis(200), cut).await;
        server.kill();
        let server = setup.start_within(MEBIBYTES, &[]);
        let again = Analysed { ada: analysed.ada.at(&server), project: analysed.project };
        let import = again.ended_import("attributes.xlsx", &cases[0].1).await;
        assert_eq!(import["status"], "FAILED", "{import}");
        again.import("items.xlsx", &good).await;
        let listed = again.ada.client.get(again.imports()).await.is(200).data()["items"].as_array().unwrap().clone();
        for import in listed {
            again.end_of_import(import).await;
        }
    }
}
