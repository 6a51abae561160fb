//! Tests submitFeedback, listFeedbackByReviewToken, listProjectFeedback, submitProjectFeedback and updateFeedbackStatus.

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::stakeholders::{OWN_FEEDBACK, Review, analysed, feedback_of, invitations};
use crate::support::{Answer, Role, ServerSetup, Socket, User, World, outbox};

/// Sends updateFeedbackStatus and returns the response, whatever its status.
async fn update(by: &User, feedback: &Value, changes: Value) -> Answer {
    let (project, id) = (feedback["projectId"].as_str().unwrap(), feedback["id"].as_str().unwrap());
    by.client.patch(format!("{}/{id}", feedback_of(project))).json(changes).await
}

async fn become_in_turn(by: &User, feedback: &Value, statuses: &[&str]) {
    for status in statuses {
        update(by, feedback, json!({"status": status})).await.is(200);
    }
}

on_both! {
    async fn a_reviewer_comments_on_what_they_see_and_reads_their_own(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(world.server, &ada, &project, "APPROVER").await;
        let other = Review::of(world.server, &ada, &project, "APPROVER").await;
        let seen = review.dashboard().await;
        let (requirement, story) = (&seen["requirements"][0], &seen["userStories"][0]);
        let said = review.say(json!({
            "targetType": "requirement", "targetId": requirement["id"], "comment": "  Make it 48 hours. ", "verdict": "CHANGE",
        })).await.is(201);
        let one = said.data();
        let name = review.email.split('@').next().unwrap();
        assert_eq!(one, &json!({
            "id": one["id"], "projectId": project, "targetType": "REQUIREMENT", "targetId": requirement["id"],
            "targetCode": requirement["code"], "comment": "Make it 48 hours.", "verdict": "CHANGE", "status": "OPEN",
            "isRead": false, "resolutionNote": null, "author": {"name": name, "email": review.email},
            "createdAt": one["createdAt"], "resolvedAt": null,
        }));
        let targets = [
            ("USER_STORY", &story["id"], story["code"].as_str().unwrap().to_owned()),
            ("RISK", &seen["risks"][0]["id"], "RISK-001".to_owned()),
            ("OPEN_QUESTION", &seen["openQuestions"][0]["id"], "Q-001".to_owned()),
        ];
        for (kind, id, code) in &targets {
            let said = review.say(json!({"targetType": kind, "targetId": id, "comment": "Good.", "verdict": "APPROVE"})).await.is(201);
            assert_eq!(said.text_of("targetCode"), *code, "{kind}");
        }
        let summary = review.comment("As a whole it is good.").await;
        assert_eq!((&summary["targetId"], &summary["targetCode"], &summary["verdict"]), (&json!(null), &json!(null), &json!(null)));
        // A verdict changes no workflow status.
        assert_eq!(review.dashboard().await["requirements"][0]["workflowStatus"], "NEEDS_REVIEW");
        let own = review.client.get(OWN_FEEDBACK).await.is(200);
        assert_eq!((&own.data()["totalCount"], &own.data()["items"][0]), (&json!(5), &summary));
        let own = review.client.get(format!("{OWN_FEEDBACK}?targetType=RISK&status=OPEN")).await.is(200);
        assert_eq!(own.data()["totalCount"], 1);
        assert_eq!(other.client.get(OWN_FEEDBACK).await.is(200).data()["totalCount"], 0);
        assert_eq!(ada.client.get(feedback_of(&project)).await.is(200).data()["totalCount"], 5);
    }

    async fn a_viewer_only_reads_and_a_commenter_gives_no_verdict(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let viewer = Review::of(world.server, &ada, &project, "VIEWER").await;
        let commenter = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let plain = json!({"targetType": "SUMMARY", "comment": "Well."});
        let judged = json!({"targetType": "SUMMARY", "comment": "Well.", "verdict": "APPROVE"});
        viewer.say(plain.clone()).await.refused(403, "Forbidden");
        commenter.say(judged).await.refused(403, "Forbidden");
        commenter.say(plain).await.is(201);
        assert_eq!(ada.client.get(feedback_of(&project)).await.is(200).data()["totalCount"], 1);
    }

    async fn feedback_is_about_something_that_its_author_sees(world: World) {
        let ada = world.user().await;
        let (project, other) = (analysed(&ada).await, analysed(&ada).await);
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let elsewhere = Review::of(world.server, &ada, &other, "COMMENTER").await.dashboard().await;
        let own = review.dashboard().await;
        let about = |kind: &str, id: &Value| json!({"targetType": kind, "targetId": id, "comment": "Well."});
        for (kind, id) in [
            ("REQUIREMENT", &elsewhere["requirements"][0]["id"]), ("RISK", &elsewhere["risks"][0]["id"]),
            ("USER_STORY", &json!("0189a0f0-0000-7000-8000-000000000000")),
            // One of another type.
            ("USER_STORY", &own["requirements"][0]["id"]), ("ACCEPTANCE_CRITERION", &own["requirements"][0]["id"]),
        ] {
            review.say(about(kind, id)).await.refused(404, "NotFound");
            ada.client.post(feedback_of(&project)).json(about(kind, id)).await.refused(404, "NotFound");
        }
        let fault = async |body: Value| review.say(body).await.is(422).faults();
        let one = |field: &str, reason: &str| vec![(field.to_owned(), reason.to_owned())];
        assert_eq!(fault(json!({"targetType": "REQUIREMENT", "comment": "Well."})).await, one("targetId", "Required"));
        assert_eq!(fault(about("SUMMARY", &own["requirements"][0]["id"])).await, one("targetId", "InvalidValue"));
        assert_eq!(fault(json!({"targetType": "SUMMARY", "comment": " "})).await, one("comment", "TooShort"));
        assert_eq!(fault(json!({"targetType": "SUMMARY", "comment": "x".repeat(5001)})).await, one("comment", "TooLong"));
        assert_eq!(fault(json!({"targetType": "DECISION", "comment": "x"})).await, one("targetType", "InvalidValue"));
        assert_eq!(fault(json!({"targetType": "SUMMARY", "comment": "x", "status": "RESOLVED"})).await, one("status", "UnknownKey"));
        review.say(json!({"targetType": "SUMMARY", "comment": "\u{1f9ed}".repeat(5000)})).await.is(201);
    }

    async fn members_leave_feedback_too_and_analysts_find_all_of_it(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let member = world.member(&project, Role::Stakeholder).await;
        let review = Review::of(world.server, &ada, &project, "APPROVER").await;
        let requirement = review.dashboard().await["requirements"][0].clone();
        let body = json!({"targetType": "REQUIREMENT", "targetId": requirement["id"], "comment": "Too 50% strict.", "verdict": "APPROVE"});
        let made = member.client.post(feedback_of(&project)).json(body).await.is(201);
        assert_eq!(made.data()["author"], json!({"name": "Ada Lovelace", "email": member.email}));
        review.comment("Well done.").await;
        member.client.get(feedback_of(&project)).await.refused(403, "Forbidden");
        let found = async |query: &str| {
            let list = ada.client.get(format!("{}?{query}", feedback_of(&project))).await.is(200);
            let items = list.data()["items"].as_array().unwrap().clone();
            assert_eq!(list.data()["totalCount"], items.len(), "{query}");
            items.iter().map(|one| one["comment"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
        };
        let strict = ["Too 50% strict."];
        assert_eq!(found("").await, ["Well done.", "Too 50% strict."]);
        assert_eq!(found("targetType=SUMMARY").await, ["Well done."]);
        assert_eq!(found(&format!("targetId={}", requirement["id"].as_str().unwrap())).await, strict);
        assert_eq!(found("verdict=approve").await, strict);
        assert!(found("verdict=CHANGE").await.is_empty());
        assert_eq!(found("search=50%25%20STRICT").await, strict);
        assert_eq!(found(&format!("search={}", requirement["code"].as_str().unwrap())).await, strict);
        assert_eq!(found("search=ada%20love").await, strict);
        assert!(found("isRead=true").await.is_empty());
        update(&ada, made.data(), json!({"isRead": true})).await.is(200);
        assert_eq!(found("isRead=true").await, strict);
        assert_eq!(found("isRead=false&status=OPEN").await, ["Well done."]);
        for bad in ["status=KING", "isRead=yes", "targetId=x", "verdict=MAYBE"] {
            ada.client.get(format!("{}?{bad}", feedback_of(&project))).await.refused(422, "InvalidValue");
        }
        let first = ada.client.get(format!("{}?limit=1", feedback_of(&project))).await.is(200);
        let cursor = first.text_of("nextCursor");
        let second = ada.client.get(format!("{}?limit=1&cursor={cursor}", feedback_of(&project))).await.is(200);
        assert_eq!((&second.data()["items"][0]["comment"], &second.data()["nextCursor"]), (&json!(strict[0]), &json!(null)));
    }

    async fn feedback_goes_from_status_to_status_and_nowhere_else(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let ways: [(&[&str], [u16; 4]); 4] = [
            (&[], [200, 200, 409, 409]),
            (&["IN_PROGRESS"], [200, 200, 200, 200]),
            (&["IN_PROGRESS", "RESOLVED"], [409, 200, 200, 409]),
            (&["IN_PROGRESS", "REJECTED"], [409, 200, 409, 200]),
        ];
        for (way, expected) in ways {
            for (status, expected) in ["OPEN", "IN_PROGRESS", "RESOLVED", "REJECTED"].into_iter().zip(expected) {
                let one = review.comment("Well.").await;
                become_in_turn(&ada, &one, way).await;
                let answer = update(&ada, &one, json!({"status": status})).await;
                assert_eq!(answer.status, expected, "{way:?} to {status}: {}", answer.text());
                if expected == 409 {
                    assert_eq!(answer.codes(), ["InvalidState"]);
                    let now = update(&ada, &one, json!({"isRead": true})).await.is(200);
                    assert_eq!(now.text_of("status"), *way.last().unwrap_or(&"OPEN"), "nothing changed");
                } else {
                    assert_eq!(answer.data()["resolvedAt"].is_string(), ["RESOLVED", "REJECTED"].contains(&status));
                }
            }
        }
        let one = review.comment("Well.").await;
        assert_eq!(update(&ada, &one, json!({})).await.is(422).faults(), [("-".to_owned(), "Required".to_owned())]);
        update(&ada, &one, json!({"status": null})).await.refused(422, "InvalidValue");
        update(&ada, &one, json!({"comment": "Mine"})).await.refused(422, "UnknownKey");
        update(&ada, &one, json!({"resolutionNote": ""})).await.refused(422, "TooShort");
        let noted = update(&ada, &one, json!({"resolutionNote": " A note. "})).await.is(200);
        assert_eq!(noted.text_of("resolutionNote"), "A note.");
        assert_eq!(update(&ada, &one, json!({"resolutionNote": null})).await.is(200).data()["resolutionNote"], json!(null));
        // Somebody else's project, and who is no analyst.
        let other = ada.project().await;
        let id = one["id"].as_str().unwrap();
        let body = || json!({"isRead": true});
        ada.client.patch(format!("{}/{id}", feedback_of(&other))).json(body()).await.refused(404, "NotFound");
        let member = world.member(&project, Role::Stakeholder).await;
        member.client.patch(format!("{}/{id}", feedback_of(&project))).json(body()).await.refused(403, "Forbidden");
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        update(&ada, &one, json!({"isRead": true})).await.refused(409, "ProjectArchived");
        let body = json!({"targetType": "SUMMARY", "comment": "x"});
        ada.client.post(feedback_of(&project)).json(body).await.refused(409, "ProjectArchived");
    }

    async fn who_wrote_feedback_is_told_what_became_of_it(world: World) {
        let ada = world.user().await;
        let project = analysed(&ada).await;
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let seen = review.dashboard().await;
        let id = &seen["requirements"][0]["id"];
        let body = json!({"targetType": "REQUIREMENT", "targetId": id, "comment": "See https://evil.example now."});
        let one = review.say(body).await.is(201).data().clone();
        become_in_turn(&ada, &one, &["IN_PROGRESS"]).await;
        let resolved = update(&ada, &one, json!({"status": "RESOLVED", "resolutionNote": "It is 48 hours now."})).await.is(200);
        assert!(resolved.data()["resolvedAt"].is_string());
        let mail = outbox::wait_for(&world.server.data, &review.email, 2).await;
        assert!(mail.starts_with("Your feedback on REQ-001 was resolved: “Clinic booking”"), "{mail}");
        assert!(mail.contains("It is 48 hours now.") && mail.contains("See https[:]//evil[.]example now."), "{mail}");
        // The same status again tells nobody again; taken up and rejected does.
        update(&ada, &one, json!({"status": "RESOLVED"})).await.is(200);
        become_in_turn(&ada, &one, &["IN_PROGRESS", "REJECTED"]).await;
        let mail = outbox::wait_for(&world.server.data, &review.email, 3).await;
        assert!(mail.starts_with("Your feedback on REQ-001 was not taken up"), "{mail}");
        assert_eq!(outbox::mails(&world.server.data, &review.email).len(), 3);
        // A member is told unless they decided it themself; nobody whose access was revoked is.
        let eve = world.member(&project, Role::Analyst).await;
        let summary = json!({"targetType": "SUMMARY", "comment": "Well."});
        let own = eve.client.post(feedback_of(&project)).json(summary.clone()).await.is(201).data().clone();
        let hers = eve.client.post(feedback_of(&project)).json(summary).await.is(201).data().clone();
        let unread = review.comment("Once more.").await;
        ada.client.delete(format!("{}/{}", invitations(&project), review.invitation)).await.is(200);
        become_in_turn(&ada, &unread, &["IN_PROGRESS", "RESOLVED"]).await;
        become_in_turn(&eve, &own, &["IN_PROGRESS", "RESOLVED"]).await;
        let before = outbox::mails(&world.server.data, &eve.email).len();
        become_in_turn(&ada, &hers, &["IN_PROGRESS", "RESOLVED"]).await;
        let mail = outbox::wait_for(&world.server.data, &eve.email, before + 1).await;
        assert!(mail.starts_with("Your feedback on the summary was resolved"), "{mail}");
        assert_eq!(outbox::mails(&world.server.data, &eve.email).len(), before + 1);
        assert_eq!(outbox::mails(&world.server.data, &review.email).len(), 3);
    }

    async fn of_two_decisions_at_once_one_counts(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        for _ in 0..5 {
            let one = review.comment("Well.").await;
            become_in_turn(&ada, &one, &["IN_PROGRESS"]).await;
            let eve = User { client: ada.client.apart(), ..ada.clone() };
            let (resolved, rejected) =
                tokio::join!(update(&ada, &one, json!({"status": "RESOLVED"})), update(&eve, &one, json!({"status": "REJECTED"})));
            let mut both = [resolved.status, rejected.status];
            both.sort_unstable();
            assert_eq!(both, [200, 409]);
        }
    }

    async fn of_a_hundred_equal_comments_with_one_key_one_is_kept(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let other = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let body = json!({"targetType": "SUMMARY", "comment": "Once."});
        let clients: Vec<_> = (0..100).map(|_| review.client.apart()).collect();
        let post = |client: &crate::support::Client| client.post(OWN_FEEDBACK).key("a-key").json(body.clone()).served();
        let answers = join_all(clients.iter().map(post)).await;
        let mut made = answers.iter().filter(|answer| answer.status == 201);
        let first = made.next().expect("one of them made it");
        assert!(made.all(|answer| answer.body == first.body));
        for answer in answers.iter().filter(|answer| answer.status != 201) {
            answer.clone().refused(409, "RequestInProgress");
        }
        assert_eq!(review.client.get(OWN_FEEDBACK).await.is(200).data()["totalCount"], 1);
        let another = json!({"targetType": "SUMMARY", "comment": "Twice."});
        review.client.post(OWN_FEEDBACK).key("a-key").json(another).await.refused(422, "IdempotencyKeyReused");
        // The key is the access's own.
        let own = other.client.post(OWN_FEEDBACK).key("a-key").json(body.clone()).await.is(201);
        assert_ne!(own.text_of("id"), first.text_of("id"));
        let members = ada.client.post(feedback_of(&project)).key("a-key").json(body.clone()).await.is(201);
        let again = ada.client.post(feedback_of(&project)).key("a-key").json(body).await.is(201);
        assert_eq!(members.body, again.body);
    }

    async fn nobody_leaves_more_feedback_than_is_set(setup: ServerSetup) {
        let server = setup.start(&[
            ("COLLOQUY__LIMITS__FEEDBACK_PER_AUTHOR", "3"),
            ("COLLOQUY__LIMITS__FEEDBACK_MAILS_OF_ADDRESS__MOST", "1"),
        ]);
        let ada = server.user().await;
        let project = ada.project().await;
        let review = Review::of(&server, &ada, &project, "COMMENTER").await;
        let other = Review::of(&server, &ada, &project, "COMMENTER").await;
        let body = json!({"targetType": "SUMMARY", "comment": "Well."});
        let clients: Vec<_> = (0..10).map(|_| review.client.apart()).collect();
        let answers = join_all(clients.iter().map(|client| client.post(OWN_FEEDBACK).json(body.clone()).served())).await;
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 3);
        for answer in answers.into_iter().filter(|answer| answer.status != 201) {
            answer.refused(409, "FeedbackLimitReached");
        }
        other.say(body.clone()).await.is(201);
        for _ in 0..3 {
            ada.client.post(feedback_of(&project)).json(body.clone()).await.is(201);
        }
        ada.client.post(feedback_of(&project)).json(body).await.refused(409, "FeedbackLimitReached");
        // And they are written to no more often than is set.
        for one in review.client.get(OWN_FEEDBACK).await.is(200).data()["items"].as_array().unwrap() {
            become_in_turn(&ada, one, &["IN_PROGRESS", "RESOLVED"]).await;
        }
        outbox::wait_for(&server.data, &review.email, 2).await;
        // The e-mail of a later invitation comes after any that were enqueued before it.
        let last = Review::of(&server, &ada, &project, "COMMENTER").await;
        outbox::wait_for(&server.data, &last.email, 1).await;
        assert_eq!(outbox::mails(&server.data, &review.email).len(), 2);
    }

    async fn only_analysts_receive_feedback_events_and_no_subscriber_has_an_offset_gap(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (analyst, member) = (world.member(&project, Role::Analyst).await, world.member(&project, Role::Stakeholder).await);
        let review = Review::of(world.server, &ada, &project, "COMMENTER").await;
        let topic = format!("project:{project}");
        let mut sockets = Vec::new();
        for who in [&ada, &analyst, &member] {
            let mut socket = Socket::open(&who.client).await;
            let offset = socket.subscribe(&topic).await["offset"].as_u64().unwrap();
            sockets.push((socket, offset));
        }
        let one = review.comment("Well.").await;
        become_in_turn(&ada, &one, &["IN_PROGRESS"]).await;
        let mut frames = Vec::new();
        for (socket, offset) in &mut sockets {
            let both = [socket.next().await, socket.next().await];
            assert_eq!((&both[0]["offset"], &both[1]["offset"]), (&json!(*offset + 1), &json!(*offset + 2)));
            frames.push(both);
        }
        assert_eq!(frames[0], frames[1]);
        let data = |status: &str| json!({
            "projectId": project, "feedbackId": one["id"], "targetType": "SUMMARY", "targetId": null, "status": status,
        });
        assert_eq!((&frames[0][0]["event"], &frames[0][0]["data"]), (&json!("feedback.submitted"), &data("OPEN")));
        assert_eq!((&frames[0][1]["event"], &frames[0][1]["data"]), (&json!("feedback.updated"), &data("IN_PROGRESS")));
        assert!(frames[2].iter().all(|frame| frame["event"] == "withheld" && frame["data"] == json!({})), "{:?}", frames[2]);
    }
}
