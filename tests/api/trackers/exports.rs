//! Exports: what is created, what is refused and why, and what is done about calls whose outcome is not known.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Tracked, TrackerWorld, counts, item};
use crate::support::Socket;

on_both! {
    async fn approved_stories_become_issues_and_say_so(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 60).await;
        let stories = tracked.stories().await;
        let reopened = tracked.at(&format!("user-stories/{}/status", stories[7]["id"].as_str().unwrap()));
        tracked.ada.client.patch(reopened).json(json!({"workflowStatus": "NEEDS_REVIEW"})).await.is(200);
        let mut socket = Socket::open(&tracked.ada.client).await;
        let topic = format!("project:{}", tracked.project);
        socket.subscribe(&topic).await;
        let begun = tracked.export(json!({})).await.is(202);
        assert_eq!((&begun.data()["total"], &begun.data()["status"]), (&json!(59), &json!("QUEUED")));
        let export = tracked.ended(&begun.text_of("id")).await;
        assert_eq!(export["status"], "COMPLETED", "{export}");
        assert_eq!(counts(&export), json!({"created": 59, "updated": 0, "skipped": 0, "failed": 0}));
        assert_eq!(tracked.site.calls("createIssues").await, 2, "batches of at most 50");
        let issues = tracked.site.issues().await;
        assert_eq!(issues.len(), 59);
        let first = item(&export, &stories[0]);
        assert_eq!((&first["status"], &first["attempts"], &first["issueKey"]), (&json!("CREATED"), &json!(1), &json!("EX-1")));
        assert_eq!(issues[0]["fields"]["summary"], stories[0]["title"]);
        assert_eq!(issues[0]["fields"]["labels"], json!(["colloquy"]));
        assert_eq!(issues[0]["properties"]["colloquy"]["story"], stories[0]["id"]);
        let description = issues[0]["fields"]["description"].to_string();
        assert!(description.contains("bulletList") || stories[0]["acceptanceCriteria"] == json!([]), "{description}");
        // The story and the trace matrix say which issue it is.
        let after = tracked.stories().await;
        assert_eq!(after[0]["trackerIssue"]["key"], "EX-1");
        assert_eq!(after[0]["trackerIssue"]["url"], first["issueUrl"]);
        assert_eq!((&after[0]["version"], &after[0]["workflowStatus"]), (&stories[0]["version"], &json!("APPROVED")).clone());
        assert_eq!(after[7]["trackerIssue"], Value::Null);
        let matrix = tracked.get("trace-matrix").await.is(200).text();
        assert!(matrix.contains("EX-1"), "the matrix has it");
        // Events tell how far it is.
        let (mut kinds, mut last) = (Vec::new(), Value::Null);
        while last != "export.completed" {
            let event = socket.next().await;
            last = event["event"].clone();
            if last == "export.progressed" || last == "export.completed" {
                kinds.push(event["data"]["created"].as_i64().unwrap());
                assert_eq!(event["data"]["items"], json!([]));
            }
        }
        assert!(kinds.is_sorted() && kinds.last() == Some(&59), "{kinds:?}");
        let listed = tracked.get("tracker/exports").await.is(200);
        assert_eq!((&listed.data()["totalCount"], &listed.data()["items"][0]["items"]), (&json!(1), &json!([])));
        tracked.site.must_be_sound().await;
    }

    async fn a_dry_run_sends_nothing_and_says_what_would_be_done(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 4).await;
        let stories = tracked.stories().await;
        let id = |story: &Value| story["id"].clone();
        tracked.exported(json!({"userStoryIds": [id(&stories[0]), id(&stories[1])]})).await;
        tracked.edit(&stories[1], "Another title").await;
        let dry = tracked.exported(json!({"dryRun": true})).await;
        assert_eq!(counts(&dry), json!({"created": 2, "updated": 1, "skipped": 1, "failed": 0}), "{dry}");
        assert_eq!((&dry["dryRun"], &dry["status"]), (&json!(true), &json!("COMPLETED")));
        assert_eq!(item(&dry, &stories[2])["issueKey"], Value::Null);
        assert_eq!(tracked.site.issues().await.len(), 2);
        assert_eq!(tracked.site.calls("editIssue").await, 0);
        assert_eq!(tracked.stories().await[2]["trackerIssue"], Value::Null);
        tracked.site.must_be_sound().await;
    }

    async fn what_can_not_be_exported_says_why_and_hinders_nothing(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 4).await;
        let stories = tracked.stories().await;
        let path = tracked.at(&format!("user-stories/{}/status", stories[0]["id"].as_str().unwrap()));
        tracked.ada.client.patch(path).json(json!({"workflowStatus": "NEEDS_REVIEW"})).await.is(200);
        // What the story rests on is changed: it is suspect.
        let requirement = stories[1]["requirementIds"][0].as_str().unwrap();
        let path = tracked.at(&format!("requirements/{requirement}"));
        tracked.ada.client.patch(path).json(json!({"statement": "The system must let a person do something else entirely."})).await.is(200);
        assert_eq!(tracked.stories().await[1]["suspect"], true);
        let all = tracked.exported(json!({})).await;
        assert_eq!(counts(&all), json!({"created": 2, "updated": 0, "skipped": 0, "failed": 0}), "neither is chosen");
        let ids: Vec<Value> = stories.iter().map(|story| story["id"].clone()).collect();
        let named = tracked.exported(json!({"userStoryIds": ids})).await;
        assert_eq!(named["status"], "PARTIAL");
        assert_eq!(counts(&named), json!({"created": 0, "updated": 0, "skipped": 2, "failed": 2}), "{named}");
        assert_eq!(item(&named, &stories[0])["errorCode"], "StoryNotApproved");
        assert_eq!(item(&named, &stories[1])["errorCode"], "StorySuspect");
        let unknown = tracked.export(json!({"userStoryIds": [stories[2]["id"], "00000000-0000-7000-8000-000000000000"]})).await.is(422);
        assert_eq!(unknown.faults()[0].0, "userStoryIds[1]");
        tracked.export(json!({"userStoryIds": []})).await.is(422);
        tracked.export(json!({"userStoryIds": [stories[2]["id"]], "retryOf": named["id"]})).await.is(422);
        tracked.site.must_be_sound().await;
    }

    async fn the_tracker_refuses_some_and_those_alone_are_tried_again(world: TrackerWorld) {
        let fields = json!([{"fieldId": "customfield_10060", "name": "Ticket", "required": false, "kind": "text"}]);
        let site = world.jira.site(json!({"issueTypes": [{"id": "10001", "name": "Story", "fields": fields}]})).await;
        let tracked = Tracked::with_stories(world.server, site, 55).await;
        let stories = tracked.stories().await;
        // A partial answer of the tracker: the first creation of the batch is refused, in its own words.
        let errors = json!({"issues": [], "errors": [{"status": 400, "failedElementNumber": 0,
            "elementErrors": {"errorMessages": [], "errors": {"summary": "We don't want this one."}}}]});
        let one = json!({"userStoryIds": [stories[3]["id"]]});
        tracked
            .site
            .post(
                "faults",
                json!({"operation": "createIssues", "kind": "status", "status": 400, "body": errors, "count": 1}),
            )
            .await;
        let failed = tracked.exported(one).await;
        assert_eq!((&failed["status"], &failed["failed"]), (&json!("FAILED"), &json!(1)), "{failed}");
        let refused = item(&failed, &stories[3]);
        assert_eq!(refused["errorCode"], "FieldRejected");
        assert!(refused["errorMessage"].as_str().unwrap().contains("We don't want this one."), "{refused}");
        let again = tracked.exported(json!({"retryOf": failed["id"]})).await;
        assert_eq!((&again["total"], &again["created"]), (&json!(1), &json!(1)), "{again}");
        tracked.export(json!({"retryOf": again["id"]})).await.refused(409, "NothingToExport");
        let rest = tracked.exported(json!({})).await;
        assert_eq!(counts(&rest), json!({"created": 54, "updated": 0, "skipped": 1, "failed": 0}));
        tracked.site.must_be_sound().await;
    }

    async fn a_lost_answer_makes_no_second_issue(world: TrackerWorld) {
        // After the issues were created: no answer, half of one, or an error.
        let after = [
            json!({"kind": "dropAfter"}),
            json!({"kind": "truncate"}),
            json!({"kind": "status", "status": 503, "body": {"errorMessages": ["busy"]}, "executes": true}),
            json!({"kind": "status", "status": 500, "body": {}}),
            json!({"kind": "dropBefore"}),
        ];
        join_all(after.into_iter().map(async |fault| {
            let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 5).await;
            let mut fault = fault;
            fault["operation"] = json!("createIssues");
            fault["count"] = json!(1);
            tracked.site.post("faults", fault.clone()).await;
            let export = tracked.exported(json!({})).await;
            assert_eq!(counts(&export), json!({"created": 5, "updated": 0, "skipped": 0, "failed": 0}), "{fault}: {export}");
            assert_eq!(tracked.site.issues().await.len(), 5, "{fault}");
            let keys: std::collections::HashSet<&str> =
                export["items"].as_array().unwrap().iter().map(|one| one["issueKey"].as_str().unwrap()).collect();
            assert_eq!(keys.len(), 5, "each has its own: {fault}");
            let again = tracked.exported(json!({})).await;
            assert_eq!(again["skipped"], 5, "{fault}: {again}");
            tracked.site.must_be_sound().await;
        }))
        .await;
    }

    async fn an_export_that_was_cancelled_in_doubt_leaves_no_second_issue_to_the_next(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 3).await;
        tracked.site.fault("createIssues", "dropAfter").await;
        let id = tracked.export(json!({})).await.is(202).text_of("id");
        tracked.until(&id, Duration::from_secs(20), |export| !export["waitingUntil"].is_null()).await;
        tracked.export(json!({})).await.refused(409, "InvalidState");
        let cancelled = tracked.ada.client.post(tracked.at(&format!("tracker/exports/{id}/cancel"))).await.is(200);
        assert_eq!((&cancelled.data()["status"], &cancelled.data()["created"]), (&json!("CANCELLED"), &json!(0)));
        tracked.ada.client.post(tracked.at(&format!("tracker/exports/{id}/cancel"))).await.refused(409, "InvalidState");
        let next = tracked.exported(json!({})).await;
        assert_eq!(counts(&next), json!({"created": 3, "updated": 0, "skipped": 0, "failed": 0}), "{next}");
        assert_eq!(tracked.site.issues().await.len(), 3);
        tracked.site.must_be_sound().await;
    }

    async fn of_exports_that_are_begun_at_once_one_is(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 3).await;
        let begun = join_all((0..12).map(|_| tracked.export(json!({})))).await;
        let statuses: Vec<u16> = begun.iter().map(|answer| answer.status).collect();
        assert!(statuses.contains(&202) && statuses.iter().all(|status| [202, 409].contains(status)), "{statuses:?}");
        for answer in begun.iter().filter(|answer| answer.status == 202) {
            tracked.ended(&answer.text_of("id")).await;
        }
        assert_eq!(tracked.site.issues().await.len(), 3);
        // A repeated request is one export.
        let keyed = || tracked.ada.client.post(tracked.at("tracker/exports")).key("once").json(json!({}));
        let (first, second) = (keyed().await.is(202), keyed().await.is(202));
        assert_eq!(first.data()["id"], second.data()["id"]);
        tracked.site.must_be_sound().await;
    }

    async fn redirects_and_addresses_in_answers_are_not_followed(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        let trap = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", trap.local_addr().unwrap());
        tracked
            .site
            .post(
                "faults",
                json!({"operation": "searchProjects", "kind": "redirect", "url": url, "status": 302, "count": 1}),
            )
            .await;
        tracked.get("tracker/projects").await.is(502);
        tracked.site.post("faults", json!({"operation": "*", "kind": "selfUrls", "url": url, "count": null})).await;
        tracked.get("tracker/projects").await.is(200);
        assert_eq!(tracked.exported(json!({})).await["created"], 2);
        let called = tokio::time::timeout(Duration::from_millis(200), trap.accept()).await;
        assert!(called.is_err(), "nobody called the address");
        let issue = tracked.stories().await[0]["trackerIssue"]["url"].as_str().unwrap().to_owned();
        assert!(!issue.contains("127.0.0.1"), "{issue}");
    }
}
