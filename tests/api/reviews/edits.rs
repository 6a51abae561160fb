//! Tests of edits and regenerations.

use serde_json::{Value, json};

use super::stakeholders::Review;
use super::{Reviewed, named};
use crate::support::World;

on_both! {
    async fn an_edit_is_to_be_reviewed_and_the_first_text_of_the_analysis_stays(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (_, requirement) = reviewed.story().await;
        reviewed.approve(&requirement).await;
        let path = reviewed.path(&requirement);
        let edit = |body: Value| reviewed.ada.client.patch(&path).json(body);
        let statement = "A clerk must see the waiting list of a day, within 2 seconds.";
        let edited = edit(json!({"statement": statement, "type": "NON_FUNCTIONAL", "category": "PERFORMANCE_EFFICIENCY"})).await;
        let edited = edited.is(200);
        assert_eq!(edited.etag(), "\"3\"");
        assert_eq!(
            named(edited.data(), &["statement", "type", "category", "title", "workflowStatus", "revisionSource", "version"]),
            json!({
                "statement": statement, "type": "NON_FUNCTIONAL", "category": "PERFORMANCE_EFFICIENCY",
                "title": requirement["title"], "workflowStatus": "NEEDS_REVIEW", "revisionSource": "HUMAN_EDITED", "version": 3,
            })
        );
        let first = named(&requirement, &["title", "statement", "type", "category", "priority"]);
        assert_eq!(edited.data()["original"], first);
        let twice = edit(json!({"title": "Waiting list", "type": "FUNCTIONAL"})).await.is(200);
        assert_eq!(named(twice.data(), &["original", "category"]), json!({"original": first, "category": null}));
        assert_eq!(twice.data()["sources"], requirement["sources"], "it is still traced to its source");
        let event = reviewed.trail("action=EDIT").await.remove(0);
        assert_eq!(
            event["diff"],
            json!([
                {"name": "statement", "before": requirement["statement"], "after": statement},
                {"name": "type", "before": requirement["type"], "after": "NON_FUNCTIONAL"},
                {"name": "category", "before": null, "after": "PERFORMANCE_EFFICIENCY"},
            ])
        );
        let found = reviewed.ada.client.get(reviewed.at("requirements?search=waiting%20list%20of%20a%20day")).await.is(200);
        assert_eq!(found.data()["totalCount"], 1);
    }

    async fn what_an_edit_may_not_say_is_refused_all_at_once(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let faults = async |item: &Value, body: Value| {
            reviewed.ada.client.patch(reviewed.path(item)).json(body).await.is(422).faults()
        };
        let fault = |field: &str, reason: &str| (field.to_owned(), reason.to_owned());
        assert_eq!(
            faults(&requirement, json!({"title": "", "statement": null, "type": "BIG", "code": "REQ-9"})).await,
            [fault("code", "UnknownKey"), fault("statement", "InvalidValue"), fault("title", "TooShort"), fault("type", "InvalidValue")]
        );
        let category = json!({"type": "FUNCTIONAL", "category": "SECURITY"});
        assert_eq!(faults(&requirement, category).await, [fault("category", "InvalidValue")]);
        assert_eq!(
            faults(&requirement, json!({"workflowStatus": "REJECTED", "title": "A"})).await,
            [fault("workflowStatus", "InvalidValue")]
        );
        assert_eq!(faults(&requirement, json!({"comment": "Fine.", "title": "A"})).await, [fault("workflowStatus", "Required")]);
        assert_eq!(
            faults(&story, json!({"goal": null, "acceptanceCriteria": null})).await,
            [fault("acceptanceCriteria", "InvalidValue"), fault("goal", "InvalidValue")]
        );
        let criteria = json!({"acceptanceCriteria": [{"text": "a"}, {"given": "b", "id": 1}]});
        assert_eq!(
            faults(&story, criteria).await,
            [fault("acceptanceCriteria[1].id", "UnknownKey"), fault("acceptanceCriteria[1].text", "Required")]
        );
        let many: Vec<Value> = (0..51).map(|_| json!({"text": "a"})).collect();
        assert_eq!(faults(&story, json!({"acceptanceCriteria": many})).await, [fault("acceptanceCriteria", "TooLong")]);
        reviewed.ada.client.patch(reviewed.path(&story)).json(json!({})).await.is(422);
        assert_eq!((reviewed.now(&story).await, reviewed.now(&requirement).await), (story, requirement));
    }

    async fn a_story_is_told_anew_and_a_criterion_that_stays_keeps_its_id(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        let edit = |body: Value| reviewed.ada.client.patch(reviewed.path(&story)).json(body);
        let criteria = json!([
            {"text": "The list is in the order of arrival."},
            {"text": "A free slot is offered", "given": "a free slot", "when": "the list is opened", "then": "the slot is offered"},
        ]);
        let first = edit(json!({"acceptanceCriteria": criteria})).await.is(200);
        let of_first = first.data()["acceptanceCriteria"].clone();
        assert_eq!(named(&of_first[0], &["code", "given"]), json!({"code": "AC-001", "given": null}));
        assert_eq!(first.data()["description"], story["description"], "only what was edited is told anew");
        let swapped = json!({
            "role": "receptionist", "benefit": null,
            "acceptanceCriteria": [criteria[1], {"text": "It is printed."}, criteria[0]],
        });
        let second = edit(swapped).await.is(200);
        assert_eq!(second.data()["description"], "As a receptionist, I want to see the waiting list.");
        let of_second = &second.data()["acceptanceCriteria"];
        assert_eq!((&of_second[0]["id"], &of_second[2]["id"]), (&of_first[1]["id"], &of_first[0]["id"]));
        assert_eq!((&of_second[0]["code"], &of_second[2]["code"]), (&json!("AC-001"), &json!("AC-003")));
        assert_eq!(second.data()["original"]["acceptanceCriteria"], story["acceptanceCriteria"]);
        let codes: Vec<&Value> = second.data()["qualityIssues"].as_array().unwrap().iter().map(|issue| &issue["code"]).collect();
        assert_eq!(codes, ["MISSING_BENEFIT"]);
    }

    async fn an_edit_without_a_difference_is_none(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        reviewed.approve(&story).await;
        let same = json!({"title": story["title"], "goal": story["goal"], "role": story["role"]});
        let answer = reviewed.ada.client.patch(reviewed.path(&story)).json(same).await.is(200);
        assert_eq!(named(answer.data(), &["workflowStatus", "version"]), json!({"workflowStatus": "APPROVED", "version": 2}));
        assert_eq!(reviewed.trail("").await.len(), 1);
    }

    async fn an_edit_may_approve_at_once(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        let body = json!({"title": "See the waiting list", "workflowStatus": "APPROVED", "comment": "Shorter."});
        let answer = reviewed.ada.client.patch(reviewed.path(&story)).json(body).await.is(200);
        assert_eq!(
            named(answer.data(), &["workflowStatus", "version", "revisionSource"]),
            json!({"workflowStatus": "APPROVED", "version": 2, "revisionSource": "HUMAN_EDITED"})
        );
        let trail = reviewed.trail("").await;
        assert_eq!(trail.len(), 1);
        assert_eq!(
            named(&trail[0], &["action", "comment", "fromVersion", "toVersion"]),
            json!({"action": "EDIT_AND_APPROVE", "comment": "Shorter.", "fromVersion": 1, "toVersion": 2})
        );
        assert_eq!(trail[0]["diff"][0]["name"], "title");
    }

    async fn two_edits_of_different_fields_both_survive(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (_, requirement) = reviewed.story().await;
        let path = reviewed.path(&requirement);
        let edit = |body: Value| reviewed.ada.client.patch(&path).json(body);
        let (one, two) = tokio::join!(edit(json!({"title": "One"})), edit(json!({"priority": "CRITICAL"})));
        one.is(200);
        two.is(200);
        assert_eq!(
            named(&reviewed.now(&requirement).await, &["title", "priority", "version"]),
            json!({"title": "One", "priority": "CRITICAL", "version": 3})
        );
    }

    async fn a_story_that_is_written_anew_shows_what_is_different_and_what_could_not_be_done(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let anew = || reviewed.ada.client.post(format!("{}/regenerate", reviewed.path(&story)));
        let same = anew().json(json!({"feedback": "Make it shorter."})).await.is(200);
        assert_eq!(named(same.data(), &["version", "diff"]), json!({"version": 1, "diff": []}));
        let notes = same.data()["notes"].to_string();
        assert!(notes.contains("does not interpret feedback") && notes.contains("the same story as before"), "{notes}");
        assert_eq!(reviewed.trail("").await, Vec::<Value>::new());
        reviewed.approve(&story).await;
        let statement = "As a receptionist, I want to print the waiting list, so that I can fill free slots.";
        reviewed.ada.client.patch(reviewed.path(&requirement)).json(json!({"statement": statement})).await.is(200);
        let answer = anew().json(json!({"feedback": "Take up the edit."})).if_match(2).await.is(200);
        assert_eq!(
            named(answer.data(), &["role", "goal", "description", "workflowStatus", "revisionSource", "version", "suspect"]),
            json!({
                "role": "receptionist", "goal": "print the waiting list", "description": statement,
                "workflowStatus": "NEEDS_REVIEW", "revisionSource": "AI_REGENERATED", "version": 3, "suspect": false,
            })
        );
        let changed: Vec<&Value> = answer.data()["diff"].as_array().unwrap().iter().map(|change| &change["name"]).collect();
        assert!(changed.contains(&&json!("role")) && changed.contains(&&json!("goal")), "{changed:?}");
        let event = reviewed.trail("action=REGENERATE").await.pop().unwrap();
        assert_eq!((&event["diff"], &event["comment"]), (&answer.data()["diff"], &json!("Take up the edit.")));
        assert_eq!(answer.data()["original"]["description"], story["description"]);
        anew().json(json!({"feedback": "Again."})).if_match(2).await.refused(412, "PreconditionFailed");
    }

    async fn chosen_comments_are_heeded_and_named_in_the_trail(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let reviewer = Review::of(world.server, &reviewed.ada, &reviewed.project, "COMMENTER").await;
        let about = |kind: &str, item: &Value| json!({"targetType": kind, "targetId": item["id"], "comment": "Print it, please."});
        let on_story = reviewer.say(about("USER_STORY", &story)).await.is(201).data().clone();
        let on_requirement = reviewer.say(about("REQUIREMENT", &requirement)).await.is(201).data().clone();
        let elsewhere = reviewer.comment("It is all fine.").await;
        let statement = "As a clerk, I want to print the waiting list, so that I can fill free slots.";
        reviewed.ada.client.patch(reviewed.path(&requirement)).json(json!({"statement": statement})).await.is(200);
        let anew = |ids: Value| {
            let body = json!({"feedback": "See the comments.", "feedbackIds": ids});
            reviewed.ada.client.post(format!("{}/regenerate", reviewed.path(&story))).json(body)
        };
        let refused = anew(json!([on_story["id"], elsewhere["id"]])).await.is(422);
        assert_eq!(refused.faults()[0].0, "feedbackIds[1]");
        assert_eq!(anew(json!(["0189a0f0-0000-7000-8000-000000000000"])).await.is(422).faults()[0].0, "feedbackIds[0]");
        let written = anew(json!([on_story["id"], on_requirement["id"]])).await.is(200);
        assert_eq!(written.data()["goal"], "print the waiting list");
        let event = reviewed.trail("action=REGENERATE").await.pop().unwrap();
        assert_eq!(event["feedbackIds"], json!([on_story["id"], on_requirement["id"]]));
        let path = reviewed.at(&format!("feedback/{}", on_story["id"].as_str().unwrap()));
        for status in ["IN_PROGRESS", "RESOLVED"] {
            reviewed.ada.client.patch(&path).json(json!({"status": status})).await.is(200);
        }
        anew(json!([on_story["id"]])).await.is(422);
    }
}
