//! Tests of decisions about the status of items.

use actors::time::{Clock, SystemClock};
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Reviewed, named};
use crate::support::{Role, ServerSetup, World};

const REJECTED: &str = "REJECTED";
const APPROVED: &str = "APPROVED";
const NEEDS_REVIEW: &str = "NEEDS_REVIEW";

fn decision(status: &str) -> Value {
    match status {
        REJECTED => {
            json!({"workflowStatus": REJECTED, "comment": "Not in this release.", "reasonCode": "OUT_OF_SCOPE"})
        }
        "DEFER" => json!({"workflowStatus": NEEDS_REVIEW, "deferredUntil": in_days(30)}),
        status => json!({"workflowStatus": status}),
    }
}

/// A date in some days, as `YYYY-MM-DD`.
fn in_days(days: i64) -> String {
    (SystemClock.now().utc().date_naive() + chrono::Duration::days(days)).to_string()
}

on_both! {
    async fn each_state_takes_its_decisions_and_no_other(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let table = [
            (NEEDS_REVIEW, APPROVED, Some("APPROVE")),
            (NEEDS_REVIEW, REJECTED, Some("REJECT")),
            (NEEDS_REVIEW, NEEDS_REVIEW, None),
            (NEEDS_REVIEW, "DEFER", Some("DEFER")),
            (APPROVED, APPROVED, None),
            (APPROVED, REJECTED, None),
            (APPROVED, NEEDS_REVIEW, Some("REOPEN")),
            (APPROVED, "DEFER", Some("DEFER")),
            (REJECTED, APPROVED, None),
            (REJECTED, REJECTED, None),
            (REJECTED, NEEDS_REVIEW, Some("REOPEN")),
            (REJECTED, "DEFER", Some("DEFER")),
        ];
        for item in [&story, &requirement] {
            for (from, to, action) in table {
                let before = reviewed.now(item).await;
                let before = match (before["workflowStatus"].as_str().unwrap(), from) {
                    (now, from) if now == from => before,
                    (_, NEEDS_REVIEW) => reviewed.judge(item, decision(NEEDS_REVIEW)).await.is(200).data().clone(),
                    (NEEDS_REVIEW, from) => reviewed.judge(item, decision(from)).await.is(200).data().clone(),
                    (_, from) => {
                        reviewed.judge(item, decision(NEEDS_REVIEW)).await.is(200);
                        reviewed.judge(item, decision(from)).await.is(200).data().clone()
                    }
                };
                let events = reviewed.trail("").await.len();
                let answer = reviewed.judge(item, decision(to)).await;
                let Some(action) = action else {
                    answer.refused(409, "InvalidState");
                    assert_eq!(reviewed.now(item).await, before, "{from} {to}");
                    assert_eq!(reviewed.trail("").await.len(), events);
                    continue;
                };
                let after = answer.is(200).data().clone();
                let is_deferred = to == "DEFER";
                let version = before["version"].as_i64().unwrap() + 1;
                assert_eq!(
                    named(&after, &["workflowStatus", "version", "deferredUntil", "suspect"]),
                    json!({
                        "workflowStatus": if is_deferred { NEEDS_REVIEW } else { to }, "version": version,
                        "deferredUntil": if is_deferred { json!(in_days(30)) } else { json!(null) }, "suspect": false,
                    })
                );
                assert_eq!(reviewed.now(item).await, after);
                let trail = reviewed.trail("").await;
                assert_eq!(trail.len(), events + 1);
                assert_eq!(
                    named(
                        trail.last().unwrap(),
                        &["action", "fromStatus", "toStatus", "fromVersion", "toVersion", "diff", "targetId", "targetCode"]
                    ),
                    json!({
                        "action": action, "fromStatus": from, "toStatus": after["workflowStatus"],
                        "fromVersion": version - 1, "toVersion": version, "diff": [], "targetId": item["id"],
                        "targetCode": item["code"],
                    })
                );
            }
        }
        assert_eq!(reviewed.verification().await["valid"], true);
    }

    async fn of_a_hundred_equal_decisions_about_many_items_with_one_key_one_has_an_effect(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let requirements = reviewed.items("requirements").await;
        let items: Vec<Value> =
            requirements.iter().map(|one| json!({"targetType": "REQUIREMENT", "id": one["id"], "version": 1})).collect();
        let call = || {
            let body = json!({"items": items, "workflowStatus": APPROVED});
            reviewed.ada.client.post(reviewed.at("items/status")).key("once").json(body)
        };
        let answers = join_all((0..100).map(|_| call().into_future())).await;
        let done: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
        assert!(!done.is_empty());
        assert!(done.iter().all(|answer| answer.data() == done[0].data()), "one answer");
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            assert_eq!(answer.codes(), ["RequestInProgress"]);
        }
        assert!(done[0].data()["items"].as_array().unwrap().iter().all(|one| one["ok"] == true));
        assert_eq!(call().await.is(200).data(), done[0].data(), "the same answer later");
        assert_eq!(reviewed.trail("").await.len(), requirements.len());
        assert_eq!(reviewed.verification().await["valid"], true);
    }

    async fn a_rejection_says_why_and_a_deferral_until_when(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        let wrong = [
            (json!({"workflowStatus": REJECTED}), "comment", "Required"),
            (json!({"workflowStatus": REJECTED, "comment": " "}), "comment", "TooShort"),
            (json!({"workflowStatus": REJECTED, "comment": "No.", "reasonCode": "BORED"}), "reasonCode", "InvalidValue"),
            (json!({"workflowStatus": APPROVED, "reasonCode": "DUPLICATE"}), "reasonCode", "InvalidValue"),
            (json!({"workflowStatus": APPROVED, "deferredUntil": in_days(3)}), "deferredUntil", "InvalidValue"),
            (json!({"workflowStatus": NEEDS_REVIEW, "deferredUntil": in_days(0)}), "deferredUntil", "InvalidValue"),
            (json!({"workflowStatus": NEEDS_REVIEW, "deferredUntil": in_days(400)}), "deferredUntil", "InvalidValue"),
            (json!({"workflowStatus": NEEDS_REVIEW, "deferredUntil": "2027-02-30"}), "deferredUntil", "InvalidValue"),
            (json!({"workflowStatus": NEEDS_REVIEW, "signature": {"meaning": "APPROVAL"}}), "signature", "InvalidValue"),
            (json!({"workflowStatus": "DONE"}), "workflowStatus", "InvalidValue"),
            (json!({"workflowStatus": APPROVED, "version": 3}), "version", "UnknownKey"),
        ];
        for (body, field, reason) in wrong {
            let answer = reviewed.judge(&story, body.clone()).await.is(422);
            assert_eq!(answer.faults(), [(field.to_owned(), reason.to_owned())], "{body}");
        }
        assert_eq!(reviewed.now(&story).await, story);
        reviewed.judge(&story, json!({"workflowStatus": "rejected", "comment": "Not needed."})).await.is(200);
        let event = reviewed.trail("").await.pop().unwrap();
        assert_eq!(
            named(&event, &["comment", "reasonCode", "actor"]),
            json!({"comment": "Not needed.", "reasonCode": "OTHER", "actor": {"id": reviewed.ada.id, "name": event["actor"]["name"]}})
        );
        let name = reviewed.ada.client.get("/api/profile").await.is(200).text_of("fullName");
        assert_eq!(event["actor"]["name"], name);
    }

    async fn a_deferral_ends_when_the_item_is_reopened(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        reviewed.judge(&story, decision("DEFER")).await.is(200);
        let reopened = reviewed.judge(&story, decision(NEEDS_REVIEW)).await.is(200).data().clone();
        assert_eq!(
            named(&reopened, &["workflowStatus", "deferredUntil", "version"]),
            json!({"workflowStatus": NEEDS_REVIEW, "deferredUntil": null, "version": 3})
        );
        assert_eq!(reviewed.trail("").await.pop().unwrap()["action"], "REOPEN");
        reviewed.judge(&story, decision(NEEDS_REVIEW)).await.refused(409, "InvalidState");
    }

    async fn a_stale_version_changes_nothing_and_of_many_writers_one_wins(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let answers = join_all((0..16).map(|_| async {
            reviewed.judging(&story, decision(APPROVED)).if_match(1).await.status
        }));
        let mut answers = answers.await;
        answers.sort_unstable();
        assert_eq!((answers[0], &answers[1..]), (200, &[412; 15][..]));
        let edit = reviewed.ada.client.patch(reviewed.path(&requirement)).json(json!({"title": "Waiting list"}));
        edit.if_match(7).await.refused(412, "PreconditionFailed");
        assert_eq!(reviewed.now(&requirement).await, requirement);
        assert_eq!(reviewed.trail("").await.len(), 1);
    }

    async fn many_items_are_decided_at_once_each_for_itself(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let other = reviewed.item("requirements", "two seconds").await;
        reviewed.approve(&other).await;
        let stranger = Reviewed::new(world.server).await.items("requirements").await.remove(0);
        let of = |kind: &str, item: &Value| json!({"targetType": kind, "id": item["id"]});
        let mut stale = of("REQUIREMENT", &requirement);
        stale["version"] = json!(9);
        let items = json!([
            of("USER_STORY", &story), stale, of("REQUIREMENT", &other), of("REQUIREMENT", &stranger),
            of("REQUIREMENT", &story), of("REQUIREMENT", &requirement), of("REQUIREMENT", &requirement),
        ]);
        let path = reviewed.at("items/status");
        let body = json!({"items": items, "workflowStatus": APPROVED, "comment": "Agreed."});
        let answer = reviewed.ada.client.post(&path).key("bulk").json(body.clone()).await.is(200);
        let results: Vec<Value> =
            answer.data()["items"].as_array().unwrap().iter().map(|one| json!([one["ok"], one["errorCode"]])).collect();
        assert_eq!(
            json!(results),
            json!([
                [true, null], [false, "PreconditionFailed"], [false, "InvalidState"], [false, "NotFound"], [false, "NotFound"],
                [true, null], [false, "InvalidState"],
            ])
        );
        let trail = reviewed.trail("").await;
        assert_eq!(trail.len(), 3, "one of before, and one for each that was decided");
        let events = world.server.events_of_request(answer.header("x-request-id").unwrap()).await;
        assert_eq!(events, ["item.changed", "item.changed"]);
        let again = reviewed.ada.client.post(&path).key("bulk").json(body).await.is(200);
        assert_eq!(again.data(), answer.data(), "the same key has no second effect");
        assert_eq!(reviewed.trail("").await.len(), 3);
        let many: Vec<Value> = (0..201).map(|_| of("REQUIREMENT", &requirement)).collect();
        let too_many = reviewed.ada.client.post(&path).json(json!({"items": many, "workflowStatus": APPROVED})).await;
        assert_eq!(too_many.is(422).faults(), [("items".to_owned(), "TooLong".to_owned())]);
        assert_eq!(reviewed.verification().await["valid"], true);
    }

    async fn a_story_becomes_suspect_by_what_its_requirement_demands_and_by_nothing_else(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        assert_eq!(story["suspect"], false, "a new item never is");
        reviewed.approve(&story).await;
        reviewed.approve(&requirement).await;
        let edit = |body: Value| reviewed.ada.client.patch(reviewed.path(&requirement)).json(body);
        edit(json!({"title": "Waiting list", "priority": "HIGH"})).await.is(200);
        assert_eq!(reviewed.now(&story).await["suspect"], false);
        let answer = edit(json!({"statement": "A clerk must see the waiting list of a day."})).await.is(200);
        let suspect = reviewed.now(&story).await;
        assert_eq!(
            named(&suspect, &["suspect", "workflowStatus", "version"]),
            json!({"suspect": true, "workflowStatus": APPROVED, "version": 2})
        );
        let events = world.server.events_of_request(answer.header("x-request-id").unwrap()).await;
        assert_eq!(events, ["item.changed", "item.changed"]);
        let event = reviewed.trail("action=BECOME_SUSPECT").await.pop().unwrap();
        assert_eq!((&event["targetId"], &event["causedBy"]), (&story["id"], &requirement["id"]));
        // A suspect item may be approved again.
        let again = reviewed.approve(&story).await;
        assert_eq!(named(&again, &["suspect", "version"]), json!({"suspect": false, "version": 3}));
        reviewed.judge(&requirement, decision(REJECTED)).await.is(200);
        assert_eq!(reviewed.now(&story).await["suspect"], true, "nothing demands it any more");
        let reopened = reviewed.judge(&story, decision(NEEDS_REVIEW)).await.is(200);
        assert_eq!(reopened.data()["suspect"], false);
        assert_eq!(reviewed.verification().await["valid"], true);
    }

    async fn what_is_decided_stands_in_lists_and_in_the_dashboard(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let dashboard = reviewed.at("ai/results-dashboard");
        let before = reviewed.ada.client.get(&dashboard).await.is(200).etag();
        reviewed.approve(&story).await;
        reviewed.judge(&requirement, decision(REJECTED)).await.is(200);
        let approved = reviewed.now(&story).await;
        let after = reviewed.ada.client.get(&dashboard).header("if-none-match", &before).await.is(200);
        assert_eq!(after.data()["metrics"]["byStatus"], json!({"APPROVED": 1, "NEEDS_REVIEW": 3, "REJECTED": 1}));
        assert!(after.data()["userStories"].as_array().unwrap().contains(&approved));
        let listed = reviewed.ada.client.get(reviewed.at("user-stories?status=APPROVED")).await.is(200);
        assert_eq!(listed.data()["items"], json!([approved]));
    }

    async fn nobody_decides_in_an_archived_project_and_a_stakeholder_never(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        let stakeholder = world.member(&reviewed.project, Role::Stakeholder).await;
        let path = format!("{}/status", reviewed.path(&story));
        stakeholder.client.patch(&path).json(decision(APPROVED)).await.refused(403, "Forbidden");
        stakeholder.client.get(reviewed.at("approval-events")).await.is(200);
        let project = format!("/api/projects/{}", reviewed.project);
        reviewed.ada.client.patch(project).json(json!({"status": "ARCHIVED"})).await.is(200);
        reviewed.judge(&story, decision(APPROVED)).await.refused(409, "ProjectArchived");
        let edit = reviewed.ada.client.patch(reviewed.path(&story)).json(json!({"title": "Other"}));
        edit.await.refused(409, "ProjectArchived");
        let anew = reviewed.ada.client.post(format!("{}/regenerate", reviewed.path(&story)));
        anew.json(json!({"feedback": "Shorter."})).await.refused(409, "ProjectArchived");
        let bulk = json!({"items": [{"targetType": "USER_STORY", "id": story["id"]}], "workflowStatus": APPROVED});
        reviewed.ada.client.post(reviewed.at("items/status")).json(bulk).await.refused(409, "ProjectArchived");
        assert_eq!(reviewed.trail("").await, Vec::<Value>::new());
        assert_eq!(reviewed.verification().await["valid"], true);
    }
}

