//! Tests of imports: files that come back become proposals, and nothing of them is dropped without a word.

use std::io::{Cursor, Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::exports::Analysed;
use super::{NOTE, text_of};
use crate::support::client::Request;
use crate::support::socket::Socket;
use crate::support::{Answer, Role, ServerSetup, World};

/// ReqIF of another program, with two requirements and a story.
const FOREIGN: &[u8] = include_bytes!("../../../crates/exports/file_tests/foreign.reqif");

/// The formats that come back, with how their files end.
const FORMATS: [(&str, &str); 2] = [("XLSX", "xlsx"), ("REQIF", "reqifz")];

impl Analysed {
    pub fn imports(&self) -> String {
        format!("/api/projects/{}/imports", self.project)
    }

    pub fn importing(&self, name: &str, content: &[u8]) -> Request {
        self.ada.client.post_form(&self.imports(), &[("file", Some(name), content)])
    }

    pub async fn import(&self, name: &str, content: &[u8]) -> Value {
        let import = self.ended_import(name, content).await;
        assert_eq!(import["status"], "READY", "{import}");
        import
    }

    /// Imports a file and waits for its end: it is in the answer, but on a machine that is busy. Panics after 120 s.
    pub async fn ended_import(&self, name: &str, content: &[u8]) -> Value {
        let import = self.importing(name, content).await.is(201).data().clone();
        self.end_of_import(import).await
    }

    /// Waits until an import has ended and returns it. The server answers meanwhile. Panics after 120 s.
    pub async fn end_of_import(&self, mut import: Value) -> Value {
        let deadline = Instant::now() + Duration::from_secs(120);
        let at = format!("{}/{}", self.imports(), import["id"].as_str().unwrap());
        while import["status"] == "READING" {
            assert!(Instant::now() < deadline, "{import}");
            tokio::time::sleep(Duration::from_millis(50)).await;
            import = self.ada.client.get(&at).await.is(200).data().clone();
        }
        import
    }

    /// The proposals of an import, oldest first.
    async fn proposals_of(&self, import: &Value) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let id = import["id"].as_str().unwrap();
            let path = format!("/api/projects/{}/proposals?limit=100&importId={id}{cursor}", self.project);
            let page = self.ada.client.get(path).await.is(200);
            all.extend(page.data()["items"].as_array().unwrap().clone());
            let Some(next) = page.data()["nextCursor"].as_str() else { break };
            cursor = format!("&cursor={next}");
        }
        all.reverse();
        all
    }

    fn accepting(&self, proposal: &Value) -> Request {
        let id = proposal["id"].as_str().unwrap();
        self.ada.client.post(format!("/api/projects/{}/proposals/{id}/accept", self.project)).json(json!({}))
    }

    pub async fn exported(&self, format: &str) -> Vec<u8> {
        let export = self.export(json!({"format": format})).await;
        self.content(&export).await.is(200).bytes
    }
}

/// Returns an archive with a text in place of another one, wherever it stands.
fn edited(bytes: &[u8], from: &str, to: &str) -> Vec<u8> {
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes)).unwrap();
    let mut written = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let mut found = false;
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).unwrap();
        let name = file.name().unwrap().to_string();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        found |= text.contains(from);
        written.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        written.write_all(text.replace(from, to).as_bytes()).unwrap();
    }
    assert!(found, "the file has no {from}");
    written.finish().unwrap().into_inner()
}

fn notes(import: &Value) -> String {
    import["report"]["notes"].to_string()
}

