//! Tests of documents: uploads are parsed, their quotes can be verified, and each belongs to one project.

mod hostile;
mod queue;
mod versions;

use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{Topic, TopicKind};
use colloquy::db::schema::runs;
use colloquy::db::{DbError, RunQueryDsl, events};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use crate::support::documents::{documents, sample};
use crate::support::{Role, Server, ServerSetup, User, World};

/// Returns the text between two offsets in characters, as the API counts.
fn between(text: &Value, start: &Value, end: &Value) -> String {
    let (start, end) = (start.as_u64().unwrap() as usize, end.as_u64().unwrap() as usize);
    text.as_str().unwrap().chars().skip(start).take(end - start).collect()
}

/// Returns the kinds and statuses of the events recorded of a project's documents, in order.
async fn records(server: &Server, project: &str) -> Vec<String> {
    let topic = Topic { kind: TopicKind::Project, id: project.parse().unwrap() };
    let read = server.db().await.read(move |conn| Box::pin(events::read_after(conn, topic, 0, 100))).await.unwrap();
    read.iter()
        .map(|record| {
            let data: Value = serde_json::from_str(&record.data).unwrap();
            format!("{} {}", record.kind, data["status"].as_str().unwrap())
        })
        .collect()
}

/// The type parameter of the id of a run that reads a document.
#[derive(Debug)]
enum Reads {}