const KEY: &str = "a-service-key-of-more-than-thirty-two-signs";

on_both! {
    async fn a_program_with_the_service_key_never_approves(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__PIPELINE__KEY", KEY)]);
        let reviewed = Reviewed::new(&server).await;
        let (story, requirement) = reviewed.story().await;
        let program = reviewed.ada.client.bearing(KEY);
        let status = decision(APPROVED);
        let bulk = json!({"items": [{"targetType": "USER_STORY", "id": story["id"]}], "workflowStatus": APPROVED});
        let calls = [
            program.patch(format!("{}/status", reviewed.path(&story))).json(status.clone()),
            program.patch(format!("{}/status", reviewed.path(&requirement))).json(status),
            program.patch(reviewed.path(&story)).json(json!({"title": "Mine", "workflowStatus": APPROVED})),
            program.patch(reviewed.path(&requirement)).json(json!({"title": "Mine"})),
            program.post(reviewed.at("items/status")).json(bulk),
            program.post(format!("{}/regenerate", reviewed.path(&story))).json(json!({"feedback": "Shorter."})),
        ];
        for call in calls {
            call.await.refused(403, "ServiceMayNotApprove");
        }
        program.get(reviewed.at("approval-events")).await.refused(401, "Unauthorized");
        assert_eq!(reviewed.trail("").await, Vec::<Value>::new());
    }
}
