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
            "actionItems", "baselineName", "decisions", "expiresAt", "generatedAt", "metrics", "openQuestions", "permission", "projectId",
            "projectName", "quality", "requirements", "risks", "runId", "scope", "summary", "userStories",
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

    async fn reviewers_see_what_the_inviter_chose_and_nothing_else(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let own = own_dashboard(&ada, &project).await;
        let requirements = own["requirements"].as_array().unwrap();
        let ids: Vec<&str> = requirements.iter().map(|one| one["id"].as_str().unwrap()).collect();
        let decide = async |id: &str, status: &str| {
            let path = format!("/api/projects/{project}/requirements/{id}/status");
            ada.client.patch(path).json(json!({"workflowStatus": status, "comment": "So."})).await.is(200);
        };
        let approved = Review::showing(world.server, &ada, &project, json!({"scope": "APPROVED"})).await;
        let seen = approved.dashboard().await;
        assert_eq!((&seen["scope"], &seen["requirements"], &seen["summary"]["text"]), (&json!("APPROVED"), &json!([]), &json!("")));
        assert_eq!(seen["metrics"]["requirements"], 0);
        decide(ids[0], "APPROVED").await;
        decide(ids[1], "REJECTED").await;
        let baselines = format!("/api/projects/{project}/baselines");
        let baseline = ada.client.post(&baselines).json(json!({"name": "Week 12"})).await.is(201).text_of("id");
        let risk = own["risks"][0]["id"].as_str().unwrap();
        let chosen = json!({"scope": "SELECTED", "itemIds": [ids[1], ids[2], risk, ids[2]]});
        let selected = Review::showing(world.server, &ada, &project, chosen).await;
        let of_baseline = Review::showing(world.server, &ada, &project, json!({"scope": "BASELINE", "baselineId": baseline})).await;
        // The one that was approved is taken back afterwards: a baseline stays as it was.
        let of = |seen: &Value, kind: &str| -> Vec<String> {
            seen[kind].as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect()
        };
        let seen = approved.dashboard().await;
        assert_eq!(of(&seen, "requirements"), [ids[0]]);
        let statement = requirements[0]["statement"].as_str().unwrap().trim_end_matches('.');
        assert_eq!(seen["summary"]["text"], format!("Most important: {statement} (REQ-001)."));
        for kind in ["userStories", "risks", "openQuestions", "actionItems", "decisions"] {
            assert_eq!(seen[kind], json!([]), "{kind} that nobody has approved");
        }
        decide(ids[0], "NEEDS_REVIEW").await;
        assert_eq!(of(&approved.dashboard().await, "requirements"), Vec::<String>::new());
        let seen = selected.dashboard().await;
        assert_eq!((of(&seen, "requirements"), of(&seen, "risks")), (vec![ids[2].to_owned()], vec![risk.to_owned()]));
        assert_eq!((&seen["userStories"], &seen["openQuestions"]), (&json!([]), &json!([])));
        let seen = of_baseline.dashboard().await;
        let without: Vec<&str> = ids.iter().copied().filter(|id| *id != ids[1]).collect();
        assert_eq!((of(&seen, "requirements"), &seen["requirements"][0]["workflowStatus"]), (
            without.iter().map(|id| (*id).to_owned()).collect(), &json!("APPROVED"),
        ));
        assert_eq!((&seen["baselineName"], &seen["risks"]), (&json!("Week 12"), &json!([])));
        assert_eq!(seen["userStories"].as_array().unwrap().len(), own["userStories"].as_array().unwrap().len());
        assert!(seen["requirements"][0]["quotes"][0]["before"].is_string(), "in the text around it");
        // Feedback is about what is seen.
        let about = |id: &str| json!({"targetType": "REQUIREMENT", "targetId": id, "comment": "Well."});
        selected.say(about(ids[2])).await.is(201);
        selected.say(about(ids[0])).await.refused(404, "NotFound");
        of_baseline.say(about(ids[0])).await.is(201);
        // What does not change is 304, whatever happens to the rest.
        let etag = of_baseline.client.get(DASHBOARD).await.is(200).etag();
        decide(ids[0], "APPROVED").await;
        of_baseline.client.get(DASHBOARD).header("if-none-match", &etag).await.is(304);
        // The team sees what each of them was shown.
        let listed = ada.client.get(invitations(&project)).await.is(200);
        let shown: Vec<_> = listed.data()["items"].as_array().unwrap().iter()
            .map(|one| (one["scope"].clone(), one["baselineId"].clone(), one["selectedCount"].clone())).collect();
        assert_eq!(shown, [
            (json!("BASELINE"), json!(baseline), json!(null)), (json!("SELECTED"), json!(null), json!(3)),
            (json!("APPROVED"), json!(null), json!(null)),
        ]);
    }

    async fn what_is_shown_is_of_the_project_and_fits_its_scope(world: World) {
        let (ada, ben) = (world.user().await, world.user().await);
        let (project, other) = (analysed(&ada).await, analysed(&ben).await);
        let theirs = own_dashboard(&ben, &other).await;
        let run = own_dashboard(&ada, &project).await["runId"].clone();
        let baseline = ben.client.post(format!("/api/projects/{other}/baselines")).json(json!({"name": "B"})).await.is(201).text_of("id");
        let item = theirs["requirements"][0]["id"].clone();
        for (shown, field, why) in [
            (json!({"scope": "BASELINE"}), "baselineId", "Required"),
            (json!({"scope": "BASELINE", "baselineId": baseline}), "baselineId", "InvalidValue"),
            (json!({"scope": "APPROVED", "baselineId": baseline}), "baselineId", "InvalidValue"),
            (json!({"scope": "SELECTED"}), "itemIds", "Required"),
            (json!({"scope": "SELECTED", "itemIds": []}), "itemIds", "TooShort"),
            (json!({"scope": "SELECTED", "itemIds": [item]}), "itemIds", "InvalidValue"),
            (json!({"scope": "SELECTED", "itemIds": vec![item.clone(); 501]}), "itemIds", "TooLong"),
            (json!({"itemIds": [item]}), "itemIds", "InvalidValue"),
            (json!({"scope": "APPROVED", "runId": run}), "runId", "InvalidValue"),
            (json!({"scope": "SOME"}), "scope", "InvalidValue"),
        ] {
            let mut body = json!({"invitees": [{"email": fresh_email()}], "permission": "VIEWER"});
            body.as_object_mut().unwrap().extend(shown.as_object().unwrap().clone());
            let faults = ada.client.post(invitations(&project)).json(body).await.is(422).faults();
            assert_eq!(faults, [(field.to_owned(), why.to_owned())], "{shown}");
        }
        assert_eq!(ada.client.get(invitations(&project)).await.is(200).data()["totalCount"], 0);
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
