//! Tests the end of AI runs. One transaction saves the results and the status COMPLETED, or neither. However a run
//! ends, its intermediate rows are deleted.

use std::time::{Duration, Instant};

use actors::ids::{self, Id};
use actors::run::Run;
use colloquy::db::schema::{items, run_drafts, run_items, run_nodes, run_results, runs as run_rows};
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::json;

use super::process::{analysts, signal};
use super::{NOTE, long_text, runs};
use crate::support::chance::Chance;
use crate::support::full::rounds;
use crate::support::{Server, ServerSetup, User};

/// The numbers of rows that a run, and its project, have in the database.
#[derive(Debug, Default, PartialEq)]
struct Left {
    /// Items of the project, from all of its runs.
    items: i64,
    results: i64,
    /// Node outputs, found items and drafts of the run: what an unfinished run needs to continue.
    under_way: i64,
}

impl Server {
    /// Counts the rows of a run, given its path, and the items of its project.
    async fn left(&self, project: &str, run: &str) -> Left {
        let project: Id<ids::Project> = project.parse().unwrap();
        let run: Id<Run> = run.rsplit('/').next().unwrap().parse().unwrap();
        let db = self.db().await;
        let left = db.read(move |conn| {
            Box::pin(async move {
                let of_run = run;
                let nodes = run_nodes::table.filter(run_nodes::run_id.eq(of_run)).count();
                let nodes: i64 = nodes.get_result(conn).await?;
                let found = run_items::table.filter(run_items::run_id.eq(of_run)).count();
                let found: i64 = found.get_result(conn).await?;
                let drafts = run_drafts::table.filter(run_drafts::run_id.eq(of_run)).count();
                let drafts: i64 = drafts.get_result(conn).await?;
                let results = run_results::table.filter(run_results::run_id.eq(of_run)).count();
                let items = items::table.filter(items::project_id.eq(project)).count();
                Ok::<_, DbError>(Left {
                    items: items.get_result(conn).await?,
                    results: results.get_result(conn).await?,
                    under_way: nodes + found + drafts,
                })
            })
        });
        left.await.unwrap()
    }

    /// Returns how often the current attempt of a run was begun, given the run's path.
    pub async fn taken_up(&self, run: &str) -> i64 {
        let run: Id<Run> = run.rsplit('/').next().unwrap().parse().unwrap();
        let db = self.db().await;
        let found = db.read(move |conn| {
            Box::pin(async move {
                Ok::<_, DbError>(run_rows::table.find(run).select(run_rows::taken_up).first(conn).await?)
            })
        });
        found.await.unwrap()
    }
}

/// Makes a project with [`NOTE`] as its only document, which is READY. Returns the project's id.
async fn noted(user: &User) -> String {
    let project = user.project().await;
    user.read(&project, "note.md", NOTE.as_bytes()).await;
    project
}