/// Inserts a run that reads a document into the database.
async fn running(server: &Server, ada: &User, project: &str, document: &str, status: &'static str) -> Id<Reads> {
    let id = Id::generate();
    let (project, user): (Id<ids::Project>, Id<ids::User>) = (project.parse().unwrap(), ada.id.parse().unwrap());
    let document_ids = json!([document]).to_string();
    let now = actors::time::Time::from_millis(1_767_225_600_000).unwrap();
    let db = server.db().await;
    let insert = db.write(move |conn| {
        Box::pin(async move {
            let row = (
                (runs::id.eq(id), runs::project_id.eq(project), runs::created_by_id.eq(user)),
                (runs::document_ids.eq(document_ids), runs::analysis_type.eq("FULL"), runs::language.eq("AUTO")),
                (runs::engine.eq("RULES"), runs::input_hash.eq(id.to_string()), runs::status.eq(status)),
                (runs::progress.eq(0), runs::node.eq("QUEUED"), runs::message.eq("")),
                (runs::ai_job_id.eq(id), runs::attempt.eq(1), runs::warnings.eq("[]")),
                (runs::revision.eq(1), runs::created_at.eq(now), runs::updated_at.eq(now)),
            );
            diesel::insert_into(runs::table).values(row).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    insert.await.unwrap();
    id
}

/// Lets a run that was inserted be over.
async fn end(server: &Server, run: Id<Reads>) {
    let db = server.db().await;
    let end = db.write(move |conn| {
        Box::pin(async move {
            diesel::update(runs::table.find(run)).set(runs::status.eq("CANCELLED")).execute(conn).await?;
            Ok::<_, DbError>(())
        })
    });
    end.await.unwrap();
}

on_both! {
    async fn every_sample_is_read(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let html = b"<!doctype html><title>Note</title><h1>Scope</h1><p>The system shall send a letter.</p>".as_slice();
        let srt = b"1\n00:00:01,000 --> 00:00:03,000\nAda: We need an export.\n\n".as_slice();
        let cases: [(&str, Vec<u8>, &str, u64); 13] = [
            ("call-for-tenders.pdf", sample("call-for-tenders.pdf"), "application/pdf", 5),
            ("annex-operations.pdf", sample("annex-operations.pdf"), "application/pdf", 1),
            (
                "call-for-tenders.docx",
                sample("call-for-tenders.docx"),
                "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
                0,
            ),
            ("discovery-meeting.vtt", sample("discovery-meeting.vtt"), "text/vtt", 0),
            ("product-note.md", sample("product-note.md"), "text/markdown", 0),
            ("page.html", html.to_vec(), "text/html", 0),
            ("table.csv", b"id,need\n1,An export\n2,An import\n".to_vec(), "text/csv", 0),
            ("talk.srt", srt.to_vec(), "application/x-subrip", 0),
            ("plain.txt", b"The system shall send a letter.".to_vec(), "text/plain", 0),
            (
                "slides.pptx",
                sample("pptx/python-pptx-bullets.pptx"),
                "application/vnd.openxmlformats-officedocument.presentationml.presentation",
                3,
            ),
            (
                "sheets.xlsx",
                sample("xlsx/openpyxl-sheets.xlsx"),
                "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
                0,
            ),
            ("note.odt", sample("odt/odfdo-sections.odt"), "application/vnd.oasis.opendocument.text", 0),
            ("mail.eml", sample("eml/python-text.eml"), "message/rfc822", 0),
        ];
        for (name, content, mime_type, least_pages) in cases {
            let (path, document) = ada.read(&project, name, &content).await;
            assert_eq!(document["mimeType"], mime_type, "{name}");
            assert_eq!(document["sizeBytes"], content.len() as u64, "{name}");
            assert_eq!(document["fileName"], name);
            assert_eq!(document["errorMessage"], Value::Null);
            let pages = document["pageCount"].as_u64();
            assert_eq!(pages.is_some(), least_pages > 0, "{name}: {pages:?}");
            assert!(pages.unwrap_or(0) >= least_pages, "{name}: {pages:?}");
            let read = ada.client.get(format!("{path}/text")).await.is(200).data().clone();
            let length = read["text"].as_str().unwrap().chars().count() as u64;
            assert_eq!(document["characterCount"], length, "{name}");
            assert!(length > 10, "{name}: {length}");
            assert_eq!(read["pages"].as_array().unwrap().len() as u64, pages.unwrap_or(0), "{name}");
            let again = ada.client.get(format!("{path}/content")).await.is(200);
            assert_eq!(again.bytes, content, "{name}");
            assert_eq!(again.header("content-type"), Some(mime_type));
        }
    }

    async fn a_quote_is_verified_by_its_offsets(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, document) = ada.read(&project, "call-for-tenders.pdf", &sample("call-for-tenders.pdf")).await;
        assert_eq!(document["language"], "EN");
        let read = ada.client.get(format!("{path}/text")).await.is(200).data().clone();
        let quote = "The team that must be reachable by telephone between 07:30 and 18:00";
        let text = read["text"].as_str().unwrap();
        let start = text[..text.find(quote).unwrap()].chars().count();
        let end = start + quote.chars().count();
        assert_eq!(between(&read["text"], &json!(start), &json!(end)), quote);
        let pages = read["pages"].as_array().unwrap();
        let on = pages.iter().find(|page| {
            page["startOffset"].as_u64().unwrap() <= start as u64 && end as u64 <= page["endOffset"].as_u64().unwrap()
        });
        let page = on.unwrap();
        assert!(between(&read["text"], &page["startOffset"], &page["endOffset"]).contains(quote));
        assert_eq!(read["readerVersion"], readers::READER_VERSION);
    }

    async fn each_change_of_a_document_is_published_in_the_project(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (path, _) = ada.read(&project, "plain.txt", b"A line.").await;
        ada.client.delete(path).await.is(200);
        let expected = [
            "document.added PENDING",
            "document.updated PROCESSING",
            "document.updated READY",
            "document.removed READY",
        ];
        assert_eq!(records(&server, &project).await, expected);
    }

    async fn a_list_has_filters_and_pages(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        for name in ["Alpha.txt", "beta.txt", "alphabet.txt"] {
            ada.read(&project, name, name.as_bytes()).await;
        }
        let names = |list: &Value| -> Vec<String> {
            list["items"].as_array().unwrap().iter().map(|one| one["fileName"].as_str().unwrap().to_owned()).collect()
        };
        let at = documents(&project);
        let all = ada.client.get(&at).await.is(200);
        assert_eq!(names(all.data()), ["alphabet.txt", "beta.txt", "Alpha.txt"]);
        let found = ada.client.get(format!("{at}?search=ALPHA&status=ready&limit=1")).await.is(200);
        assert_eq!(names(found.data()), ["alphabet.txt"]);
        assert_eq!(found.data()["totalCount"], 2);
        let cursor = found.text_of("nextCursor");
        let rest = ada.client.get(format!("{at}?search=alpha&status=READY&limit=1&cursor={cursor}")).await.is(200);
        assert_eq!((names(rest.data()), &rest.data()["nextCursor"]), (vec!["Alpha.txt".to_owned()], &Value::Null));
        let none = ada.client.get(format!("{at}?status=FAILED")).await.is(200);
        assert_eq!(none.data()["totalCount"], 0);
        ada.client.get(format!("{at}?status=LOST")).await.refused(422, "InvalidValue");
        let counts = ada.client.get(format!("/api/projects/{project}")).await.is(200);
        assert_eq!(counts.data()["counts"]["documents"], 3);
    }

    async fn documents_are_restricted_to_the_roles_of_their_project(world: World) {
        let ada = world.user().await;
        let (project, other) = (ada.project().await, ada.project().await);
        let (path, document) = ada.read(&project, "plain.txt", b"A line.").await;
        let id = document["id"].as_str().unwrap();
        let reader = world.member(&project, Role::Stakeholder).await;
        for read in ["", "/text"] {
            reader.client.get(format!("{path}{read}")).await.is(200);
        }
        reader.client.get(documents(&project)).await.is(200);
        reader.client.get(format!("{path}/content")).await.refused(403, "Forbidden");
        reader.client.delete(&path).await.refused(403, "Forbidden");
        reader.upload(&project, "mine.txt", b"A line.").await.refused(403, "Forbidden");
        let analyst = world.member(&project, Role::Analyst).await;
        analyst.client.get(format!("{path}/content")).await.is(200);
        let stranger = world.user().await;
        stranger.client.get(&path).await.refused(403, "Forbidden");
        world.nobody.get(&path).await.refused(401, "Unauthorized");
        // A document is not found in another project; a user without access to that project gets 403 instead.
        ada.client.get(format!("{}/{id}", documents(&other))).await.refused(404, "NotFound");
        ada.client.get(format!("{}/{id}/content", documents(&other))).await.refused(404, "NotFound");
        stranger.client.get(format!("{}/{id}", documents(&other))).await.refused(403, "Forbidden");
        ada.client.get(format!("{}/no-id", documents(&project))).await.refused(400, "BadRequest");
        ada.client.get(format!("{}/{id}", documents(id))).await.refused(404, "NotFound");
    }

    async fn an_archived_project_keeps_its_documents_as_they_are(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, _) = ada.read(&project, "plain.txt", b"A line.").await;
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        ada.upload(&project, "more.txt", b"More.").await.refused(409, "ProjectArchived");
        ada.client.delete(&path).await.refused(409, "ProjectArchived");
        ada.client.get(format!("{path}/content")).await.is(200);
    }

    async fn what_an_unfinished_run_reads_stays(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, document) = ada.read(&project, "plain.txt", b"A line.").await;
        let id = document["id"].as_str().unwrap();
        running(world.server, &ada, &project, id, "COMPLETED").await;
        let run = running(world.server, &ada, &project, id, "PROCESSING").await;
        ada.client.delete(&path).await.refused(409, "InvalidState");
        end(world.server, run).await;
        ada.client.delete(&path).await.is(200);
        ada.client.get(&path).await.refused(404, "NotFound");
    }

    async fn a_content_is_deleted_with_its_last_document(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let (project, other) = (ada.project().await, ada.project().await);
        let kept = |document: &Value| {
            let sha256 = document["sha256"].as_str().unwrap();
            server.data.join("files").join(&sha256[..2]).join(sha256).exists()
        };
        let (first, document) = ada.read(&project, "one.txt", b"The same.").await;
        let (second, _) = ada.read(&other, "two.txt", b"The same.").await;
        assert_ne!(first, second);
        ada.client.delete(first).await.is(200);
        assert!(kept(&document));
        ada.client.get(format!("{second}/content")).await.is(200);
        ada.client.delete(format!("/api/projects/{other}")).await.is(200);
        // A job deletes the content some time after the document.
        while kept(&document) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let (again, document) = ada.read(&project, "one.txt", b"The same.").await;
        assert!(kept(&document));
        ada.client.get(format!("{again}/content")).await.is(200);
    }

    async fn uploads_and_deletions_of_one_content_lose_nothing(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let mut tasks = tokio::task::JoinSet::new();
        for turn in 0..24 {
            let (ada, project) = (ada.clone(), project.clone());
            tasks.spawn(async move {
                let path = ada.uploaded(&project, &format!("{turn}.txt"), b"Everybody has this.").await;
                if turn % 3 > 0 {
                    ada.client.delete(&path).await.is(200);
                    return None;
                }
                Some(path)
            });
        }
        let left = tasks.join_all().await;
        let left: Vec<String> = left.into_iter().flatten().collect();
        assert_eq!(left.len(), 8);
        for path in left {
            assert_eq!(ada.settled(&path).await["status"], "READY");
            ada.client.get(format!("{path}/content")).await.is(200);
        }
    }

    async fn an_upload_that_is_repeated_has_one_effect(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let first = ada.upload(&project, "plain.txt", b"A line.").key("once").await.is(201);
        let again = ada.upload(&project, "plain.txt", b"A line.").key("once").await.is(201);
        assert_eq!(first.text_of("id"), again.text_of("id"));
        ada.upload(&project, "plain.txt", b"Another.").key("once").await.refused(422, "IdempotencyKeyReused");
        ada.upload(&project, "other.txt", b"A line.").key("once").await.refused(422, "IdempotencyKeyReused");
        let list = ada.client.get(documents(&project)).await.is(200);
        assert_eq!(list.data()["totalCount"], 1);
    }

    async fn a_text_is_there_when_the_document_is_ready(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let failed = ada.uploaded(&project, "secret.pdf", &sample("readers/encrypted.pdf")).await;
        assert_eq!(ada.settled(&failed).await["status"], "FAILED");
        let refused = ada.client.get(format!("{failed}/text")).await.refused(409, "SourceNotReady");
        assert!(refused.text().contains("password"), "{}", refused.text());
        // A failed document can be deleted and uploaded again.
        ada.client.delete(failed).await.is(200);
        let slow = ada.uploaded(&project, "slow.txt", "A line of a long text.\n\n".repeat(50_000).as_bytes()).await;
        ada.client.get(format!("{slow}/text")).await.refused(409, "SourceNotReady");
        assert_eq!(ada.settled(&slow).await["status"], "READY");
        ada.client.get(format!("{slow}/text")).await.is(200);
    }

    async fn a_document_is_read_although_the_server_was_killed(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let long = "The system shall keep every change for ten years.\n\n".repeat(80_000);
        let path = ada.uploaded(&project, "long.txt", long.as_bytes()).await;
        let mut status = String::new();
        while status != "PROCESSING" {
            status = ada.client.get(&path).await.is(200).text_of("status");
            assert_ne!(status, "READY", "too fast to be killed");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        server.kill();
        let server = setup.start(&[]);
        let ada = ada.at(&server);
        let document = ada.settled(&path).await;
        assert_eq!(document["status"], "READY", "{document}");
        let read = ada.client.get(format!("{path}/text")).await.is(200);
        assert_eq!(read.data()["text"].as_str().unwrap().trim_end(), long.trim_end());
        let records = records(&server, &project).await;
        assert_eq!(records, ["document.added PENDING", "document.updated PROCESSING", "document.updated READY"]);
    }
}
