//! Tests of `colloquy admin backup` and `colloquy admin restore`: a restored server equals the store at the moment of the
//! backup.

mod damage;
mod kills;
mod load;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::admin::{CommandOutput, admin_command};
use crate::meetings::participants::TestMeeting;
use crate::meetings::recordings::{Recorder, wav};
use crate::support::bucket::Bucket;
use crate::support::builders::PASSWORD;
use crate::support::tables::rows_of;
use crate::support::{Server, ServerSetup, User};

/// The folders of the stores in a data folder.
const STORES: [&str; 5] = ["files", "avatars", "recordings", "exports", "imports"];
const TEXT: &str = "# Booking\n\nThe system shall confirm each booking within two seconds.\n\nPatients must be able to cancel a \
    visit until noon of the day before.\n\nThe clinic wants reports of all visits as PDF.\n";

/// Runs `colloquy admin` with the settings of a server's environment.
pub fn run(setup: &ServerSetup, extra: &[(&str, &str)], arguments: &[&str]) -> CommandOutput {
    let mut command = admin_command(setup, arguments);
    CommandOutput::of(command.envs(extra.iter().copied()).output().unwrap())
}

pub fn backup(setup: &ServerSetup, file: &Path) -> String {
    let taken = run(setup, &[], &["backup", file.to_str().unwrap()]);
    assert_eq!(taken.err, "");
    taken.done()
}

pub fn restore(setup: &ServerSetup, file: &Path, more: &[&str]) -> CommandOutput {
    run(setup, &[], &[&["restore", file.to_str().unwrap()], more].concat())
}

/// Another empty folder and database of the same kind.
pub fn elsewhere(setup: &ServerSetup) -> ServerSetup {
    ServerSetup::new(setup.kind).unwrap()
}