on_both! {
    async fn cancels_that_race_the_end_each_leave_all_or_nothing(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let mut chance = Chance::new();
        let mut project = noted(&ada).await;
        let began = Instant::now();
        let (path, _) = ada.run(&project).await;
        assert_eq!(ada.over(&path).await["status"], "COMPLETED");
        // Each cancel is sent at about the time when the run ends. The estimate is adjusted after each round, because
        // the duration of a run depends on the machine's load.
        let mut end = u64::try_from(began.elapsed().as_millis()).unwrap();
        let (mut cancelled, mut completed) = (0, 0);
        let mut under_way: Option<String> = None;
        while cancelled + completed < rounds(20, 100) {
            let path = match under_way.take() {
                Some(path) => {
                    ada.client.post(format!("{path}/retry")).await.is(202);
                    path
                }
                None => {
                    project = noted(&ada).await;
                    ada.run(&project).await.0
                }
            };
            tokio::time::sleep(chance.millis(end / 2, end * 3 / 2)).await;
            let answer = ada.client.post(format!("{path}/cancel")).await;
            let left = server.left(&project, &path).await;
            let now = ada.client.get(&path).await.is(200);
            if answer.status == 200 {
                assert_eq!(now.data()["status"], "CANCELLED", "{}", now.text());
                assert_eq!(left, Left::default(), "a cancelled run leaves nothing in the project");
                let listed = ada.client.get(format!("/api/projects/{project}/requirements")).await.is(200);
                assert_eq!(listed.data()["totalCount"], 0);
                cancelled += 1;
                end += end / 10 + 1;
                under_way = Some(path);
            } else {
                answer.refused(409, "InvalidState");
                assert_eq!(now.data()["status"], "COMPLETED", "{}", now.text());
                assert!(left.items > 0 && left.results == 1 && left.under_way == 0, "{left:?}");
                completed += 1;
                end -= end / 10;
            }
        }
        println!("{cancelled} cancelled, {completed} completed");
        assert!(cancelled > 0 && completed > 0, "it was a race: {cancelled} cancelled, {completed} completed");
        if let Some(path) = under_way {
            ada.client.post(format!("{path}/retry")).await.is(202);
            assert_eq!(ada.over(&path).await["status"], "COMPLETED");
            let left = server.left(&project, &path).await;
            assert!(left.items > 0 && left.results == 1 && left.under_way == 0, "{left:?}");
            let listed = ada.client.get(format!("/api/projects/{project}/requirements?limit=100")).await.is(200);
            let codes = listed.data()["items"].as_array().unwrap().iter().map(|item| item["code"].as_str().unwrap());
            assert!(codes.clone().any(|code| code == "REQ-001"), "cancelled runs took no numbers");
        }
    }

    async fn a_run_whose_results_cant_be_saved_is_not_complete_and_leaves_none_of_them(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "empty.txt", b"\n").await;
        let (rejected, _) = ada.run(&project).await;
        assert_eq!(ada.over(&rejected).await["status"], "REJECTED");
        let (note, _) = ada.read(&project, "note.md", NOTE.as_bytes()).await;

        // An item whose number was not allocated: the run's own item with this number collides with it in the middle of
        // the save.
        let in_the_way = Id::<()>::generate();
        let (of, by): (Id<ids::Project>, Id<Run>) =
            (project.parse().unwrap(), rejected.rsplit('/').next().unwrap().parse().unwrap());
        let db = server.db().await;
        let now = actors::time::Clock::now(&actors::time::SystemClock);
        db.write(move |conn| {
            Box::pin(async move {
                let row = (
                    items::id.eq(in_the_way),
                    items::project_id.eq(of),
                    items::run_id.eq(by),
                    items::kind.eq("REQUIREMENT"),
                    items::number.eq(2),
                    items::text_key.eq("in the way"),
                    items::item_type.eq("FUNCTIONAL"),
                    items::priority.eq("LOW"),
                    items::workflow_status.eq("NEEDS_REVIEW"),
                    items::search_text.eq(""),
                    items::body.eq("{}"),
                    items::created_at.eq(now),
                    items::updated_at.eq(now),
                );
                diesel::insert_into(items::table).values(row).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
        // Without the empty document, which would make the run PARTIAL.
        let ids = [note.rsplit('/').next().unwrap()];
        let started = ada.client.post(runs(&project)).json(json!({"documentIds": ids})).await.is(202);
        let path = format!("{}/{}", runs(&project), started.text_of("id"));
        while server.taken_up(&path).await < 2 {
            let now = ada.client.get(&path).await.is(200);
            assert!(["QUEUED", "PROCESSING"].contains(&now.data()["status"].as_str().unwrap()), "{}", now.text());
            let left = server.left(&project, &path).await;
            assert_eq!((left.items, left.results), (1, 0), "nothing but what stood there");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        db.write(move |conn| {
            Box::pin(async move {
                diesel::delete(items::table.find(in_the_way)).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        })
        .await
        .unwrap();
        assert_eq!(ada.over(&path).await["status"], "COMPLETED");
        let left = server.left(&project, &path).await;
        assert!(left.items > 1 && left.results == 1 && left.under_way == 0, "{left:?}");
    }

    async fn however_a_run_ends_its_intermediate_rows_are_deleted(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__ANALYSIS__RUN_SECONDS", "3")]);
        let ada = server.user().await;
        let project = ada.project().await;
        let (long, _) = ada.read(&project, "long.md", long_text().as_bytes()).await;
        let (note, _) = ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let (empty, _) = ada.read(&project, "empty.txt", b"\n").await;
        let torn = ada.uploaded(&project, "torn.pdf", b"%PDF-1.7\nnothing of a page").await;
        assert_eq!(ada.settled(&torn).await["status"], "FAILED");
        let ends = [
            ("CANCELLED", vec![&long]),
            ("FAILED", vec![&long]),
            ("REJECTED", vec![&empty]),
            ("PARTIAL", vec![&note, &torn]),
            ("COMPLETED", vec![&note]),
        ];
        for (end, documents) in ends {
            let ids: Vec<_> = documents.iter().map(|path| path.rsplit('/').next().unwrap()).collect();
            let started = ada.client.post(runs(&project)).json(json!({"documentIds": ids})).await.is(202);
            let path = format!("{}/{}", runs(&project), started.text_of("id"));
            if documents.contains(&&long) {
                // Wait until the run has stored intermediate rows.
                while server.left(&project, &path).await.under_way == 0 {
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
            }
            match end {
                "CANCELLED" => drop(ada.client.post(format!("{path}/cancel")).await.is(200)),
                "FAILED" => analysts(server.pid()).into_iter().for_each(|pid| signal(pid, "STOP")),
                _ => {}
            }
            let over = ada.over(&path).await;
            assert_eq!(over["status"], end, "{over}");
            let left = server.left(&project, &path).await;
            let has_result = ["PARTIAL", "COMPLETED"].contains(&end);
            assert_eq!((left.under_way, left.results), (0, i64::from(has_result)), "{end}");
            assert_eq!(left.items > 0, has_result, "{end}: {left:?}");
        }
    }
}
