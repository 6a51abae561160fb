//! Tests getReviewDashboard: what a reviewer sees of a project, and what not.

use serde_json::{Value, json};

use super::stakeholders::{DASHBOARD, Review, accept, analysed, invitations};
use crate::analysis::NOTE;
use crate::support::builders::fresh_email;
use crate::support::{ServerSetup, User, World, outbox, shape};

/// Calls `see` with the name and the value of every field, at any depth.
fn visit(value: &Value, see: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            see(name, value);
            visit(value, see);
        }),
        Value::Array(values) => values.iter().for_each(|value| visit(value, see)),
        _ => {}
    }
}

async fn own_dashboard(ada: &User, project: &str) -> Value {
    ada.client.get(format!("/api/projects/{project}/ai/results-dashboard")).await.is(200).data().clone()
}

/// What the team alone sees of risks, questions, actions and decisions: they are not reviewed one by one.
const LIFE: [&str; 8] =
    ["workflowStatus", "version", "revisionSource", "suspect", "runId", "createdAt", "updatedAt", "deferredUntil"];

on_both! {
    async fn a_reviewer_sees_the_results_and_nothing_that_concerns_the_team_alone(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let (own, seen) = (own_dashboard(&ada, &project).await, review.dashboard().await);
        let mut keys = shape::keys(&seen);
        keys.sort_unstable();
        assert_eq!(keys, [
            "actionItems", "decisions", "expiresAt", "generatedAt", "metrics", "openQuestions", "permission", "projectId",
            "projectName", "quality", "requirements", "risks", "runId", "summary", "userStories",
        ]);
        assert_eq!((&seen["projectName"], &seen["permission"]), (&json!("Clinic booking"), &json!("COMMENTER")));
        for name in ["runId", "projectId", "generatedAt", "summary", "quality"] {
            assert_eq!(seen[name], own[name], "{name}");
        }
        visit(&seen, &mut |name, value| {
            let hidden = ["sources", "artifacts", "exports", "assignee", "raisedBy", "speaker", "documentId", "recordingId",
                "tokens", "model", "processingMs", "ungrounded", "email", "startOffset"];
            // The number of sources is no source.
            assert!(!hidden.contains(&name) || (name == "sources" && value.is_number()), "{name}");
        });
        // Everything else of an item is as the team sees it.
        for (kind, without) in [
            ("requirements", vec!["sources", "original", "deferredUntil"]),
            ("userStories", vec!["sources", "original", "deferredUntil"]),
            ("risks", [&["sources"], &LIFE[..]].concat()),
            ("openQuestions", [&["sources", "raisedBy"], &LIFE[..]].concat()),
            ("actionItems", [&["sources", "assignee"], &LIFE[..]].concat()),
            ("decisions", [&["sources"], &LIFE[..]].concat()),
        ] {
            let own = own[kind].as_array().unwrap();
            let seen = seen[kind].as_array().unwrap();
            assert_eq!(own.len(), seen.len(), "{kind}");
            for (own, seen) in own.iter().zip(seen) {
                let (mut own, mut seen) = (own.clone(), seen.clone());
                without.iter().for_each(|name| drop(own.as_object_mut().unwrap().remove(*name)));
                seen.as_object_mut().unwrap().remove("quotes");
                assert_eq!(own, seen, "{kind}");
            }
        }
        assert!(!seen["risks"].as_array().unwrap().is_empty() && !seen["openQuestions"].as_array().unwrap().is_empty());
    }

    async fn each_quote_stands_in_the_text_around_it(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(world.server, &ada, &project, "VIEWER").await;
        let seen = review.dashboard().await;
        let mut quotes = 0;
        for kind in ["requirements", "userStories"] {
            for item in seen[kind].as_array().unwrap() {
                let own = item["quotes"].as_array().unwrap();
                assert!(!own.is_empty(), "{item}");
                for quote in own {
                    let mut keys = shape::keys(quote);
                    keys.sort_unstable();
                    assert_eq!(keys, ["after", "before", "page", "quote", "section", "sourceName", "startMs"]);
                    assert_eq!(quote["sourceName"], "note.md");
                    let text = |name: &str| quote[name].as_str().unwrap().to_owned();
                    let (before, words, after) = (text("before"), text("quote"), text("after"));
                    assert!(before.chars().count() <= 200 && after.chars().count() <= 200);
                    let plain = NOTE.replacen("# ", "", 1);
                    assert!(plain.trim().contains(format!("{before}{words}{after}").trim()), "{quote}");
                    quotes += 1;
                }
            }
        }
        assert!(quotes >= 3, "{quotes}");
        // The document goes: its quotes stay in the items, without a name and without what stood around them.
        let documents = format!("/api/projects/{project}/documents");
        let id = ada.client.get(&documents).await.is(200).data()["items"][0]["id"].as_str().unwrap().to_owned();
        let before = review.client.get(DASHBOARD).await.is(200).etag();
        ada.client.delete(format!("{documents}/{id}")).await.is(200);
        let after = review.client.get(DASHBOARD).header("if-none-match", &before).await.is(200);
        let quote = &after.data()["requirements"][0]["quotes"][0];
        assert_eq!((&quote["sourceName"], &quote["before"], &quote["after"]), (&json!(null), &json!(null), &json!(null)));
        assert!(quote["quote"].is_string());
    }

    async fn a_review_that_did_not_change_is_304(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(world.server, &ada, &project, "VIEWER").await;
        let etag = review.client.get(DASHBOARD).await.is(200).etag();
        review.client.get(DASHBOARD).header("if-none-match", &etag).await.is(304);
        // Another permission, another answer.
        let approver = Review::of(world.server, &ada, &project, "APPROVER").await;
        approver.client.get(DASHBOARD).header("if-none-match", &etag).await.is(200);
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": "Renamed"})).await.is(200);
        let renamed = review.client.get(DASHBOARD).header("if-none-match", &etag).await.is(200);
        assert_eq!(renamed.text_of("projectName"), "Renamed");
        ada.read(&project, "more.md", b"# More\n\nThe system must export all bookings as a CSV file.\n").await;
        let (run, _) = ada.run(&project).await;
        ada.over(&run).await;
        let changed = review.client.get(DASHBOARD).header("if-none-match", renamed.etag()).await.is(200);
        assert_eq!(changed.data()["runId"], run.rsplit('/').next().unwrap());
    }

    async fn a_review_without_results_is_empty(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "VIEWER").await;
        let seen = review.client.get(DASHBOARD).await.is(200);
        assert_eq!((&seen.data()["runId"], &seen.data()["requirements"]), (&json!(null), &json!([])));
        assert_eq!(seen.data()["projectId"], project);
        review.client.get(DASHBOARD).header("if-none-match", seen.etag()).await.is(304);
    }

    async fn a_review_of_a_run_stays_with_it(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let first = own_dashboard(&ada, &project).await;
        let email = fresh_email();
        let body = json!({"invitees": [{"email": email}], "permission": "VIEWER", "runId": first["runId"]});
        ada.client.post(invitations(&project)).json(body).await.is(201);
        let token = outbox::token_in(&outbox::wait_for(&world.server.data, &email, 1).await).unwrap();
        let of_run = world.nobody.reviewing(&accept(&world.nobody, &token).await.is(200).text_of("reviewToken"));
        let of_newest = Review::of(world.server, &ada, &project, "VIEWER").await;
        ada.read(&project, "more.md", b"# More\n\nThe system must export all bookings as a CSV file.\n").await;
        let (run, _) = ada.run(&project).await;
        ada.over(&run).await;
        let count = |seen: &Value| seen["requirements"].as_array().unwrap().len();
        let seen = of_run.get(DASHBOARD).await.is(200);
        assert_eq!((&seen.data()["runId"], count(seen.data())), (&first["runId"], count(&first)));
        assert_eq!(count(&of_newest.dashboard().await), count(&first) + 1);
    }

    async fn reviewers_see_what_all_runs_found_and_nothing_that_was_rejected(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let first = own_dashboard(&ada, &project).await;
        let review = Review::of(world.server, &ada, &project, "VIEWER").await;
        ada.read(&project, "minutes.md", b"# Minutes\n\nThe system must export all bookings as a CSV file.\n").await;
        let (run, started) = ada.run(&project).await;
        assert_eq!(started["documentIds"].as_array().unwrap().len(), 1);
        ada.over(&run).await;
        let rejected = first["requirements"][0]["id"].as_str().unwrap();
        let path = format!("/api/projects/{project}/requirements/{rejected}/status");
        ada.client.patch(path).json(json!({"workflowStatus": "REJECTED", "comment": "No."})).await.is(200);
        let seen = review.dashboard().await;
        let count = |seen: &Value, kind: &str| seen[kind].as_array().unwrap().len();
        assert_eq!(count(&seen, "requirements"), count(&first, "requirements"), "one more and one less");
        assert!(!seen["requirements"].as_array().unwrap().iter().any(|one| one["id"] == rejected), "{seen:#}");
        for kind in ["risks", "openQuestions", "userStories"] {
            assert!(count(&first, kind) > 0 && count(&seen, kind) >= count(&first, kind), "{kind}");
        }
        assert_eq!(own_dashboard(&ada, &project).await["metrics"]["byStatus"]["REJECTED"], 1);
    }

    async fn an_archived_project_can_be_reviewed_but_takes_no_feedback(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(world.server, &ada, &project, "APPROVER").await;
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        review.client.get(DASHBOARD).await.is(200);
        review.say(json!({"targetType": "SUMMARY", "comment": "Well."})).await.refused(409, "ProjectArchived");
    }

    /// Many reviewers at once make the server build the dashboard as often as it fits, not once each; what they get is
    /// the same.
    async fn many_reviewers_at_once_see_the_same(setup: ServerSetup) {
        let server = setup.start(&[]);
        let ada = server.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(&server, &ada, &project, "VIEWER").await;
        let clients: Vec<_> = (0..20).map(|_| review.client.apart()).collect();
        let answers = futures_util::future::join_all(clients.iter().map(|client| client.get(DASHBOARD).served())).await;
        let first = answers[0].clone().is(200);
        assert!(answers.iter().all(|answer| answer.status == 200 && answer.bytes == first.bytes && answer.etag() == first.etag()));
    }
}
