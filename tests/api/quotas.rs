//! Quotas and the reserve of free space: what is stored stays within what is allowed, whoever uploads, at once, across kills
//! and upgrades; and what needs no storage goes on.

use std::collections::BTreeSet;
use std::time::Duration;

use actors::ids::{self, Id};
use colloquy::db::schema::{document_texts, documents};
use colloquy::db::{DbError, RunQueryDsl};
use colloquy::routes;
use diesel::{ExpressionMethods, QueryDsl};
use futures_util::future::join_all;
use futures_util::stream;
use serde_json::{Value, json};

use crate::admin::admin;
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::{Recorder, start, wav};
use crate::support::documents::documents;
use crate::support::{Answer, Role, Server, ServerSetup, User};

const KB: usize = 1000;

/// A text that no other number has.
fn text(number: usize, bytes: usize) -> Vec<u8> {
    let mut text = format!("The system must keep appointment {number}. ").repeat(bytes / 30);
    text.truncate(bytes);
    text.into_bytes()
}

async fn storage(user: &User, project: &str) -> Value {
    user.client.get(format!("/api/projects/{project}")).await.is(200).data()["storage"].clone()
}

async fn used(user: &User, project: &str) -> u64 {
    storage(user, project).await["usedBytes"].as_u64().unwrap()
}

/// What a project has stored, counted anew: the sizes of its files on the disk, and of the texts in the database. No export or
/// import is among it.
async fn recounted(server: &Server, project: &str) -> u64 {
    let id: Id<ids::Project> = project.parse().unwrap();
    let db = server.db().await;
    let read = db.read(move |conn| {
        Box::pin(async move {
            let own = documents::table.filter(documents::project_id.eq(id));
            let own: Vec<(Id<ids::Document>, String)> =
                own.select((documents::id, documents::sha256)).load(conn).await?;
            let (known, files): (Vec<_>, Vec<_>) = own.into_iter().unzip();
            let texts = document_texts::table.filter(document_texts::document_id.eq_any(known));
            let texts: Vec<String> = texts.select(document_texts::source_text).load(conn).await?;
            Ok::<_, DbError>((files, texts))
        })
    });
    let (files, texts) = read.await.unwrap();
    let size = |sha256: &String| {
        let file = server.data.join("files").join(&sha256[..2]).join(sha256);
        std::fs::metadata(file).unwrap().len()
    };
    files.iter().map(size).sum::<u64>() + texts.iter().map(|text| text.len() as u64).sum::<u64>()
}

