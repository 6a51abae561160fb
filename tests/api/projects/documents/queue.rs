//! Tests of the queue of documents waiting to be parsed: its fairness, the limit per user, and documents whose job
//! fails.

use std::collections::HashSet;

use actors::live::{Topic, TopicKind};
use actors::time::Time;
use colloquy::db::{Conn, DbError, events};
use serde_json::Value;

use crate::support::documents::documents;
use crate::support::{Server, ServerSetup};

const KIND: &str = "read-document";
/// The memory limit of the server in these tests, in MiB.
const LIMIT: u64 = 768;

/// Installs a trigger that keeps parsing jobs from becoming due until [`release_jobs`], so that a test knows which are
/// queued.
async fn hold_back(server: &Server) {
    let db = server.db().await;
    let held = db.write(|conn| {
        Box::pin(async move {
            let sql = match conn {
                Conn::Pg(_) => format!(
                    "CREATE FUNCTION held() RETURNS trigger LANGUAGE plpgsql AS \
                     $$ BEGIN NEW.run_at := '2100-01-01'; RETURN NEW; END $$; \
                     CREATE TRIGGER held BEFORE INSERT ON jobs FOR EACH ROW WHEN (NEW.kind = '{KIND}') \
                     EXECUTE FUNCTION held();"
                ),
                Conn::Sqlite(_) => format!(
                    "CREATE TRIGGER held AFTER INSERT ON jobs WHEN NEW.kind = '{KIND}' BEGIN \
                     UPDATE jobs SET run_at = 4102444800000000 WHERE id = NEW.id; END;"
                ),
            };
            Ok::<_, DbError>(conn.batch(&sql).await?)
        })
    });
    held.await.unwrap();
}

/// Removes the trigger and makes all jobs due at the time they were created.
async fn release_jobs(server: &Server) {
    let db = server.db().await;
    let release_jobs = db.write(|conn| {
        Box::pin(async move {
            let sql = match conn {
                Conn::Pg(_) => "DROP TRIGGER held ON jobs; DROP FUNCTION held; UPDATE jobs SET run_at = created_at;",
                Conn::Sqlite(_) => "DROP TRIGGER held; UPDATE jobs SET run_at = created_at;",
            };
            Ok::<_, DbError>(conn.batch(sql).await?)
        })
    });
    release_jobs.await.unwrap();
}

/// Returns the times at which the documents of a project changed to PROCESSING.
async fn started_at(server: &Server, project: &str) -> Vec<Time> {
    let topic = Topic { kind: TopicKind::Project, id: project.parse().unwrap() };
    let records = server.db().await.read(move |conn| Box::pin(events::read_after(conn, topic, 0, 100))).await.unwrap();
    let is_begun = |data: &str| serde_json::from_str::<Value>(data).unwrap()["status"] == "PROCESSING";
    records.iter().filter(|record| is_begun(&record.data)).map(|record| record.at).collect()
}

on_both! {
    async fn a_document_waits_for_at_most_one_of_eight_of_another_project(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[("COLLOQUY__ANALYSIS__READERS", "1")]);
        let (ada, ben) = (server.user().await, server.user().await);
        let (many, one) = (ada.project().await, ben.project().await);
        hold_back(&server).await;
        let mut paths = Vec::new();
        for turn in 0..8 {
            paths.push(ada.uploaded(&many, &format!("{turn}.txt"), format!("The line {turn}.").as_bytes()).await);
        }
        let other = ben.uploaded(&one, "other.txt", b"Another line.").await;
        release_jobs(&server).await;
        assert_eq!(ben.settled(&other).await["status"], "READY");
        for path in paths {
            assert_eq!(ada.settled(&path).await["status"], "READY");
        }
        let others = started_at(&server, &one).await;
        let before = started_at(&server, &many).await.into_iter().filter(|at| *at < others[0]).count();
        assert!(before <= 1, "{before} documents were read first");
    }

    async fn a_user_has_no_more_unparsed_documents_than_the_limit(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[("COLLOQUY__LIMITS__UNREAD_DOCUMENTS", "3")]);
        let (ada, ben) = (server.user().await, server.user().await);
        let (project, others) = (ada.project().await, ben.project().await);
        hold_back(&server).await;
        let mut tasks = tokio::task::JoinSet::new();
        for turn in 0..12 {
            let (ada, project) = (ada.clone(), project.clone());
            let text = format!("The line {turn}.");
            tasks.spawn(async move { ada.upload(&project, &format!("{turn}.txt"), text.as_bytes()).key(&turn.to_string()).await });
        }
        let answers = tasks.join_all().await;
        let taken: Vec<_> = answers.iter().filter(|answer| answer.status == 201).collect();
        assert_eq!(taken.len(), 3, "twelve at once are no more than twelve one by one");
        for refused in answers.iter().filter(|answer| answer.status != 201) {
            let refused = refused.clone().refused(429, "TooManyRequests");
            assert!(refused.text().contains("You have 3 documents that are still being read"), "{}", refused.text());
        }
        // The limit holds across projects; an accepted upload is replayed by its key, and another user has their own
        // limit.
        let elsewhere = ada.project().await;
        ada.upload(&elsewhere, "more.txt", b"More.").await.refused(429, "TooManyRequests");
        let again = taken[0].data();
        let key = again["fileName"].as_str().unwrap().trim_end_matches(".txt").to_owned();
        let same = ada.upload(&project, &format!("{key}.txt"), format!("The line {key}.").as_bytes()).key(&key).await;
        assert_eq!(same.is(201).text_of("id"), again["id"].as_str().unwrap());
        ben.upload(&others, "more.txt", b"More.").await.is(201);
        release_jobs(&server).await;
        for answer in &taken {
            let path = format!("{}/{}", documents(&project), answer.text_of("id"));
            assert_eq!(ada.settled(&path).await["status"], "READY");
        }
        ada.read(&elsewhere, "more.txt", b"More.").await;
        let listed = ada.client.get(documents(&project)).await.is(200);
        let names: HashSet<_> = listed.data()["items"].as_array().unwrap().iter().map(|one| one["id"].to_string()).collect();
        assert_eq!(names.len(), 3, "what was refused left nothing");
    }

    async fn a_document_fails_with_its_job(setup: ServerSetup) {
        let server = setup.start_within(LIMIT, &[]);
        let ada = server.user().await;
        let project = ada.project().await;
        hold_back(&server).await;
        let path = ada.uploaded(&project, "lost.txt", b"A line.").await;
        let sha256 = ada.client.get(&path).await.is(200).text_of("sha256");
        std::fs::remove_file(server.data.join("files").join(&sha256[..2]).join(&sha256)).unwrap();
        // Only the last attempt is left.
        let db = server.db().await;
        let tried = db.write(|conn| {
            let sql = format!("UPDATE jobs SET attempts = 4 WHERE kind = '{KIND}'");
            Box::pin(async move { Ok::<_, DbError>(conn.batch(&sql).await?) })
        });
        tried.await.unwrap();
        release_jobs(&server).await;
        let document = ada.settled(&path).await;
        assert_eq!(document["status"], "FAILED");
        assert!(document["errorMessage"].as_str().unwrap().contains("an internal error"), "{document}");
        let failed = db.read(|conn| Box::pin(colloquy::jobs::failed_count(conn))).await.unwrap();
        assert_eq!(failed, 1, "an operator sees it");
    }
}
