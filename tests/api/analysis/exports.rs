//! Tests of exports: every format, what filters leave of it, and how long a file is kept.

use std::future::IntoFuture;
use std::io::{Cursor, Read};

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{NOTE, text_of};
use crate::support::client::Request;
use crate::support::socket::Socket;
use crate::support::{Answer, Role, ServerSetup, User, World};

/// All formats but PDF, with what their files begin with.
const FORMATS: [(&str, &str, &[u8]); 7] = [
    ("XLSX", "xlsx", b"PK"),
    ("CSV", "zip", b"PK"),
    ("JSON", "json", b"{"),
    ("MARKDOWN", "md", b"# "),
    ("HTML", "html", b"<!DOCTYPE html>"),
    ("DOCX", "docx", b"PK"),
    ("REQIF", "reqifz", b"PK"),
];

/// A project of Ada's whose document was analysed.
pub struct Analysed {
    pub ada: User,
    pub project: String,
}

impl Analysed {
    pub async fn of(ada: User, text: &str) -> Self {
        let project = ada.project().await;
        ada.read(&project, "booking.md", text.as_bytes()).await;
        let (run, _) = ada.run(&project).await;
        assert_eq!(ada.over(&run).await["status"], "COMPLETED");
        Self { ada, project }
    }

    pub fn at(&self, path: &str) -> String {
        format!("/api/projects/{}/ai/results-dashboard{path}", self.project)
    }

    fn exporting(&self, body: Value) -> Request {
        self.ada.client.post(self.at("/exports")).json(body)
    }

    pub async fn export(&self, body: Value) -> Value {
        let export = self.exporting(body).await.is(201).data().clone();
        assert_eq!(export["status"], "READY", "{export}");
        export
    }

    pub async fn content(&self, export: &Value) -> Answer {
        self.ada.client.get(export["url"].as_str().unwrap()).await
    }

    /// Exports as JSON, and returns what is in the file.
    async fn specification(&self, filters: Value) -> Value {
        let export = self.export(json!({"format": "JSON", "filters": filters})).await;
        serde_json::from_slice(&self.content(&export).await.is(200).bytes).unwrap()
    }

    pub async fn dashboard(&self) -> Value {
        self.ada.client.get(self.at("")).await.is(200).data().clone()
    }
}

/// Returns the texts of the files in an archive, by their names.
fn unpacked(bytes: &[u8]) -> Vec<(String, String)> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    (0..archive.len())
        .map(|at| {
            let mut file = archive.by_index(at).unwrap();
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes).unwrap();
            (file.name().unwrap().to_string(), String::from_utf8_lossy(&bytes).into_owned())
        })
        .collect()
}

