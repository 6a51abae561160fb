//! Tests of the versions of documents: the newest that can be read is the present one, and nothing of the others is lost.

use serde_json::{Value, json};

use super::{between, end, records, running};
use crate::support::documents::documents;
use crate::support::patience::Patience;
use crate::support::{Answer, Role, Server, ServerSetup, User, World};

const FIRST: &str = "The lift stops at each floor.\n\nA bell rings before the doors close.\n\nDoors open within 2 seconds.\n\n\
    The cabin has a mirror on its back wall.";
const SECOND: &str = "The cabin has a mirror on its back wall.\n\nThe lift stops at each floor.\n\n\
    A bell rings before the doors close.\n\nDoors open within 5 seconds.";

impl User {
    pub async fn upload_version(&self, path: &str, name: &str, content: &[u8]) -> Answer {
        self.client.post_form(&format!("{path}/versions"), &[("file", Some(name), content)]).await
    }

    pub async fn versions(&self, path: &str) -> Vec<Value> {
        self.client.get(format!("{path}/versions")).await.is(200).data()["items"].as_array().unwrap().clone()
    }

    /// Uploads a version and waits until it is READY or FAILED.
    pub async fn read_version(&self, path: &str, name: &str, content: &[u8]) -> Value {
        let made = self.upload_version(path, name, content).await.is(201).data().clone();
        self.settled_version(path, made["version"].as_i64().unwrap()).await
    }

    async fn settled_version(&self, path: &str, number: i64) -> Value {
        let patience = Patience::of_seconds(90);
        loop {
            let all = self.versions(path).await;
            let version = all.iter().find(|one| one["version"] == number).unwrap().clone();
            if matches!(version["status"].as_str(), Some("READY" | "FAILED")) {
                return version;
            }
            patience.pause(|| format!("it is not read: {version}")).await;
        }
    }

    async fn text_of(&self, path: &str, query: &str) -> String {
        let read = self.client.get(format!("{path}/text{query}")).await.is(200);
        read.data()["text"].as_str().unwrap().to_owned()
    }
}

fn numbers(versions: &[Value]) -> Vec<(i64, &str)> {
    versions.iter().map(|one| (one["version"].as_i64().unwrap(), one["status"].as_str().unwrap())).collect()
}

fn kept(server: &Server, version: &Value) -> bool {
    let sha256 = version["sha256"].as_str().unwrap();
    server.data.join("files").join(&sha256[..2]).join(sha256).exists()
}