/// The files below a folder by their paths in it, without those that belong to the machine.
fn files_below(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut folders) = (BTreeMap::new(), vec![folder.to_owned()]);
    while let Some(next) = folders.pop() {
        let Ok(entries) = fs::read_dir(next) else { continue };
        for path in entries.map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "incoming" {
                folders.push(path);
            } else if path.is_file() && name != "deletions.lock" {
                found.insert(path.strip_prefix(folder).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// All stored files and keys of a data folder.
pub fn stored(data: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut all = BTreeMap::new();
    for folder in STORES.into_iter().chain(["keys"]) {
        all.extend(
            files_below(&data.join(folder)).into_iter().map(|(path, bytes)| (Path::new(folder).join(path), bytes)),
        );
    }
    all
}

/// Panics unless both stores are equal, row by row and byte by byte. No server may run on either.
pub async fn must_be_equal(one: &ServerSetup, other: &ServerSetup) {
    let (mut rows, mut others) = (rows_of(&one.db().await).await, rows_of(&other.db().await).await);
    // The lease of the server that uses the database is no part of the store.
    for rows in [&mut rows, &mut others] {
        rows.remove("server_lease").expect("a table of the lease");
    }
    assert_eq!(rows.keys().collect::<Vec<_>>(), others.keys().collect::<Vec<_>>());
    for (table, rows) in &rows {
        assert_eq!(rows, &others[table], "{table}");
    }
    let (files, others) = (stored(&one.data), stored(&other.data));
    assert_eq!(files.keys().collect::<Vec<_>>(), others.keys().collect::<Vec<_>>());
    assert!(files == others, "a file has another content");
}

/// Stops a server as an operator does.
pub fn stop(mut server: Server) {
    server.terminate();
    assert!(server.wait(Duration::from_secs(30)).is_some());
}

/// A store with something of each kind.
pub struct Filled {
    pub ada: User,
    pub project: String,
    pub document: String,
    /// `/api/meetings/{id}` of a meeting with two recordings: one that is ready, and one that goes on.
    pub meeting: String,
}

impl Filled {
    pub async fn on(server: &Server) -> Self {
        let room = TestMeeting::open(server).await;
        let ready = Recorder::chunked(&room).await;
        for (index, chunk) in wav(96_000).chunks(48_022).enumerate() {
            ready.chunk(index, chunk).await.is(200);
        }
        ready.stop(json!({"lastChunkIndex": 1})).await.is(200);
        ready.until("READY").await;
        let going_on = Recorder::chunked(&room).await;
        going_on.chunk(0, &wav(16_000)).await.is(200);
        let (ada, project) = (room.ada.clone(), room.project.clone());
        let picture = image::RgbImage::from_pixel(64, 64, image::Rgb([9, 99, 199]));
        let mut png = std::io::Cursor::new(Vec::new());
        picture.write_to(&mut png, image::ImageFormat::Png).unwrap();
        let form = [("file", Some("me.png"), png.get_ref().as_slice())];
        ada.client.post_form("/api/profile/avatar", &form).await.is(200);
        let (document, _) = ada.read(&project, "booking.md", TEXT.as_bytes()).await;
        let (run, _) = ada.run(&project).await;

        let over = ada.over(&run).await;
        assert_eq!(over["status"], "COMPLETED", "{over}");
        Self { ada, project, document, meeting: room.path }
    }

    /// What the interface says of all of it.
    pub async fn said(&self, server: &Server) -> Vec<Value> {
        let ada = self.ada.at(server);
        let mut said = Vec::new();
        let project = format!("/api/projects/{}", self.project);
        for path in [
            project.clone(),
            format!("{project}/ai/results-dashboard"),
            format!("{project}/documents"),
            format!("{}/text", self.document),
            self.meeting.clone(),
            format!("{}/recordings", self.meeting),
            "/api/profile".to_owned(),
        ] {
            said.push(ada.client.get(path).await.is(200).data().clone());
        }
        said
    }

    /// Checks that each item of the dashboard quotes the document's text.
    pub async fn quotes_verify(&self, server: &Server) {
        let client = self.ada.at(server).client;
        let text = client.get(format!("{}/text", self.document)).await.is(200).text();
        let dashboard =
            client.get(format!("/api/projects/{}/ai/results-dashboard", self.project)).await.is(200).data().clone();
        let mut quotes = Vec::new();
        collect_quotes(&dashboard, &mut quotes);
        assert!(quotes.len() >= 3, "{dashboard}");
        for quote in quotes {
            let quote = serde_json::to_string(&quote).unwrap();
            assert!(text.contains(quote.trim_matches('"')), "{quote} is not in {text}");
        }
    }
}

fn collect_quotes(value: &Value, quotes: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value.as_str().filter(|_| name == "quote") {
                    Some(quote) => quotes.push(quote.to_owned()),
                    None => collect_quotes(value, quotes),
                }
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_quotes(value, quotes)),
        _ => {}
    }
}

on_both! {
    async fn a_restored_store_equals_the_one_that_was_backed_up(setup: ServerSetup) {
        let server = setup.start(&[]);
        let filled = Filled::on(&server).await;
        let said = filled.said(&server).await;
        stop(server);
        let before = stored(&setup.data);
        for folder in ["files", "avatars", "recordings", "keys"] {
            assert!(before.keys().any(|path| path.starts_with(folder)), "{folder}: {:?}", before.keys());
        }
        assert!(before.keys().any(|path| path.to_str().unwrap().contains("chunks")), "{:?}", before.keys());
        let archive = setup.data.join("backup.tar.gz");
        let taken = backup(&setup, &archive);
        assert!(taken.starts_with("Backup: ") && taken.contains(" stored files)"), "{taken}");
        let mode = std::os::unix::fs::PermissionsExt::mode(&fs::metadata(&archive).unwrap().permissions());
        assert_eq!(mode & 0o777, 0o600);
        for left_over in ["backup.tar.gz.partial", "backup.tar.gz.scratch"] {
            assert!(!setup.data.join(left_over).exists(), "{left_over}");
        }
        let again = run(&setup, &[], &["backup", archive.to_str().unwrap()]).refused(1);
        assert!(again.contains("exists already"), "{again}");

        let other = elsewhere(&setup);
        let restored = restore(&other, &archive, &[]).done();
        assert!(restored.starts_with("Restored the backup of "), "{restored}");
        must_be_equal(&setup, &other).await;
        // Keys are readable for the server's user alone, or the server would refuse them.
        let server = other.start(&[]);
        assert_eq!(filled.said(&server).await, said);
        filled.quotes_verify(&server).await;
        let content = filled.ada.at(&server).client.get(format!("{}/content", filled.document)).await.is(200);
        assert_eq!(content.bytes, TEXT.as_bytes());
        let search = format!("/api/projects/{}/search?q=booking", filled.project);
        let began = Instant::now();
        // What was not indexed when the server stopped is indexed now.
        while filled.ada.at(&server).client.get(&search).await.is(200).data()["totalCount"] == 0 {
            assert!(began.elapsed() < Duration::from_secs(30), "nothing is found");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let login = json!({"email": filled.ada.email, "password": PASSWORD});
        server.client().post("/api/auth/login").json(login).await.is(200);
        let refresh = json!({"refreshToken": filled.ada.refresh_token});
        server.client().post("/api/auth/refresh-token").json(refresh).await.is(200);
        // The recording goes on, and new rows get new ids.
        filled.ada.at(&server).client.patch(&filled.meeting).json(json!({"title": "After"})).await.is(200);
        filled.ada.at(&server).read(&filled.project, "new.md", b"The system shall go on.").await;
    }

    async fn a_store_is_overwritten_only_if_that_is_said_and_no_server_runs(setup: ServerSetup) {
        let server = setup.start(&[]);
        Filled::on(&server).await;
        stop(server);
        let archive = setup.data.join("backup.tar.gz");
        backup(&setup, &archive);

        let other = elsewhere(&setup);
        let server = other.start(&[]);
        let eve = server.user().await;
        let project = eve.project().await;
        eve.read(&project, "other.txt", b"The system shall be another one.").await;
        let running = restore(&other, &archive, &["--overwrite"]).refused(1);
        assert!(running.contains("server") && running.contains("using"), "{running}");
        eve.client.get("/api/profile").await.is(200);
        stop(server);
        let refused = restore(&other, &archive, &[]).refused(1);
        assert!(refused.contains("--overwrite replaces what is there"), "{refused}");
        let server = other.start(&[]);
        eve.at(&server).client.get(format!("/api/projects/{project}")).await.is(200);
        stop(server);
        restore(&other, &archive, &["--overwrite"]).done();
        let (mine, others) = (rows_of(&setup.db().await).await, rows_of(&other.db().await).await);
        for (table, rows) in mine.iter().filter(|(table, _)| *table != "server_lease") {
            assert_eq!(rows, &others[table], "{table}");
        }
        let server = other.start(&[]);
        server
            .client()
            .post("/api/auth/login")
            .json(json!({"email": eve.email, "password": PASSWORD}))
            .await
            .refused(401, "InvalidCredentials");
        eve.at(&server).client.get("/api/profile").await.is(401);
    }

    async fn a_file_that_is_missing_or_was_changed_is_reported_and_the_rest_is_backed_up(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (kept, _) = ada.read(&project, "kept.txt", b"The system shall keep this.").await;
        let place = |document: &Value| {
            let sha256 = document["sha256"].as_str().unwrap();
            setup.data.join("files").join(&sha256[..2]).join(sha256)
        };
        let (_, lost) = ada.read(&project, "lost.txt", b"The system shall lose this.").await;
        let (_, changed) = ada.read(&project, "changed.txt", b"The system shall change this.").await;
        fs::remove_file(place(&lost)).unwrap();
        fs::write(place(&changed), "Something else.").unwrap();
        let archive = setup.data.join("backup.tar.gz");
        let taken = run(&setup, &[], &["backup", archive.to_str().unwrap()]);
        let (lost, changed) = (lost["sha256"].as_str().unwrap(), changed["sha256"].as_str().unwrap());
        assert!(taken.err.contains(&format!("{lost} is missing.")), "{}", taken.err);
        assert!(taken.err.contains(&format!("{changed} was changed after it was stored.")), "{}", taken.err);
        assert_eq!(taken.err.lines().count(), 2, "{}", taken.err);
        taken.done();
        let other = elsewhere(&setup);
        let restored = restore(&other, &archive, &[]);
        assert!(restored.err.contains(&format!("{lost} was missing when the backup was taken.")), "{}", restored.err);
        restored.done();
        drop(server);
        let server = other.start(&[]);
        assert_eq!(ada.at(&server).client.get(format!("{kept}/content")).await.is(200).bytes, b"The system shall keep this.");
    }
}

on_sqlite! {
    async fn files_in_a_bucket_are_restored_into_another_bucket(setup: ServerSetup) {
        let (Some(bucket), Some(another)) = (Bucket::new().await, Bucket::new().await) else { return };
        let server = setup.start(&bucket.settings());
        let filled = Filled::on(&server).await;
        let said = filled.said(&server).await;
        let archive = setup.data.join("backup.tar.gz");
        let taken = run(&setup, &bucket.settings(), &["backup", archive.to_str().unwrap()]);
        assert_eq!(taken.err, "");
        taken.done();
        stop(server);
        let other = elsewhere(&setup);
        run(&other, &another.settings(), &["restore", archive.to_str().unwrap()]).done();
        let server = other.start(&another.settings());
        assert_eq!(filled.said(&server).await, said);
        let client = filled.ada.at(&server).client;
        assert_eq!(client.get(format!("{}/content", filled.document)).await.is(200).bytes, TEXT.as_bytes());
        // The bucket has files now; folders take the same archive.
        stop(server);
        let third = elsewhere(&setup);
        let refused = run(&third, &another.settings(), &["restore", archive.to_str().unwrap()]).refused(1);
        assert!(
            refused.contains("there are stored documents already")
                || refused.contains("There are stored documents already"),
            "{refused}"
        );
        restore(&third, &archive, &[]).done();
        let server = third.start(&[]);
        assert_eq!(filled.said(&server).await, said);
    }
}