on_both! {
    async fn every_format_is_a_file_with_the_items_and_equal_data_gives_equal_bytes(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        for (format, ending, beginning) in FORMATS {
            let export = analysed.export(json!({"format": format})).await;
            let file = analysed.content(&export).await.is(200);
            let name = export["fileName"].as_str().unwrap();
            assert!(name.ends_with(&format!(".{ending}")), "{name}");
            assert_eq!(export["sizeBytes"], file.bytes.len(), "{format}");
            let bytes = file.bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(&file.bytes);
            assert_eq!(&bytes[..beginning.len()], beginning, "{format}");
            assert!(file.header("content-disposition").unwrap().starts_with("attachment"));
            assert_eq!(file.header("x-content-type-options"), Some("nosniff"));
            let texts = if beginning == b"PK" { unpacked(bytes).into_iter().map(|(_, text)| text).collect() } else { file.text() };
            assert!(texts.contains("cancel an appointment"), "{format}");
            assert!(texts.contains("US-001"), "{format}");
            let again = analysed.export(json!({"format": format})).await;
            assert_ne!(export["id"], again["id"]);
            assert_eq!(analysed.content(&again).await.is(200).bytes, file.bytes, "{format}");
        }
        let listed = analysed.dashboard().await["exports"].clone();
        assert_eq!(listed.as_array().unwrap().len(), 2 * FORMATS.len());
        assert_eq!(listed[0]["format"], "REQIF", "the newest comes first");
    }

    async fn filters_leave_what_the_dashboard_shows_under_them(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let all = analysed.specification(json!({})).await;
        assert_eq!(all["requirements"].as_array().unwrap().len(), analysed.dashboard().await["requirements"].as_array().unwrap().len());
        let some = analysed.specification(json!({"type": "NON_FUNCTIONAL"})).await;
        let kinds: Vec<&Value> = some["requirements"].as_array().unwrap().iter().map(|one| &one["type"]).collect();
        assert!(!kinds.is_empty() && kinds.iter().all(|kind| *kind == "NON_FUNCTIONAL"), "{kinds:?}");
        let run = analysed.dashboard().await["runId"].clone();
        assert_eq!(analysed.specification(json!({"runId": run, "search": "waiting list"})).await["risks"], json!([]));
        let refused = analysed.exporting(json!({"format": "JPEG", "filters": {"type": "ODD", "colour": 1}})).await.is(422);
        let named: Vec<String> = refused.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(named, ["filters.colour", "filters.type", "format"]);
        let nowhere = json!({"format": "CSV", "filters": {"runId": "0189a0f0-0000-7000-8000-000000000000"}});
        analysed.exporting(nowhere).await.refused(404, "NotFound");
    }

    async fn a_document_has_what_is_approved_and_data_has_all_unless_somebody_chooses(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let requirements = analysed.dashboard().await["requirements"].as_array().unwrap().clone();
        assert!(requirements.len() > 2, "{requirements:?}");
        let ids: Vec<&str> = requirements.iter().map(|one| one["id"].as_str().unwrap()).collect();
        let decide = async |at: usize, decision: Value| {
            let items = json!([{"targetType": "REQUIREMENT", "id": requirements[at]["id"]}]);
            let mut body = json!({"items": items});
            body.as_object_mut().unwrap().extend(decision.as_object().unwrap().clone());
            analysed.ada.client.post(format!("/api/projects/{}/items/status", analysed.project)).json(body).await.is(200);
        };
        let said = async |body: Value| {
            let export = analysed.export(body).await;
            let text = analysed.content(&export).await.is(200).text();
            let is_in = |id: &&str| text.contains(&format!("id=\"item-{id}\"")) || text.contains(&format!("\"id\": \"{id}\""));
            let has: Vec<bool> = ids.iter().take(3).map(is_in).collect();
            (has, text)
        };
        decide(1, json!({"workflowStatus": "REJECTED", "comment": "No."})).await;
        let (has, text) = said(json!({"format": "HTML"})).await;
        assert_eq!(has, [true, false, true], "nothing is approved yet");
        assert!(text.contains("All items but rejected ones"));
        decide(0, json!({"workflowStatus": "APPROVED"})).await;
        let (has, text) = said(json!({"format": "HTML"})).await;
        assert_eq!(has, [true, false, false]);
        assert!(!text.contains(requirements[2]["statement"].as_str().unwrap()), "the summary tells of it no more");
        assert!(text.contains("Approved items") && text.contains("Exported by"), "{text}");
        assert!(!text.contains(&analysed.project), "ids are for programs");
        for (filters, expected) in [
            (json!({"selection": "ALL"}), [true, true, true]),
            (json!({"selection": "NOT_REJECTED"}), [true, false, true]),
            (json!({"selection": "APPROVED"}), [true, false, false]),
            (json!({"status": "REJECTED"}), [false, true, false]),
            (json!({"status": "NEEDS_REVIEW"}), [false, false, true]),
        ] {
            let (has, _) = said(json!({"format": "HTML", "filters": filters})).await;
            assert_eq!(has, expected, "{filters}");
        }
        assert_eq!(said(json!({"format": "JSON"})).await.0, [true, true, true]);
        assert_eq!(said(json!({"format": "JSON", "filters": {"selection": "APPROVED"}})).await.0, [true, false, false]);
        let refused = analysed.exporting(json!({"format": "HTML", "filters": {"selection": "SOME"}})).await.is(422);
        assert_eq!(refused.faults()[0].0, "filters.selection");
    }

    async fn the_dashboard_lists_exports_and_its_tag_follows_them(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let before = analysed.ada.client.get(analysed.at("")).await.is(200).etag();
        let export = analysed.export(json!({"format": "MARKDOWN", "filters": {"priority": "HIGH"}})).await;
        let after = analysed.ada.client.get(analysed.at("")).header("if-none-match", &before).await.is(200);
        assert_eq!(after.data()["exports"], json!([export]));
        assert_eq!(export["filters"], json!({"priority": "HIGH"}));
        analysed.ada.client.get(analysed.at("")).header("if-none-match", after.etag()).await.is(304);
        let filtered = analysed.ada.client.get(analysed.at("?type=FUNCTIONAL")).await.is(200);
        assert_eq!(filtered.data()["exports"], json!([export]));
        world.server.expire_exports(&analysed.project).await;
        assert_eq!(analysed.dashboard().await["exports"], json!([]));
        analysed.content(&export).await.refused(410, "Gone");
    }

    async fn members_of_the_project_alone_get_a_file_and_its_end_is_pushed(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let viewer = world.server.member(&analysed.project, Role::Stakeholder).await;
        let mut socket = Socket::open(&viewer.client).await;
        socket.subscribe(&format!("project:{}", analysed.project)).await;
        let made = viewer.client.post(analysed.at("/exports")).json(json!({"format": "HTML"})).await.is(201);
        let event = socket.next().await;
        assert_eq!((&event["event"], &event["data"]), (&json!("dashboardExport.completed"), made.data()));
        let url = made.data()["url"].as_str().unwrap().to_owned();
        viewer.client.get(&url).await.is(200);
        let stranger = world.user().await;
        stranger.client.get(&url).await.refused(403, "Forbidden");
        stranger.client.post(analysed.at("/exports")).json(json!({"format": "HTML"})).await.refused(403, "Forbidden");
        let own = stranger.project().await;
        let elsewhere = url.replace(&analysed.project, &own);
        stranger.client.get(elsewhere).await.refused(404, "NotFound");
    }

    async fn one_key_makes_one_export_however_often_it_is_sent(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let answers = join_all((0..20).map(|_| analysed.exporting(json!({"format": "DOCX"})).key("once").into_future())).await;
        let made: Vec<&Answer> = answers.iter().filter(|answer| answer.status == 201).collect();
        assert!(!made.is_empty());
        assert!(made.iter().all(|answer| answer.data()["id"] == made[0].data()["id"]));
        assert_eq!(analysed.dashboard().await["exports"].as_array().unwrap().len(), 1);
    }

    async fn a_project_without_results_and_an_archived_one_are_exported_too(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let empty = Analysed { ada, project };
        for (format, ..) in FORMATS {
            let export = empty.export(json!({"format": format})).await;
            empty.content(&export).await.is(200);
        }
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let path = format!("/api/projects/{}", analysed.project);
        analysed.ada.client.patch(path).json(json!({"status": "ARCHIVED"})).await.is(200);
        analysed.export(json!({"format": "XLSX"})).await;
    }

    async fn what_a_document_says_is_no_formula_markup_or_link_in_any_file(world: World) {
        let hostile = "# Payments\n\n\
            =HYPERLINK(\"http://evil.example\",\"pay\") must be shown to the clerk by the system.\n\n\
            The system must show <script>alert(1)</script> and [a link](http://evil.example) to the clerk.\n\n\
            @SUM(1+1) The system shall print +49 and -1 within two seconds.\n";
        let analysed = Analysed::of(world.user().await, hostile).await;
        for (format, ..) in FORMATS {
            let export = analysed.export(json!({"format": format})).await;
            let file = analysed.content(&export).await.is(200);
            let parts = if file.bytes.starts_with(b"PK") { unpacked(&file.bytes) } else { vec![(format.to_owned(), file.text())] };
            assert!(parts.iter().any(|(_, text)| text.contains("evil.example")), "{format} has the text");
            for (name, text) in parts {
                for active in ["<script", "<a href=\"http", "<w:hyperlink r:", "<hyperlink", "<f>", "](http", "HYPERLINK \\"] {
                    assert!(!text.contains(active) || format == "JSON", "{format} {name} has {active}");
                }
                if format == "CSV" {
                    let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
                    for row in rows.records() {
                        for cell in &row.unwrap() {
                            assert!(!cell.starts_with(['=', '+', '-', '@', '\t', '\r']), "{name}: {cell}");
                        }
                    }
                }
            }
        }
    }

    async fn an_export_that_is_cut_off_by_a_kill_is_made_after_it(setup: ServerSetup) {
        let server = setup.start(&[]);
        let analysed = Analysed::of(server.user().await, &text_of(1_500)).await;
        let call = analysed.exporting(json!({"format": "DOCX"})).tried();
        let killing = async {
            let enqueued = async {
                while server.waiting_jobs("make-export").await.is_empty() {
                    tokio::time::sleep(std::time::Duration::from_millis(2)).await;
                }
            };
            tokio::time::timeout(std::time::Duration::from_secs(10), enqueued).await.expect("the job was enqueued");
            server.kill();
        };
        // Whether the answer came before the kill or not, the export is made.
        let (_, ()) = tokio::join!(call, killing);
        let server = setup.start(&[]);
        let again = Analysed { ada: analysed.ada.at(&server), project: analysed.project };
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            let export = again.dashboard().await["exports"][0].clone();
            if export["status"] == "READY" {
                again.content(&export).await.is(200);
                break;
            }
            assert!(std::time::Instant::now() < deadline, "{export}");
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    }

    async fn without_its_printer_pdf_is_refused_with_what_to_do(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__EXPORTS__PRINTER", "/nonexistent/colloquy-printer")]);
        let analysed = Analysed::of(server.user().await, NOTE).await;
        let refused = analysed.exporting(json!({"format": "PDF"})).await.refused(503, "PrinterMissing");
        assert!(refused.text().contains("exports.printer"), "{}", refused.text());
        let formats = analysed.ada.client.get(analysed.at("/exports/formats")).await.is(200).data()["formats"].clone();
        assert_eq!(formats, json!(FORMATS.iter().map(|(format, ..)| *format).collect::<Vec<_>>()));
        assert_eq!(analysed.dashboard().await["exports"], json!([]));
    }

    async fn the_printer_beside_the_server_makes_the_same_pdf_of_the_same_data(world: World) {
        let printer = std::path::Path::new(env!("CARGO_BIN_EXE_colloquy")).with_file_name("colloquy-printer");
        if !printer.exists() {
            println!("SKIPPED: cargo build --package printer has not made {}", printer.display());
            return;
        }
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let [one, two] = [analysed.export(json!({"format": "PDF"})).await, analysed.export(json!({"format": "PDF"})).await];
        let file = analysed.content(&one).await.is(200);
        assert_eq!(file.header("content-type"), Some("application/pdf"));
        assert!(file.bytes.starts_with(b"%PDF-1.7"));
        assert_eq!(analysed.content(&two).await.is(200).bytes, file.bytes);
    }

    async fn a_printer_that_fails_fails_the_export_alone(setup: ServerSetup) {
        let printer = setup.data.join("printer.sh");
        std::fs::write(&printer, "#!/bin/sh\ncat >/dev/null\nexit 2\n").unwrap();
        std::fs::set_permissions(&printer, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let server = setup.start(&[("COLLOQUY__EXPORTS__PRINTER", printer.to_str().unwrap())]);
        let analysed = Analysed::of(server.user().await, NOTE).await;
        let formats = analysed.ada.client.get(analysed.at("/exports/formats")).await.is(200).data()["formats"].clone();
        assert!(formats.as_array().unwrap().contains(&json!("PDF")), "{formats}");
        let stranger = server.user().await;
        stranger.client.get(analysed.at("/exports/formats")).await.refused(403, "Forbidden");
        let export = analysed.exporting(json!({"format": "PDF"})).await.is(201).data().clone();
        assert_eq!((&export["status"], &export["sizeBytes"]), (&json!("FAILED"), &json!(null)), "{export}");
        let told = export["errorMessage"].as_str().unwrap();
        assert!(told.contains("PDF") && !told.contains('/'), "it names no path: {told}");
        analysed.content(&export).await.refused(410, "Gone");
        analysed.export(json!({"format": "HTML"})).await;
    }
}