on_both! {
    async fn what_comes_back_as_it_was_exported_proposes_nothing(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let dashboard = analysed.dashboard().await;
        let items = ["requirements", "userStories"].map(|kind| dashboard[kind].as_array().unwrap().len());
        for (format, ending) in FORMATS {
            let import = analysed.import(&format!("items.{ending}"), &analysed.exported(format).await).await;
            let expected = json!({"new": 0, "changed": 0, "unchanged": items[0] + items[1], "missing": 0, "notes": 0});
            assert_eq!(import["report"], json!({"counts": expected, "missing": [], "notes": []}), "{format}");
            assert_eq!((&import["format"], &import["runId"]), (&json!(format), &dashboard["runId"]));
            assert!(analysed.proposals_of(&import).await.is_empty());
        }
        let listed = analysed.ada.client.get(analysed.imports()).await.is(200);
        assert_eq!(listed.data()["items"][0]["fileName"], "items.reqifz", "the newest comes first");
        assert_eq!(listed.data()["items"].as_array().unwrap().len(), 2);
    }

    async fn what_a_file_says_differently_is_proposed_and_nothing_changes_before_it_is_accepted(world: World) {
        for (format, ending) in FORMATS {
            let analysed = Analysed::of(world.user().await, NOTE).await;
            let before = analysed.dashboard().await;
            let file = edited(&analysed.exported(format).await, "until 24 hours", "until 36 hours");
            let mut socket = Socket::open(&analysed.ada.client).await;
            socket.subscribe(&format!("project:{}", analysed.project)).await;
            let import = analysed.import(&format!("items.{ending}"), &file).await;
            let event = socket.next().await;
            assert_eq!(event["event"], "import.completed", "{event}");
            assert_eq!(event["data"]["counts"], import["report"]["counts"], "{event}");
            assert_eq!(analysed.dashboard().await["requirements"], before["requirements"], "nothing is accepted yet");

            let proposals = analysed.proposals_of(&import).await;
            let proposal = proposals.iter().find(|one| one["targetType"] == "REQUIREMENT").unwrap();
            let (was, is) = (&proposal["before"], &proposal["after"]);
            assert_eq!((&proposal["kind"], &proposal["status"]), (&json!("CHANGED"), &json!("OPEN")));
            assert!(was["statement"].as_str().unwrap().contains("until 24 hours"), "{was}");
            assert!(is["statement"].as_str().unwrap().contains("until 36 hours"), "{is}");
            assert_eq!(was["sources"], is["sources"], "what the file does not speak of stays");

            analysed.accepting(proposal).await.is(200);
            let dashboard = analysed.dashboard().await;
            let now = dashboard["requirements"].as_array().unwrap().iter().find(|one| one["id"] == was["id"]).unwrap();
            assert!(now["statement"].as_str().unwrap().contains("until 36 hours"), "{now}");
            assert_eq!(now["version"], was["version"].as_i64().unwrap() + 1);
            assert_eq!((&now["workflowStatus"], &now["revisionSource"]), (&json!("NEEDS_REVIEW"), &json!("HUMAN_EDITED")));
            assert_eq!(now["original"]["statement"], was["statement"], "the first text is kept apart");
            let trail = analysed.ada.client.get(format!("/api/projects/{}/approval-events", analysed.project)).await.is(200);
            assert_eq!(trail.data()["items"][0]["action"], "ACCEPT_PROPOSAL");
        }
    }

    async fn requirements_of_another_program_come_to_the_dashboard_once(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let dashboard = analysed.dashboard().await;
        let [before, stories] = ["requirements", "userStories"].map(|kind| dashboard[kind].as_array().unwrap().len());
        let import = analysed.import("rules.reqif", FOREIGN).await;
        let proposals = analysed.proposals_of(&import).await;
        assert!(!proposals.is_empty() && proposals.iter().all(|one| one["kind"] == "NEW"), "{proposals:?}");
        assert_eq!(import["report"]["counts"]["new"], proposals.len());
        assert_eq!(import["report"]["counts"]["missing"], before + stories, "the items of the dashboard, which stay");
        assert!(import["report"]["counts"]["notes"].as_u64() > Some(0), "what ReqIF has beyond is said: {import}");

        assert_eq!(proposals.iter().map(|one| one["targetType"].as_str().unwrap()).collect::<Vec<_>>(),
            ["REQUIREMENT", "REQUIREMENT", "USER_STORY"]);
        let first = &proposals[0];
        for proposal in proposals.iter().rev() {
            let accepted = analysed.accepting(proposal).await.is(200);
            assert_eq!(accepted.data()["after"]["sources"], json!([]));
        }
        let dashboard = analysed.dashboard().await;
        let now = dashboard["requirements"].as_array().unwrap();
        assert_eq!(now.len(), before + 2);
        assert_eq!(dashboard["userStories"].as_array().unwrap().len(), stories + 1);
        assert_eq!(now.last().unwrap()["statement"], first["after"]["statement"], "by the order in which they were accepted");
        assert_eq!(now.last().unwrap()["code"], format!("REQ-{:03}", now.len()));

        let again = analysed.import("rules.reqif", FOREIGN).await;
        assert_eq!(again["report"]["counts"]["new"], 0, "{again}");
        assert!(notes(&again).contains(&format!("It has the words of REQ-{:03}.", now.len())), "{again}");
    }

    async fn what_changed_here_since_the_export_is_not_taken_back_unawares(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let file = edited(&analysed.exported("XLSX").await, "within two seconds", "within three seconds");
        let dashboard = analysed.dashboard().await;
        let mut requirements = dashboard["requirements"].as_array().unwrap().iter();
        let item = requirements.find(|one| one["statement"].as_str().unwrap().contains("within two seconds")).unwrap();
        let path = format!("/api/projects/{}/requirements/{}", analysed.project, item["id"].as_str().unwrap());
        analysed.ada.client.patch(&path).json(json!({"priority": "CRITICAL"})).await.is(200);

        let import = analysed.import("items.xlsx", &file).await;
        assert!(notes(&import).contains("exported as version 1 and is version 2 now"), "{import}");
        let proposals = analysed.proposals_of(&import).await;
        let proposal = proposals.iter().find(|one| one["targetId"] == item["id"]).unwrap();
        analysed.accepting(proposal).await.refused(409, "InvalidState");
        analysed.accepting(proposal).if_match(1).await.refused(412, "PreconditionFailed");
        let accepted = analysed.accepting(proposal).if_match(2).await.is(200);
        assert_eq!(accepted.data()["after"]["version"], 3);
    }

    async fn a_later_import_supersedes_an_earlier_one_and_a_run_neither(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let file = analysed.exported("XLSX").await;
        let first = analysed.import("items.xlsx", &edited(&file, "within two seconds", "within three seconds")).await;
        let other = analysed.import("items.xlsx", &edited(&file, "until 24 hours", "until 36 hours")).await;
        analysed.ada.client.patch(format!("/api/projects/{}/requirements/{}/status", analysed.project,
            analysed.dashboard().await["requirements"][0]["id"].as_str().unwrap()))
            .json(json!({"workflowStatus": "APPROVED"})).await.is(200);
        let (run, _) = analysed.ada.run(&analysed.project).await;
        assert_eq!(analysed.ada.over(&run).await["status"], "COMPLETED");
        let is = |all: &[Value], status: &str| !all.is_empty() && all.iter().all(|one| one["status"] == status);
        assert!(is(&analysed.proposals_of(&first).await, "OPEN"), "of other items than the second, and not of a run");
        assert!(is(&analysed.proposals_of(&other).await, "OPEN"));

        let later = analysed.import("items.xlsx", &edited(&file, "within two seconds", "within a second")).await;
        let superseded = analysed.proposals_of(&first).await;
        assert!(is(&superseded, "SUPERSEDED"), "{superseded:?}");
        assert!(is(&analysed.proposals_of(&later).await, "OPEN"));
        assert!(is(&analysed.proposals_of(&other).await, "OPEN"));
        analysed.accepting(&superseded[0]).await.refused(409, "InvalidState");
    }

    async fn what_can_not_be_taken_over_is_said_with_its_place(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let file = analysed.exported("XLSX").await;
        let long = format!("within two seconds {}", "x".repeat(5_000));
        let import = analysed.import("items.xlsx", &edited(&file, "within two seconds", &long)).await;
        assert!(notes(&import).contains("It is not taken over."), "{import}");
        let of_requirements = |all: Vec<Value>| all.into_iter().filter(|one| one["targetType"] == "REQUIREMENT").count();
        assert_eq!(of_requirements(analysed.proposals_of(&import).await), 0, "{import}");

        let approved = edited(&analysed.exported("REQIF").await, "NEEDS_REVIEW", "APPROVED");
        let import = analysed.import("items.reqifz", &approved).await;
        assert_eq!(import["report"]["counts"]["changed"], 0, "a file approves nothing: {import}");
        for now in analysed.dashboard().await["requirements"].as_array().unwrap() {
            assert_eq!(now["workflowStatus"], "NEEDS_REVIEW");
        }

        let other = edited(&file, "Requirements", "Sheet of something");
        for (name, content, status, said) in [
            ("other.xlsx", other.as_slice(), "READY", "This sheet is not one of those that are exported: it is not read."),
            ("broken.xlsx", &file[..file.len() / 2], "FAILED", "The file is damaged: its list of contents cannot be read."),
            ("broken.reqif", b"<REQ-IF>", "FAILED", "line 1: The XML ends in the middle."),
            (
                "entity.reqif",
                b"<!DOCTYPE r [<!ENTITY a SYSTEM \"file:///etc/passwd\">]><REQ-IF>&a;</REQ-IF>",
                "FAILED",
                "line 1: The XML has a document type, which is not allowed.",
            ),
        ] {
            let import = analysed.ended_import(name, content).await;
            assert_eq!(import["status"], status, "{name}: {import}");
            let told = if status == "READY" { notes(&import) } else { import["errorMessage"].to_string() };
            assert!(told.contains(said), "{name}: {told}");
        }
        for (name, content) in [("items.docx", file.as_slice()), ("items.xlsx", b"plain"), ("items.reqif", b"PK\x03\x04")] {
            analysed.importing(name, content).await.refused(415, "UnsupportedMediaType");
        }
        analysed.ada.client.post_form(&analysed.imports(), &[("other", None, b"x")]).await.refused(422, "ValidationError");
        analysed.ada.client.post_form(&analysed.imports(), &[("file", None, &file)]).await.refused(422, "ValidationError");
    }

    async fn who_may_import_is_an_analyst_of_an_active_project_with_a_result(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let file = analysed.exported("XLSX").await;
        let import = analysed.import("items.xlsx", &file).await;
        let at = format!("{}/{}", analysed.imports(), import["id"].as_str().unwrap());
        let viewer = world.server.member(&analysed.project, Role::Stakeholder).await;
        viewer.client.get(&at).await.is(200);
        viewer.client.post_form(&analysed.imports(), &[("file", Some("i.xlsx"), &file)]).await.refused(403, "Forbidden");

        let other = Analysed { project: analysed.ada.project().await, ada: world.user().await };
        let none = analysed.ada.client.post_form(&other.imports(), &[("file", Some("i.xlsx"), &file)]).await;
        none.refused(409, "InvalidState");
        let elsewhere = format!("{}/{}", other.imports(), import["id"].as_str().unwrap());
        analysed.ada.client.get(elsewhere).await.refused(404, "NotFound");
        other.ada.client.get(&at).await.refused(403, "Forbidden");

        // The items of another project have other ids, and its codes are no proof: what is recognised by them alone is said.
        let second = Analysed::of(world.user().await, NOTE).await;
        let import = second.import("items.xlsx", &edited(&file, "until 24 hours", "until 36 hours")).await;
        assert!(notes(&import).contains("It was recognised by its code alone."), "{import}");
        for proposal in second.proposals_of(&import).await {
            second.accepting(&proposal).await.is(200);
        }
        let untouched = analysed.dashboard().await;
        assert!(!untouched.to_string().contains("until 36 hours"));

        analysed.ada.client.patch(format!("/api/projects/{}", analysed.project)).json(json!({"status": "ARCHIVED"})).await.is(200);
        analysed.importing("items.xlsx", &file).await.refused(409, "ProjectArchived");
    }

    async fn the_same_upload_twice_with_a_key_is_one_import(world: World) {
        let analysed = Analysed::of(world.user().await, NOTE).await;
        let file = edited(&analysed.exported("XLSX").await, "until 24 hours", "until 36 hours");
        let call = || analysed.importing("items.xlsx", &file).header("idempotency-key", "import-once");
        let (one, other): (Answer, Answer) = (call().await.is(201), call().await.is(201));
        assert_eq!(one.data()["id"], other.data()["id"]);
        let listed = analysed.ada.client.get(analysed.imports()).await.is(200);
        assert_eq!(listed.data()["items"].as_array().unwrap().len(), 1);
    }

    async fn an_import_that_is_cut_off_by_a_kill_proposes_everything_once(setup: ServerSetup) {
        let server = setup.start(&[]);
        let analysed = Analysed::of(server.user().await, &text_of(1_500)).await;
        let requirements = analysed.dashboard().await["requirements"].as_array().unwrap().len();
        let file = edited(&analysed.exported("XLSX").await, "must be able to print", "must be able to show");
        let call = analysed.importing("items.xlsx", &file).tried();
        let killing = async {
            // Some drafts are written, and not all.
            let some = async {
                while server.proposals().await == 0 {
                    tokio::time::sleep(Duration::from_millis(2)).await;
                }
            };
            tokio::time::timeout(Duration::from_secs(60), some).await.expect("drafts were written");
            server.kill();
        };
        let (_, ()) = tokio::join!(call, killing);
        let server = setup.start(&[]);
        let again = Analysed { ada: analysed.ada.at(&server), project: analysed.project };
        let deadline = Instant::now() + Duration::from_secs(60);
        let import = loop {
            let listed = again.ada.client.get(again.imports()).await.is(200);
            let import = listed.data()["items"][0].clone();
            if import["status"] != "READING" {
                break import;
            }
            assert!(Instant::now() < deadline, "{import}");
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        assert_eq!(import["status"], "READY", "{import}");
        let proposals = again.proposals_of(&import).await;
        let mut changed: Vec<&str> = proposals
            .iter()
            .filter(|one| one["targetType"] == "REQUIREMENT")
            .map(|one| one["targetId"].as_str().unwrap())
            .collect();
        changed.sort_unstable();
        changed.dedup();
        assert_eq!(changed.len(), requirements, "each requirement once");
        assert_eq!(proposals.len(), import["report"]["counts"]["changed"].as_u64().unwrap() as usize);
        assert_eq!(server.proposals().await, i64::try_from(proposals.len()).unwrap(), "no draft is left");
    }
}
