//! Tests of uploads that are malformed, mislabelled or too large: each is refused or FAILED with a reason, and the
//! server stays up.

use std::io::Write;

use crate::support::documents::{documents, form, sample};
use crate::support::{ServerSetup, World};

/// The memory limit of the server in these tests, in MiB.
const LIMIT: u64 = 768;

/// Builds a DOCX whose main part is `document`.
fn docx(document: &[u8]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default();
    zip.start_file("[Content_Types].xml", options).unwrap();
    zip.write_all(b"<Types/>").unwrap();
    zip.start_file("word/document.xml", options).unwrap();
    zip.write_all(document).unwrap();
    zip.finish().unwrap().into_inner()
}

/// Builds a workbook with one sheet.
fn xlsx(sheet: &str) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    let relations = "<Relationships><Relationship Id=\"a\" Type=\"x/worksheet\" Target=\"sheet.xml\"/></Relationships>";
    for (name, content) in [
        ("[Content_Types].xml", "<Types/>"),
        ("xl/workbook.xml", "<workbook><sheets><sheet name=\"One\" r:id=\"a\"/></sheets></workbook>"),
        ("xl/_rels/workbook.xml.rels", relations),
        ("xl/sheet.xml", sheet),
    ] {
        zip.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

on_sqlite! {
    async fn the_type_of_a_document_is_detected_from_its_content(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0".as_slice();
        let exe = b"MZ\x90\0\x03\0\0\0\x04\0\0\0\xff\xff\0\0\xb8\0\0\0".as_slice();
        let mut xlsx = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        xlsx.start_file("xl/workbook.xml", zip::write::SimpleFileOptions::default()).unwrap();
        let xlsx = xlsx.finish().unwrap().into_inner();
        let pdf = sample("annex-operations.pdf");
        let pptx = sample("pptx/python-pptx-bullets.pptx");
        let cases: [(&str, &[u8]); 13] = [
            ("picture.png", png),
            ("picture.pdf", png),
            ("picture.txt", png),
            ("program.exe", exe),
            ("program.docx", exe),
            ("sheet.xlsx", &xlsx),
            ("sheet.docx", &xlsx),
            ("renamed.txt", &pdf),
            ("empty.pdf", b""),
            ("slides.xlsx", &pptx),
            ("slides.pptm", &pptx),
            ("slides.zip", &pptx),
            ("old.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"),
        ];
        for (name, content) in cases {
            ada.upload(&project, name, content).await.refused(415, "UnsupportedMediaType");
        }
        assert_eq!(ada.client.get(documents(&project)).await.is(200).data()["totalCount"], 0);
    }

    async fn an_invalid_form_reports_all_its_errors(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let at = documents(&project);
        let file = ("file", Some("plain.txt"), b"A line.".as_slice());
        let fault = |field: &str, code: &str| (field.to_owned(), code.to_owned());
        let cases: [(&[_], Vec<_>); 6] = [
            (&[], vec![fault("file", "Required")]),
            (&[("language", None, b"EN".as_slice())], vec![fault("file", "Required")]),
            (&[file, file], vec![fault("file", "Repeated")]),
            (
                &[("title", None, b"x"), file, ("language", None, b"XX")],
                vec![fault("language", "InvalidValue"), fault("title", "UnknownKey")],
            ),
            (&[("file", None, b"A line.")], vec![fault("file", "Required")]),
            (&[("file", Some(".."), b"A line.")], vec![fault("file", "InvalidValue")]),
        ];
        for (parts, faults) in cases {
            let answer = ada.client.post_form(&at, parts).await.is(422);
            assert_eq!(answer.faults(), faults, "{}", answer.text());
        }
        let given = ada.client.post_form(&at, &[("language", None, b"de"), file]).await.is(201);
        assert_eq!(given.text_of("language"), "DE");
        ada.client.post(&at).json(serde_json::json!({})).await.refused(400, "BadRequest");
        ada.client.post(&at).body("multipart/form-data", "x").await.refused(400, "BadRequest");
        let (content_type, mut cut) = form(&[file]);
        cut.truncate(cut.len() - 12);
        ada.client.post(&at).body(&content_type, cut).await.refused(400, "BadRequest");
    }

    async fn a_file_name_cannot_escape_its_folder_or_its_header(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, document) = ada.read(&project, "../../etc/passwd", b"A line.").await;
        assert_eq!(document["fileName"], "passwd");
        let content = ada.client.get(format!("{path}/content")).await.is(200);
        assert_eq!(
            content.header("content-disposition"),
            Some("attachment; filename=\"passwd\"; filename*=UTF-8''passwd")
        );
        assert_eq!(content.etag(), format!("\"{}\"", document["sha256"].as_str().unwrap()));
        let (path, document) = ada.read(&project, "Żółć <b>.html", b"<html><script>alert(1)</script>Hi</html>").await;
        assert_eq!(document["fileName"], "Żółć <b>.html");
        let content = ada.client.get(format!("{path}/content")).await.is(200);
        let disposition = content.header("content-disposition").unwrap();
        assert!(disposition.starts_with("attachment; ") && disposition.is_ascii(), "{disposition}");
        assert!(disposition.ends_with("filename*=UTF-8''%C5%BB%C3%B3%C5%82%C4%87%20%3Cb%3E.html"), "{disposition}");
    }

    async fn an_empty_document_is_accepted_and_has_no_text(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, document) = ada.read(&project, "empty.txt", b"").await;
        assert_eq!((&document["sizeBytes"], &document["characterCount"]), (&0.into(), &0.into()));
        assert_eq!(ada.client.get(format!("{path}/text")).await.is(200).data()["text"], "");
        assert!(ada.client.get(format!("{path}/content")).await.is(200).bytes.is_empty());
    }

    async fn a_body_that_is_too_large_is_refused_without_being_held_in_memory(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "warm.txt", b"A line.").await;
        let before = server.memory().peak;
        let large = vec![b'x'; 51 * 1024 * 1024];
        ada.upload(&project, "large.txt", &large).await.refused(413, "PayloadTooLarge");
        let grown = server.memory().peak.saturating_sub(before);
        assert!(grown < 20 * 1024, "{grown} KiB more for a body of 51 MiB");
        let incoming = std::fs::read_dir(server.data.join("files/incoming")).unwrap().count();
        assert_eq!(incoming, 0, "what was refused is gone");
    }

    async fn a_document_that_attacks_its_parser_fails_alone(world: World) {
        // Built before the first request: compressing it takes longer than an idle connection stays open.
        let bomb = docx(&vec![b' '; 300 * 1024 * 1024]);
        assert!(bomb.len() < 1024 * 1024);
        let deep = docx("<w:p>".repeat(1_000_000).as_bytes());
        let entities = docx(
            b"<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;\">]><w:document><w:body><w:p><w:r><w:t>&b;",
        );
        let sealed: Vec<u8> = "EncryptedPackage".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let sealed = [&[0xd0, 0xcf, 0x11, 0xe0], sealed.as_slice()].concat();
        let slides = sample("pptx/python-pptx-bullets.pptx");
        let torn = slides[..slides.len() / 2].iter().chain(b"[Content_Types].xmlppt/presentation.xml").copied();
        let rows = "<row><c><v>1</v></c></row>".repeat(1_000_000);
        let cases: [(&str, Vec<u8>, &str); 12] = [
            ("sealed.xlsx", sealed.clone(), "password"),
            ("sealed.pptx", sealed, "password"),
            ("torn.pptx", torn.collect(), "damaged"),
            ("tall.xlsx", xlsx(&format!("<worksheet><sheetData>{rows}</sheetData></worksheet>")), "at most 150000"),
            ("bomb.xlsx", xlsx(&" ".repeat(150 * 1024 * 1024)), "unpacks to more"),
            ("cut.odt", sample("odt/by-hand.odt")[..300].to_vec(), "damaged"),
            ("deep.eml", "Content-Type: message/rfc822\n\nSubject: x\n".repeat(100_000).into_bytes(), "nested too deeply"),
            ("secret.pdf", sample("readers/encrypted.pdf"), "password"),
            ("bomb.docx", bomb, ""),
            ("deep.docx", deep, ""),
            ("entities.docx", entities, ""),
            ("torn.pdf", sample("call-for-tenders.pdf")[..60_000].to_vec(), ""),
        ];
        let ada = world.user().await;
        let project = ada.project().await;
        let mut paths = Vec::new();
        for (name, content, why) in &cases {
            paths.push((ada.uploaded(&project, name, content).await, name, why));
        }
        for (path, name, why) in paths {
            let document = ada.settled(&path).await;
            assert_eq!(document["status"], "FAILED", "{name}: {document}");
            let said = document["errorMessage"].as_str().unwrap();
            assert!(said.ends_with('.') && said.contains(why), "{name}: {said}");
        }
        ada.read(&project, "plain.txt", b"All is well.").await;
    }
    /// Each of these documents used to cost a gibibyte: the file, its text, the text as JSON, and a second copy.
    async fn documents_of_any_size_cost_the_server_a_bounded_memory(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[("COLLOQUY__ANALYSIS__READERS", "2")]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "warm.txt", b"A line.").await;
        let before = server.memory().resident;
        let cue = "1\n00:00:01,000 --> 00:00:02,000\nAnn: We keep every change for ten years.\n\n";
        let cues = |mebibytes: usize| cue.repeat((mebibytes << 20) / cue.len()).into_bytes();
        let mut paths = vec![(ada.uploaded(&project, "large.srt", &cues(38)).await, "FAILED")];
        for at in 0..6 {
            let mut each = cues(35);
            each.extend_from_slice(format!("{at}\n").as_bytes());
            paths.push((ada.uploaded(&project, &format!("{at}.srt"), &each).await, "FAILED"));
        }
        // The largest documents that are parsed.
        let voiced = "00:00:01.000 --> 00:00:02.000\n<v Ann>We keep every change.\n\n".repeat(50_000);
        paths.push((ada.uploaded(&project, "most.vtt", format!("WEBVTT\n\n{voiced}").as_bytes()).await, "READY"));
        let text = "We keep every change for ten years. ".repeat(4_900_000 / 36);
        paths.push((ada.uploaded(&project, "most.txt", text.as_bytes()).await, "READY"));
        for (path, status) in paths {
            let document = ada.settled(&path).await;
            assert_eq!(document["status"], status, "{document}");
            if status == "FAILED" {
                let why = document["errorMessage"].as_str().unwrap();
                assert!(why.contains("at most 50000 cues"), "{why}");
            }
        }
        let grown = server.memory().peak.saturating_sub(before);
        println!("{grown} KiB more at its most for 248 MiB of documents");
        assert!(grown < 64 * 1024, "{grown} KiB more for 248 MiB of documents");
    }
}
