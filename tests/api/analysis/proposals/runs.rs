//! Tests of what runs propose, and when they publish directly.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::super::text_of;
use super::*;
use crate::support::full::rounds;
use crate::support::{ServerSetup, World};

on_both! {
    async fn documents_that_say_something_else_propose_nothing(world: World) {
        let analysed = Analysed::new(world.server, &document(&[CANCEL, SEARCH])).await;
        analysed.ada.read(&analysed.project, "more.md", document(&[EXPORT]).as_bytes()).await;
        analysed.run().await;
        analysed.run().await;
        assert_eq!(analysed.proposals("").await, Vec::<Value>::new());
        let items = analysed.items("requirements").await;
        assert_eq!(items.len(), 3, "{items:#?}");
        assert!(items.iter().all(|item| item["version"] == 1), "found again as they were: {items:#?}");
    }

    async fn a_later_run_proposes_and_overwrites_nothing(world: World) {
        let analysed = Analysed::reviewed(world.server).await;
        let before = analysed.items("requirements").await;
        analysed.reread(world.server, &document(&[SLOWER_SEARCH, EXPORT, RECEIPT])).await;
        let run = analysed.run().await;
        let kept: Vec<Value> = before.iter().map(content).collect();
        let mut after: Vec<Value> = analysed.items("requirements").await.iter().map(content).collect();
        let added = after.pop().unwrap();
        assert_eq!(after, kept);
        assert_eq!(
            named(&added, &["code", "statement", "workflowStatus", "version", "revisionSource"]),
            json!({
                "code": "REQ-004", "statement": RECEIPT, "workflowStatus": "NEEDS_REVIEW", "version": 1,
                "revisionSource": "AI_GENERATED",
            })
        );

        let changed = analysed.open("CHANGED").await;
        let search = analysed.requirement(SEARCH).await;
        assert_eq!(
            named(&changed, &["runId", "targetType", "targetId", "status"]),
            json!({"runId": run, "targetType": "REQUIREMENT", "targetId": search["id"], "status": "OPEN"})
        );
        assert_eq!(changed["before"], search);
        assert_eq!(
            content(&changed["after"]),
            json!({
                "id": search["id"], "code": search["code"], "statement": SLOWER_SEARCH, "workflowStatus": "NEEDS_REVIEW",
                "version": search["version"].as_i64().unwrap() + 1, "revisionSource": "AI_REGENERATED",
            })
        );
        let gone = analysed.open("GONE").await;
        assert_eq!((&gone["before"]["statement"], &gone["after"]), (&json!(CANCEL), &none()));
        assert_eq!(gone["targetId"], analysed.requirement(CANCEL).await["id"]);
        assert_eq!((&changed["reason"], &gone["reason"]), (&json!("OTHER_FIGURE"), &json!("NOT_FOUND")));
        assert_eq!(analysed.proposals(&format!("runId={run}&targetType=requirement")).await.len(), 2);
        assert_eq!(analysed.proposals("kind=NEW&status=DISMISSED").await.len(), 0);
        let other = "0189a0f0-0000-7000-8000-000000000000";
        assert_eq!(analysed.proposals(&format!("runId={other}")).await.len(), 0);
        for query in ["status=DRAFT", "kind=odd", "targetType=ODD", "runId=x", "limit=0"] {
            analysed.ada.client.get(format!("{}?{query}", analysed.path())).await.is(422);
        }
    }

    async fn the_dashboard_shows_the_items_of_the_project_and_no_text_that_is_not_accepted(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let shown = analysed.dashboard().await;
        let mut seen = statements(&shown["requirements"]);
        seen.sort_unstable();
        assert_eq!(seen, [EXPORT, CANCEL, RECEIPT, SEARCH]);
        let search = shown["requirements"].as_array().unwrap().iter().find(|item| item["statement"] == SEARCH).unwrap();
        assert_eq!(*search, analysed.requirement(SEARCH).await, "as a person left it");
        let stories = shown["userStories"].as_array().unwrap().len();
        let mut by_status = json!({"APPROVED": 2, "NEEDS_REVIEW": 2 + stories});
        assert_eq!(shown["metrics"]["byStatus"], by_status);
        assert_eq!(shown["metrics"]["requirements"], 4);

        for kind in ["CHANGED", "GONE"] {
            analysed.decide(&analysed.open(kind).await, "accept").await.is(200);
        }
        let path = format!("/api/projects/{}/ai/results-dashboard", analysed.project);
        let answer = analysed.ada.client.get(&path).await.is(200);
        analysed.ada.client.get(&path).header("if-none-match", answer.etag()).await.is(304);
        let shown = answer.data();
        let mut seen = statements(&shown["requirements"]);
        seen.sort_unstable();
        assert_eq!(seen, [EXPORT, CANCEL, RECEIPT, SLOWER_SEARCH]);
        let items = analysed.items("requirements").await;
        for item in shown["requirements"].as_array().unwrap() {
            assert!(items.contains(item), "{item} in {items:#?}");
        }
        by_status = json!({"NEEDS_REVIEW": 3 + shown["userStories"].as_array().unwrap().len(), "REJECTED": 1});
        assert_eq!(shown["metrics"]["byStatus"], by_status);
        analysed.approve(world.server, RECEIPT).await;
        let changed = analysed.ada.client.get(&path).header("if-none-match", answer.etag()).await.is(200);
        assert_eq!(changed.data()["metrics"]["byStatus"]["APPROVED"], 1, "what a person did meanwhile is shown");
    }

    async fn a_text_that_a_person_edited_is_not_proposed_to_be_as_it_was_found(world: World) {
        let analysed = Analysed::new(world.server, &document(&[SEARCH, EXPORT])).await;
        let id = analysed.requirement(SEARCH).await["id"].as_str().unwrap().to_owned();
        analysed
            .review(world.server, &id, |item| {
                let ProjectItem::Requirement(mut one) = item else { panic!("{item:?}") };
                one.statement = "Searches are quick.".to_owned();
                one.version += 1;
                one.revision_source = colloquy::analysis::items::model::RevisionSource::HumanEdited;
                ProjectItem::Requirement(one)
            })
            .await;
        analysed.run().await;
        assert_eq!(analysed.proposals("targetType=REQUIREMENT").await, Vec::<Value>::new());
        assert_eq!(analysed.requirement("Searches are quick.").await["version"], 2);
    }

    async fn a_run_over_other_documents_or_for_other_kinds_makes_nothing_gone(world: World) {
        let analysed = Analysed::reviewed(world.server).await;
        let (other, _) = analysed.ada.read(&analysed.project, "other.md", document(&[RECEIPT]).as_bytes()).await;
        let other = other.rsplit('/').next().unwrap();
        analysed.reread(world.server, &document(&[EXPORT])).await;
        for body in [json!({"documentIds": [other]}), json!({"analysisType": "MEETING_MINUTES"})] {
            let started = analysed.ada.client.post(of_project(&analysed.project)).json(body).await.is(202);
            let over = analysed.ada.over(&format!("{}/{}", of_project(&analysed.project), started.text_of("id"))).await;
            assert!(["COMPLETED", "PARTIAL", "REJECTED"].contains(&over["status"].as_str().unwrap()), "{over}");
            assert_eq!(analysed.proposals("kind=GONE").await, Vec::<Value>::new());
        }
        assert_eq!(analysed.requirement(RECEIPT).await["workflowStatus"], "NEEDS_REVIEW");
        analysed.run().await;
        assert_eq!(analysed.proposals("kind=GONE&targetType=REQUIREMENT").await.len(), 2, "once it is read again");
    }

    async fn a_later_run_supersedes_what_is_open_and_repeats_nothing_that_was_dismissed(world: World) {
        let analysed = Analysed::proposed(world.server).await;
        let [gone, changed] = [analysed.open("GONE").await, analysed.open("CHANGED").await];
        analysed.decide(&gone, "dismiss").await.is(200);
        let run = analysed.run().await;
        assert_eq!(analysed.open("CHANGED").await["runId"], json!(run));
        let superseded = analysed.proposals("status=SUPERSEDED&targetType=REQUIREMENT").await;
        let superseded: BTreeSet<&str> = superseded.iter().map(|one| one["id"].as_str().unwrap()).collect();
        assert_eq!(superseded, [changed["id"].as_str().unwrap()].into());
        analysed.decide(&changed, "accept").await.refused(409, "InvalidState");

        analysed.decide(&analysed.open("CHANGED").await, "dismiss").await.is(200);
        analysed.run().await;
        assert_eq!(analysed.proposals("status=OPEN&targetType=REQUIREMENT").await, Vec::<Value>::new());
        // What is rejected is known when it is found again, and stays rejected.
        let receipt = analysed.requirement(RECEIPT).await["id"].as_str().unwrap().to_owned();
        analysed.review(world.server, &receipt, |item| item.judged(WorkflowStatus::Rejected, SystemClock.now())).await;
        analysed.run().await;
        assert_eq!(analysed.requirement(RECEIPT).await["workflowStatus"], "REJECTED");
        analysed.reread(world.server, &document(&[EXPORT, SLOWER_SEARCH])).await;
        analysed.run().await;
        assert_eq!(analysed.proposals("status=OPEN&kind=GONE&targetType=REQUIREMENT").await, Vec::<Value>::new());
    }

    /// Thousands of proposals are drafted in portions, which nobody sees; a server that is killed meanwhile publishes them once.
    async fn a_run_that_is_killed_while_it_drafts_proposes_everything_once(setup: ServerSetup) {
        let (sentences, kills) = (rounds(1_500, 3_000), rounds(2, 3));
        let mut server = setup.start(&[]);
        let mut analysed = Analysed::new(&server, &text_of(sentences)).await;
        let before = analysed.items_count("requirements").await;
        // Every figure is another one now.
        analysed.reread(&server, &text_of(sentences).replace(" seconds", "0 seconds")).await;
        let (path, started) = analysed.ada.run(&analysed.project).await;
        let run = started["id"].as_str().unwrap().to_owned();
        let mut left = 0;
        for _ in 0..kills {
            let deadline = Instant::now() + Duration::from_secs(120);
            // Those that the killed server left are deleted before others are drafted.
            while [0, left].contains(&drafts(&server, &run).await) {
                assert!(Instant::now() < deadline, "nothing is drafted");
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            server.kill();
            server = setup.start(&[]);
            analysed.ada = analysed.ada.at(&server);
            left = drafts(&server, &run).await;
            let listed = analysed.ada.client.get(analysed.path()).await.is(200).data()["totalCount"].clone();
            let status = analysed.ada.client.get(&path).await.is(200).data()["status"].clone();
            assert!(listed == 0 || status == "COMPLETED", "{listed} proposals of a run that is {status}");
        }
        let over = analysed.ada.over(&path).await;
        assert_eq!((&over["status"], &over["attempt"]), (&json!("COMPLETED"), &json!(1)), "{over}");
        assert_eq!(drafts(&server, &run).await, 0);
        let (mut ids, mut texts, mut query) = (BTreeSet::new(), 0, String::new());
        loop {
            let page = format!("{}?limit=100&status=OPEN&kind=CHANGED&targetType=REQUIREMENT{query}", analysed.path());
            let page = analysed.ada.client.get(page).await.is(200).data().clone();
            for item in page["items"].as_array().unwrap() {
                assert!(ids.insert(item["targetId"].as_str().unwrap().to_owned()), "twice: {item}");
                texts += 1;
            }
            let Some(cursor) = page["nextCursor"].as_str() else {
                assert_eq!(page["totalCount"], texts);
                break;
            };
            query = format!("&cursor={cursor}");
        }
        println!("{texts} requirements proposed");
        assert!(texts > sentences * 9 / 10, "{texts}");
        assert!(analysed.items_count("requirements").await < before + sentences / 10, "what is proposed is not added");
        // And once more: as many again, which supersede the former ones in one transaction.
        let began = Instant::now();
        analysed.run().await;
        println!("superseded in {:?}", began.elapsed());
        let total = |listed: Answer| listed.is(200).data()["totalCount"].as_u64().unwrap();
        let of = |status: &str| analysed.ada.client.get(format!("{}?kind=CHANGED&targetType=REQUIREMENT&status={status}", analysed.path()));
        assert_eq!((total(of("OPEN").await), total(of("SUPERSEDED").await)), (texts as u64, texts as u64));
    }
}