/// Waits until no document of the project is left to be read.
async fn all_read(user: &User, project: &str) {
    loop {
        let listed = user.client.get(format!("{}?limit=100", documents(project))).await.is(200);
        let items = listed.data()["items"].as_array().unwrap().clone();
        if items.iter().all(|document| matches!(document["status"].as_str(), Some("READY" | "FAILED"))) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn refused_field(answer: &Answer) -> (u16, String, String) {
    let fault = &answer.body["errors"][0];
    (answer.status, fault["code"].as_str().unwrap().to_owned(), fault["field"].as_str().unwrap_or_default().to_owned())
}

/// No file is half received.
fn nothing_incoming(server: &Server) -> bool {
    ["files", "avatars", "recordings", "exports", "imports"].iter().all(|store| {
        let incoming = std::fs::read_dir(server.data.join(store).join("incoming"));
        incoming.map_or(true, |mut entries| entries.next().is_none())
    })
}

on_both! {
    async fn uploads_at_once_stop_at_the_quota_and_a_deletion_gives_room_back(setup: ServerSetup) {
        const QUOTA: u64 = 200 * KB as u64;
        let server = setup.start_small(&[("COLLOQUY__QUOTAS__PROJECT_BYTES", QUOTA.to_string().as_str())]);
        let ada = server.user().await;
        let project = ada.project().await;
        assert_eq!(storage(&ada, &project).await, json!({"usedBytes": 0, "limitBytes": QUOTA}));
        let uploads = (0..60).map(|number| {
            let (ada, project) = (&ada, &project);
            async move { ada.upload(project, "notes.txt", &text(number, 10 * KB)).await }
        });
        let answers = join_all(uploads).await;
        let (stored, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 201);
        assert!(stored.len() <= 20 && stored.len() >= 10, "{} were stored", stored.len());
        for answer in &refused {
            let expected = (507, "QuotaExceeded".to_owned(), "project.storage".to_owned());
            assert_eq!(refused_field(answer), expected, "{}", answer.text());
            assert!(answer.text().contains(&format!("of at most {QUOTA} bytes")), "{}", answer.text());
        }
        assert!(nothing_incoming(&server));
        all_read(&ada, &project).await;
        let now = used(&ada, &project).await;
        assert!(now <= QUOTA, "{now} of {QUOTA}");
        assert_eq!(now, recounted(&server, &project).await);
        // Whatever room is left is less than that: refused by the size that is announced, and a deletion makes room.
        ada.upload(&project, "more.txt", &text(100, 190 * KB)).await.refused(507, "QuotaExceeded");
        let listed = ada.client.get(format!("{}?limit=100", documents(&project))).await.is(200).data()["items"].clone();
        for document in listed.as_array().unwrap() {
            ada.client.delete(format!("{}/{}", documents(&project), document["id"].as_str().unwrap())).await.is(200);
        }
        assert_eq!(used(&ada, &project).await, 0);
        ada.upload(&project, "more.txt", &text(100, 190 * KB)).await.is(201);
    }

    /// The text of a document is stored too: a small file that has a long one does not get past the quota.
    async fn a_text_without_room_fails_its_document(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__QUOTAS__PROJECT_BYTES", "15000")]);
        let ada = server.user().await;
        let project = ada.project().await;
        let path = ada.uploaded(&project, "notes.txt", &text(1, 10 * KB)).await;
        let document = ada.settled(&path).await;
        assert_eq!(document["status"], "FAILED", "{document}");
        let why = document["errorMessage"].as_str().unwrap();
        assert!(why.starts_with("There is no room for its text.") && why.ends_with("Then upload it again."), "{why}");
        assert_eq!(used(&ada, &project).await, 10 * KB as u64);
    }

    async fn the_owner_pays_for_all_projects_whoever_uploads_and_nobody_else_does(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__QUOTAS__ACCOUNT_BYTES", "100000")]);
        let ada = server.user().await;
        let (one, other) = (ada.project().await, ada.project().await);
        let bob = server.member(&one, Role::Analyst).await;
        bob.upload(&one, "notes.txt", &text(1, 60 * KB)).await.is(201);
        let refused = ada.upload(&other, "notes.txt", &text(2, 60 * KB)).await;
        let expected = (507, "QuotaExceeded".to_owned(), "account.storage".to_owned());
        assert_eq!(refused_field(&refused), expected, "{}", refused.text());
        let own = bob.project().await;
        bob.upload(&own, "notes.txt", &text(3, 60 * KB)).await.is(201);
        // A deleted project is given back once it is gone.
        all_read(&ada, &one).await;
        ada.client.delete(format!("/api/projects/{one}")).await.is(200);
        loop {
            let again = ada.upload(&other, "notes.txt", &text(2, 60 * KB)).await;
            if again.status == 201 {
                break;
            }
            assert_eq!(again.status, 507);
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    async fn the_installation_has_a_limit_of_its_own(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__QUOTAS__INSTALLATION_BYTES", "100000")]);
        let (ada, bob) = (server.user().await, server.user().await);
        let project = ada.project().await;
        ada.upload(&project, "notes.txt", &text(1, 60 * KB)).await.is(201);
        let refused = bob.upload(&bob.project().await, "notes.txt", &text(2, 60 * KB)).await;
        let expected = (507, "QuotaExceeded".to_owned(), "installation.storage".to_owned());
        assert_eq!(refused_field(&refused), expected, "{}", refused.text());
    }

    async fn a_recording_of_a_live_meeting_goes_on_beyond_the_quota_and_the_next_one_does_not_start(setup: ServerSetup) {
        let settings = [("COLLOQUY__QUOTAS__PROJECT_BYTES", "50000"), ("COLLOQUY__QUOTAS__LIVE_GRACE_BYTES", "100000")];
        let server = setup.start(&settings);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        let whole = wav(139_956);
        let pieces: Vec<&[u8]> = whole.chunks(20 * KB).collect();
        for (index, piece) in pieces.iter().enumerate() {
            recorder.chunk(index, piece).await.is(200);
        }
        assert_eq!(used(&room.ada, &room.project).await, whole.len() as u64);
        // The grace is an end too, and nothing else has it.
        recorder.chunk(pieces.len(), &[7; 20_000]).await.refused(507, "QuotaExceeded");
        room.ada.upload(&room.project, "notes.txt", b"One more note.").await.refused(507, "QuotaExceeded");
        // It goes on after the meeting, and what was sent is whole.
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        recorder.stop(json!({"lastChunkIndex": pieces.len() - 1})).await.is(200);
        recorder.until("READY").await;
        assert_eq!(used(&room.ada, &room.project).await, whole.len() as u64);
        let import = json!({"uploadMode": "SINGLE_FILE", "mimeType": "audio/wav", "consentAttestation": {"text": "All agreed."}});
        start(&room, import.clone()).await.refused(507, "QuotaExceeded");
        room.ada.client.delete(&recorder.path).await.is(200);
        assert_eq!(used(&room.ada, &room.project).await, 0);
        // An import has no grace: it is refused by the size that is announced.
        let imported = Recorder::of(&room, import).await;
        let put = room.ada.client.put(format!("{}/file", imported.path)).body("application/octet-stream", whole);
        put.await.refused(507, "QuotaExceeded");
        assert_eq!(used(&room.ada, &room.project).await, 0);
    }

    async fn an_import_into_a_live_meeting_stays_within_the_quota(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__QUOTAS__PROJECT_BYTES", "50000")]);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::single(&room).await;
        let put = |bytes: u32| {
            let put = room.ada.client.put(format!("{}/file", recorder.path));
            put.body("application/octet-stream", wav(bytes))
        };
        put(139_956).await.refused(507, "QuotaExceeded");
        assert_eq!(used(&room.ada, &room.project).await, 0);
        put(39_956).await.is(200);
        assert_eq!(used(&room.ada, &room.project).await, 40 * KB as u64);
    }

    /// Asking for the room of the whole file holds none of it: its parts do.
    async fn a_file_has_its_room_once_and_that_of_what_it_replaces(setup: ServerSetup) {
        let settings = [
            ("COLLOQUY__QUOTAS__PROJECT_BYTES", "200000"),
            ("COLLOQUY__QUOTAS__INSTALLATION_BYTES", "200000"),
            ("COLLOQUY__QUOTAS__LIVE_GRACE_BYTES", "0"),
        ];
        let server = setup.start(&settings);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::single(&room).await;
        let put = |bytes: u32| {
            let put = room.ada.client.put(format!("{}/file", recorder.path));
            put.body("application/octet-stream", wav(bytes))
        };
        put(149_956).await.is(200);
        put(169_956).await.is(200);
        assert_eq!(used(&room.ada, &room.project).await, 170 * KB as u64);
        // Too large all the same: then nothing is replaced.
        put(219_956).await.refused(507, "QuotaExceeded");
        assert_eq!(used(&room.ada, &room.project).await, 170 * KB as u64);
        put(199_956).await.is(200);
    }

    async fn below_the_reserve_uploads_are_refused_before_they_are_read_and_everything_else_goes_on(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        let whole = wav(39_956);
        recorder.chunk(0, &whole[..20 * KB]).await.is(200);
        let (document, _) = room.ada.read(&room.project, "notes.txt", &text(1, 10 * KB)).await;
        server.kill();
        let all = (1_u64 << 40).to_string();
        let server = setup.start(&[("COLLOQUY__STORAGE__RESERVE_MIB", all.as_str()), ("COLLOQUY__STORAGE__LIVE_RESERVE_MIB", "0")]);
        let (ada, recorder) = (room.ada.at(&server), recorder.at(&server));
        let (project, client) = (&room.project, &ada.client);
        ada.upload(project, "more.txt", &text(2, 10 * KB)).await.refused(507, "StorageFull");
        client.post_form("/api/profile/avatar", &[("file", Some("me.png"), b"\x89PNG".as_slice())]).await.refused(507, "StorageFull");
        client
            .post_form(&format!("/api/projects/{project}/imports"), &[("file", Some("a.xlsx"), b"PK".as_slice())])
            .await
            .refused(507, "StorageFull");
        // Nothing of the body is waited for: this one never comes.
        let never = reqwest::Body::wrap_stream(stream::pending::<Result<Vec<u8>, std::io::Error>>());
        let form = "multipart/form-data; boundary=never";
        client.post(documents(project)).body(form, never).await.refused(507, "StorageFull");
        let exports = format!("/api/projects/{project}/ai/results-dashboard/exports");
        client.post(exports).json(json!({"format": "CSV"})).await.refused(507, "StorageFull");
        assert!(nothing_incoming(&server));
        // The live recording goes on, small writes too, and what frees space.
        recorder.chunk(1, &whole[20 * KB..]).await.is(200);
        client.post(format!("{}/end", room.path)).await.is(200);
        recorder.stop(json!({"lastChunkIndex": 1})).await.is(200);
        recorder.until("READY").await;
        let again = json!({"uploadMode": "SINGLE_FILE", "mimeType": "audio/wav", "consentAttestation": {"text": "All agreed."}});
        let begun = client.post(format!("{}/recordings/start", room.path)).json(again).await;
        begun.refused(507, "StorageFull");
        let other = server.user().await;
        other.project().await;
        client.delete(document).await.is(200);
        client.delete(&recorder.path).await.is(200);
        assert_eq!(used(&ada, project).await, 0);
    }

    /// What is used is never stored by itself, so that there is nothing to be wrong about.
    async fn after_a_kill_what_is_used_is_what_is_stored(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (client, path) = (ada.client.clone(), project.clone());
        let uploads = async {
            let uploads = (0..40).map(|number| {
                let form = crate::support::documents::form(&[("file", Some("notes.txt"), &text(number, 10 * KB))]);
                client.post(documents(&path)).body(&form.0, form.1).tried()
            });
            join_all(uploads).await.into_iter().flatten().filter(|answer| answer.status == 201).count()
        };
        let killed = async {
            while used(&ada, &project).await < 50 * KB as u64 {
                tokio::task::yield_now().await;
            }
            server.kill();
        };
        let (acknowledged, ()) = tokio::join!(uploads, killed);
        let server = setup.start(&[]);
        let ada = ada.at(&server);
        all_read(&ada, &project).await;
        let now = used(&ada, &project).await;
        assert_eq!(now, recounted(&server, &project).await);
        assert!(now >= (acknowledged * 20 * KB) as u64, "{acknowledged} were acknowledged, {now} bytes are there");
    }

    async fn after_an_upgrade_what_was_there_before_counts(setup: ServerSetup) {
        let server = setup.start(&[]);
        let room = TestMeeting::open(&server).await;
        let recorder = Recorder::chunked(&room).await;
        recorder.chunk(0, &wav(9_956)).await.is(200);
        room.ada.read(&room.project, "notes.txt", &text(1, 10 * KB)).await;
        let before = used(&room.ada, &room.project).await;
        assert_eq!(before, recounted(&server, &room.project).await + 10 * KB as u64);
        server.kill();
        // As a server left it that knew no quotas.
        let kind = if setup.url.is_some() { "postgres" } else { "sqlite" };
        let folder = format!("{}/migrations/{kind}/00000000000024_quotas/down.sql", env!("CARGO_MANIFEST_DIR"));
        let down = std::fs::read_to_string(folder).unwrap();
        let forget = "DELETE FROM __diesel_schema_migrations WHERE version = '00000000000024';";
        let db = setup.db().await;
        let undone = db.write(move |conn| {
            let undo = format!("{down}\n{forget}");
            Box::pin(async move {
                conn.batch(&undo).await?;
                Ok::<_, DbError>(())
            })
        });
        undone.await.unwrap();
        drop(db);
        let server = setup.start(&[]);
        assert_eq!(used(&room.ada.at(&server), &room.project).await, before);
        assert_eq!(before, recounted(&server, &room.project).await + 10 * KB as u64);
    }

    async fn what_there_may_be_a_number_of_stops_there_also_at_once(setup: ServerSetup) {
        let settings = [
            ("COLLOQUY__QUOTAS__ACCOUNT_PROJECTS", "3"),
            ("COLLOQUY__QUOTAS__PROJECT_DOCUMENTS", "2"),
            ("COLLOQUY__QUOTAS__PROJECT_MEETINGS", "2"),
            ("COLLOQUY__QUOTAS__PROJECT_MEMBERS", "2"),
            ("COLLOQUY__QUOTAS__PROJECT_INVITATIONS", "3"),
            ("COLLOQUY__QUOTAS__PROJECT_RUNS", "1"),
            ("COLLOQUY__QUOTAS__PROJECT_FEEDBACK", "1"),
            ("COLLOQUY__QUOTAS__MEETING_INVITATIONS", "1"),
        ];
        let server = setup.start(&settings);
        let ada = server.user().await;
        let (project, client) = (ada.project().await, &ada.client);
        let body = json!({"name": "Another"});
        let made = join_all((0..10).map(|_| client.post("/api/projects").json(body.clone()).tried())).await;
        let made: Vec<Answer> = made.into_iter().map(Result::unwrap).collect();
        assert_eq!(made.iter().filter(|answer| answer.status == 201).count(), 2);
        let refused = made.into_iter().filter(|answer| answer.status != 201).map(|answer| answer.refused(409, "LimitReached"));
        assert!(refused.last().unwrap().text().contains("The account has 3 projects of its own; 3 is the maximum."));

        let uploads = (0..8).map(|number| ada.upload(&project, "n.txt", &text(number, KB)).tried());
        let uploads = join_all(uploads).await;
        assert_eq!(uploads.iter().filter(|answer| answer.as_ref().unwrap().status == 201).count(), 2);

        let meetings = format!("/api/projects/{project}/meetings");
        let meeting = json!({"title": "Discovery", "scheduledAt": "2026-03-02T09:00:00.000Z"});
        let first = client.post(&meetings).json(meeting.clone()).await.is(201).text_of("id");
        client.post(&meetings).json(meeting.clone()).await.is(201);
        client.post(&meetings).json(meeting).await.refused(409, "LimitReached");

        let guests = format!("/api/meetings/{first}/invitations/guests");
        let guest = |email: &str| json!({"invitees": [{"email": email, "displayName": "A guest"}]});
        client.post(&guests).json(guest("one@example.org")).await.is(201);
        client.post(&guests).json(guest("two@example.org")).await.refused(409, "LimitReached");

        // One is a member, and one more may be. Who is one already can say so again.
        let bob = server.user().await;
        let token = server.invite(client, &project, &bob.email, Role::Analyst).await;
        let accept = format!("/api/project-invitations/{token}/accept");
        bob.client.post(&accept).await.is(200);
        bob.client.post(&accept).await.is(200);
        let eve = server.user().await;
        let token = server.invite(client, &project, &eve.email, Role::Analyst).await;
        eve.client.post(format!("/api/project-invitations/{token}/accept")).await.refused(409, "LimitReached");
        let invite = |email: &str| json!({"email": email, "role": "STAKEHOLDER"});
        client.post(format!("/api/projects/{project}/members")).json(invite("third@example.org")).await.is(201);
        client.post(format!("/api/projects/{project}/members")).json(invite("fourth@example.org")).await.refused(409, "LimitReached");
        let review = |email: &str| json!({"permission": "VIEWER", "invitees": [{"email": email}]});
        let reviews = format!("/api/projects/{project}/review-invitations");
        for email in ["r1@example.org", "r2@example.org", "r3@example.org"] {
            client.post(&reviews).json(review(email)).await.is(201);
        }
        client.post(&reviews).json(review("r4@example.org")).await.refused(409, "LimitReached");

        all_read(&ada, &project).await;
        let (run, _) = ada.run(&project).await;
        ada.over(&run).await;
        client.post(crate::analysis::runs(&project)).json(json!({"analysisType": "REQUIREMENTS"})).await.refused(409, "LimitReached");
        let feedback = format!("/api/projects/{project}/feedback");
        let said = json!({"targetType": "SUMMARY", "comment": "Very clear."});
        client.post(&feedback).json(said.clone()).await.is(201);
        client.post(&feedback).json(said).await.refused(409, "LimitReached");

        // A deleted project counts no longer.
        client.delete(format!("/api/projects/{project}")).await.is(200);
        client.post("/api/projects").json(body).await.is(201);
    }

    async fn an_operator_sets_another_quota_and_sees_who_has_stored_most(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__QUOTAS__PROJECT_BYTES", "1000")]);
        let ada = server.user().await;
        let (one, other) = (ada.project().await, ada.project().await);
        let set = |arguments: &[&str]| admin(&setup, &[&["set-quota"][..], arguments].concat(), "");
        set(&["--project", &one, "--bytes", "50000"]).done();
        assert_eq!(storage(&ada, &one).await["limitBytes"], 50_000);
        ada.read(&one, "notes.txt", &text(1, 10 * KB)).await;
        ada.upload(&other, "notes.txt", &text(2, 10 * KB)).await.refused(507, "QuotaExceeded");
        set(&["--project", &other, "--bytes", "0"]).done();
        assert_eq!(storage(&ada, &other).await["limitBytes"], json!(null));
        set(&["--project", &other, "--default"]).done();
        assert_eq!(storage(&ada, &other).await["limitBytes"], 1000);
        set(&["--email", &ada.email, "--bytes", "70000"]).done();
        set(&["--project", "0189a0f0-0000-7000-8000-000000000000", "--bytes", "1"]).refused(1);

        let listed: Value = serde_json::from_str(&admin(&setup, &["list-storage", "--json"], "").done()).unwrap();
        let used = used(&ada, &one).await;
        assert_eq!((&listed["projects"][0]["id"], &listed["projects"][0]["usedBytes"]), (&json!(one), &json!(used)));
        let account = json!({"id": ada.id, "name": ada.email, "usedBytes": used, "quotaBytes": 70_000});
        assert_eq!(listed["accounts"][0], account);
        server.set_operator(&ada, true).await;
        let overview = ada.client.get("/api/operator/overview").await.is(200);
        let space = &overview.data()["figures"]["space"];
        assert_eq!((&space["usedBytes"], &space["limitBytes"]), (&json!(used), &json!(null)), "{space}");
        assert!(space["freeBytes"].is_u64() && space["reserveBytes"] == 1 << 30, "{space}");
        let metrics = server.operator().get("/metrics").await.text();
        for line in ["colloquy_storage_reserve_bytes 1073741824", "colloquy_storage_refused_total{why=\"project\"} 1"] {
            assert!(metrics.contains(line), "{line} is not in {metrics}");
        }
    }
}

/// A new operation that takes a file fails here until it is among those that ask for room.
#[test]
fn every_operation_that_takes_bytes_has_an_answer_for_no_room() {
    let takes_bytes = |content_type: &str| !content_type.is_empty() && content_type != "application/json";
    let operations = routes::all();
    let uploads = operations.iter().filter(|operation| operation.input.schema.is_some());
    let uploads: Vec<_> = uploads.filter(|operation| takes_bytes(operation.input.content_type)).collect();
    let names: BTreeSet<&str> = uploads.iter().map(|operation| operation.id).collect();
    let known = [
        "attachMeetingTranscript",
        "importItems",
        "pipelineProcessFiles",
        "uploadAvatar",
        "uploadDocument",
        "uploadDocumentVersion",
        "uploadRecordingChunk",
        "uploadRecordingFile",
    ];
    assert_eq!(names, BTreeSet::from(known));
    for operation in uploads {
        // The pipeline as a service is bounded by pipeline.store_bytes.
        if operation.id == "pipelineProcessFiles" {
            continue;
        }
        assert!(operation.errors.contains(&507), "{}", operation.id);
    }
}