on_both! {
    async fn a_version_replaces_the_former_one_once_it_is_read_and_both_stay(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (path, first) = ada.read(&project, "lift.txt", FIRST.as_bytes()).await;
        assert_eq!((&first["version"], &first["newestVersion"]), (&json!(1), &json!(1)));
        let made = ada.upload_version(&path, "lift-2.md", SECOND.as_bytes()).await.is(201).data().clone();
        assert_eq!((&made["id"], &made["version"], &made["status"]), (&first["id"], &json!(2), &json!("PENDING")));
        let second = ada.settled_version(&path, 2).await;
        assert_eq!(second["fileName"], "lift-2.md");

        let present = ada.client.get(&path).await.is(200).data().clone();
        assert_eq!(present, second);
        assert_eq!((&present["newestVersion"], &present["createdAt"]), (&json!(2), &first["createdAt"]));
        assert_ne!(present["versionCreatedAt"], first["versionCreatedAt"]);
        assert_eq!(numbers(&ada.versions(&path).await), [(2, "READY"), (1, "READY")]);
        assert_eq!(ada.client.get(documents(&project)).await.is(200).data()["totalCount"], 1);
        assert_eq!((ada.text_of(&path, "").await, ada.text_of(&path, "?version=2").await), (SECOND.to_owned(), SECOND.to_owned()));
        assert_eq!(ada.text_of(&path, "?version=1").await, FIRST);
        let former = ada.client.get(format!("{path}/content?version=1")).await.is(200);
        assert_eq!(former.bytes, FIRST.as_bytes());
        assert_eq!(ada.client.get(format!("{path}/content")).await.is(200).bytes, SECOND.as_bytes());
        ada.client.get(format!("{path}/text?version=3")).await.refused(404, "NotFound");
        ada.client.get(format!("{path}/text?version=0")).await.refused(422, "InvalidValue");
        let events = records(&server, &project).await;
        assert_eq!(events.last().unwrap(), "document.updated READY");

        // What is stored of all versions is counted, and goes with the document.
        assert!(kept(&server, &first) && kept(&server, &second));
        let used = || async { ada.client.get(format!("/api/projects/{project}")).await.is(200).data()["storage"]["usedBytes"].clone() };
        assert!(used().await.as_u64().unwrap() >= (FIRST.len() + SECOND.len()) as u64);
        ada.client.delete(&path).await.is(200);
        assert!(!kept(&server, &second));
        ada.client.get(format!("{path}/text?version=1")).await.refused(404, "NotFound");
        // A job deletes the former versions some time after the document.
        let patience = Patience::of_seconds(60);
        while kept(&server, &first) || used().await != 0 {
            patience.pause(|| "something of the versions is left".to_owned()).await;
        }
    }

    async fn a_version_that_cant_be_read_replaces_nothing(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, _) = ada.read(&project, "lift.txt", FIRST.as_bytes()).await;
        let broken = b"%PDF-1.7\nnothing of it is left".as_slice();
        let failed = ada.read_version(&path, "lift.pdf", broken).await;
        assert_eq!((&failed["status"], &failed["version"]), (&json!("FAILED"), &json!(2)));
        let present = ada.client.get(&path).await.is(200).data().clone();
        assert_eq!((&present["version"], &present["newestVersion"], &present["status"]), (&json!(1), &json!(2), &json!("READY")));
        assert_eq!(ada.text_of(&path, "").await, FIRST);
        let refused = ada.client.get(format!("{path}/text?version=2")).await.refused(409, "SourceNotReady");
        assert!(!refused.text().is_empty());
        // The same file is tried again, and the next one takes its place.
        assert_eq!(ada.read_version(&path, "lift.pdf", broken).await["version"], 3);
        assert_eq!(ada.read_version(&path, "lift.txt", SECOND.as_bytes()).await["version"], 4);
        assert_eq!(ada.client.get(&path).await.is(200).data()["version"], 4);
        assert_eq!(numbers(&ada.versions(&path).await), [(4, "READY"), (3, "FAILED"), (2, "FAILED"), (1, "READY")]);
        let compared = ada.client.get(format!("{path}/versions/4/comparison")).await.is(200);
        assert_eq!(compared.data()["formerVersion"], 1, "those between could not be read");
    }

    async fn the_first_version_may_be_the_one_that_cant_be_read(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = ada.uploaded(&project, "lift.pdf", b"%PDF-1.7\nnothing of it is left").await;
        assert_eq!(ada.settled(&path).await["status"], "FAILED");
        ada.read_version(&path, "lift.txt", FIRST.as_bytes()).await;
        let present = ada.client.get(&path).await.is(200).data().clone();
        assert_eq!((&present["status"], &present["errorMessage"]), (&json!("READY"), &Value::Null));
        assert_eq!(numbers(&ada.versions(&path).await), [(2, "READY"), (1, "FAILED")]);
    }

    async fn the_same_content_again_is_no_version(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, _) = ada.read(&project, "lift.txt", FIRST.as_bytes()).await;
        let same = ada.upload_version(&path, "lift.txt", FIRST.as_bytes()).await.is(201);
        assert_eq!((same.data()["version"].as_i64(), same.text_of("status")), (Some(1), "READY".to_owned()));
        assert_eq!(ada.versions(&path).await.len(), 1);
    }

    async fn many_at_once_are_versions_in_some_order_and_the_newest_is_present(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, _) = ada.read(&project, "lift.txt", FIRST.as_bytes()).await;
        let mut tasks = tokio::task::JoinSet::new();
        for number in 0..8 {
            let (ada, path) = (ada.clone(), path.clone());
            tasks.spawn(async move {
                let text = format!("{SECOND}\nThere are {number} lifts.\n");
                ada.upload_version(&path, "lift.txt", text.as_bytes()).await.is(201);
            });
        }
        tasks.join_all().await;
        for number in 2..10 {
            assert_eq!(ada.settled_version(&path, number).await["status"], "READY");
        }
        let present = ada.client.get(&path).await.is(200).data().clone();
        assert_eq!((&present["version"], &present["newestVersion"]), (&json!(9), &json!(9)));
        for number in 1..10 {
            assert!(!ada.text_of(&path, &format!("?version={number}")).await.is_empty());
        }
        assert_eq!(ada.text_of(&path, "?version=1").await, FIRST);
    }

    async fn a_comparison_tells_what_was_added_removed_and_moved(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (path, _) = ada.read(&project, "lift.txt", FIRST.as_bytes()).await;
        ada.read_version(&path, "lift.txt", SECOND.as_bytes()).await;
        let compared = ada.client.get(format!("{path}/versions/2/comparison")).await.is(200).data().clone();
        assert_eq!((&compared["version"], &compared["formerVersion"]), (&json!(2), &json!(1)));
        let part = |text: &str, span: &Value| between(&json!(text), &span["startOffset"], &span["endOffset"]);
        let told: Vec<(String, String, String)> = compared["spans"].as_array().unwrap().iter().map(|span| {
            (span["change"].as_str().unwrap().to_owned(), part(FIRST, &span["former"]), part(SECOND, &span["later"]))
        }).collect();
        let of = |change: &str, former: &str, later: &str| (change.to_owned(), former.to_owned(), later.to_owned());
        let mirror = "The cabin has a mirror on its back wall.";
        assert_eq!(told, [
            of("MOVED", mirror, mirror),
            of("REMOVED", "Doors open within 2 seconds.", ""),
            of("ADDED", "", "Doors open within 5 seconds."),
        ]);
        let back = ada.client.get(format!("{path}/versions/1/comparison?with=2")).await.is(200).data().clone();
        assert_eq!((&back["version"], &back["formerVersion"]), (&json!(1), &json!(2)));
        let whole = ada.client.get(format!("{path}/versions/1/comparison")).await.is(200).data().clone();
        assert_eq!((&whole["formerVersion"], whole["spans"].as_array().unwrap().len()), (&Value::Null, 1));
        ada.client.get(format!("{path}/versions/1/comparison?with=1")).await.refused(422, "InvalidValue");
        ada.client.get(format!("{path}/versions/3/comparison")).await.refused(404, "NotFound");
        ada.client.get(format!("{path}/versions/two/comparison")).await.refused(400, "BadRequest");
    }

    async fn versions_are_restricted_as_documents_are(world: World) {
        let ada = world.user().await;
        let (project, other) = (ada.project().await, ada.project().await);
        let (path, document) = ada.read(&project, "lift.txt", FIRST.as_bytes()).await;
        let reader = world.member(&project, Role::Stakeholder).await;
        reader.upload_version(&path, "lift.txt", SECOND.as_bytes()).await.refused(403, "Forbidden");
        assert_eq!(reader.versions(&path).await.len(), 1);
        let elsewhere = format!("{}/{}", documents(&other), document["id"].as_str().unwrap());
        ada.upload_version(&elsewhere, "lift.txt", SECOND.as_bytes()).await.refused(404, "NotFound");
        ada.client.get(format!("{elsewhere}/versions")).await.refused(404, "NotFound");
        ada.upload_version(&path, "lift.png", b"\x89PNG\r\n\x1a\n not a text").await.refused(415, "UnsupportedMediaType");
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        ada.upload_version(&path, "lift.txt", SECOND.as_bytes()).await.refused(409, "ProjectArchived");
    }

    async fn of_a_document_that_cant_be_deleted_nothing_goes_and_of_one_that_was_nothing_stays(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (path, document) = ada.read(&project, "lift.txt", b"version 1").await;
        for number in 2..13 {
            ada.read_version(&path, "lift.txt", format!("version {number}").as_bytes()).await;
        }
        let versions = ada.versions(&path).await;
        let run = running(&server, &ada, &project, document["id"].as_str().unwrap(), "PROCESSING").await;
        ada.client.delete(&path).await.refused(409, "InvalidState");
        assert_eq!(ada.versions(&path).await, versions, "nothing of it went");
        assert_eq!(ada.text_of(&path, "?version=1").await, "version 1");
        end(&server, run).await;
        ada.client.delete(&path).await.is(200);
        // Killed at any point, the job goes on.
        server.kill();
        let server = setup.start(&[]);
        let patience = Patience::of_seconds(60);
        while versions.iter().any(|version| kept(&server, version)) {
            patience.pause(|| "a file of the versions is left".to_owned()).await;
        }
    }

    async fn a_version_is_read_although_the_server_was_killed(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (path, _) = ada.read(&project, "lift.txt", FIRST.as_bytes()).await;
        let long = "The system shall keep every change for ten years.\n\n".repeat(80_000);
        ada.upload_version(&path, "lift.txt", long.as_bytes()).await.is(201);
        server.kill();
        let server = setup.start(&[]);
        let ada = ada.at(&server);
        assert_eq!(ada.settled_version(&path, 2).await["status"], "READY");
        assert_eq!(ada.text_of(&path, "?version=1").await, FIRST);
        assert_eq!(ada.text_of(&path, "").await.trim_end(), long.trim_end());
        // Deleted with its project, nothing of any version is left.
        let versions = ada.versions(&path).await;
        ada.client.delete(format!("/api/projects/{project}")).await.is(200);
        while versions.iter().any(|version| kept(&server, version)) {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}
