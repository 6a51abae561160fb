//! Tests updateMeeting: every documented HTTP status, the exact fields of the response, and what it does not change.

use serde_json::{Value, json};

use crate::support::{Role, ServerSetup, World, shape};

on_both! {
    async fn an_update_answers_the_meeting_with_exactly_its_fields(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let made = ada.meeting(&project).await;
        let id = made["id"].as_str().unwrap();
        let body = json!({"title": "  Second look  ", "scheduledAt": "2026-04-01T10:00:00+02:00"});
        let answer = ada.client.patch(format!("/api/meetings/{id}")).json(body).await.is(200);
        let meeting = answer.data();
        let expected = json!({
            "id": id,
            "projectId": project,
            "title": "Second look",
            "description": "What the clinic needs.",
            "status": "SCHEDULED",
            "joinUrl": format!("http://app.colloquy.test/meetings/{id}/join"),
            "createdById": ada.id,
            "hostParticipantId": made["hostParticipantId"],
            "scheduledAt": "2026-04-01T08:00:00.000Z",
            "startedAt": null,
            "endedAt": null,
            "createdAt": made["createdAt"],
            "updatedAt": meeting["updatedAt"],
        });
        assert_eq!(meeting, &expected);
        shape::id(&meeting["hostParticipantId"]);
        assert!(shape::time(&meeting["updatedAt"]) >= shape::time(&meeting["createdAt"]));
        assert_eq!(answer.etag(), "\"2\"");
        let read = ada.client.get(format!("/api/meetings/{id}")).await.is(200);
        for (name, value) in expected.as_object().unwrap() {
            assert_eq!(&read.data()[name], value, "{name} as read");
        }
    }

    async fn what_an_update_does_not_name_stays_and_a_null_description_is_empty(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let patched = ada.client.patch(&meeting).json(json!({"description": null})).await.is(200);
        assert_eq!((&patched.data()["title"], &patched.data()["description"]), (&json!("Discovery"), &json!("")));
        let patched = ada.client.patch(&meeting).json(json!({"title": "T"})).await.is(200);
        assert_eq!(patched.data()["description"], "");
    }

    async fn the_same_values_again_are_no_change(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let first = ada.client.patch(&meeting).json(json!({"title": "Once"})).await.is(200);
        let again = ada.client.patch(&meeting).json(json!({"title": "Once"})).await.is(200);
        assert_eq!((first.etag(), first.data()), (again.etag(), again.data()));
    }

    async fn a_meeting_that_is_live_can_be_changed(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        ada.client.post(format!("{meeting}/start")).await.is(200);
        let body = json!({"title": "A", "description": "B", "scheduledAt": "2020-01-01T00:00:00Z"});
        let patched = ada.client.patch(&meeting).json(body).await.is(200);
        assert_eq!(patched.data()["status"], "LIVE");
        assert_eq!(patched.data()["scheduledAt"], "2020-01-01T00:00:00.000Z");
        shape::time(&patched.data()["startedAt"]);
    }

    async fn a_body_that_is_no_json_object_is_400(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        for body in ["", "{", "{\"title\":}", "{\"title\":\"x\"} x", "[]", "[{\"title\":\"x\"}]", "\"title\"", "1", "null", "true"] {
            ada.client.patch(&meeting).body("application/json", body).await.refused(400, "BadRequest");
        }
        for kind in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"] {
            ada.client.patch(&meeting).body(kind, r#"{"title":"x"}"#).await.refused(400, "BadRequest");
        }
        let no_kind = ada.client.patch(&meeting).body("text/plain", r#"{"title":"x"}"#).without("content-type");
        no_kind.await.refused(400, "BadRequest");
        let unread = ada.client.patch(&meeting).body("application/json", b"{\"title\":\"\xff\"}".to_vec());
        unread.await.refused(400, "BadRequest");
        let with_charset = ada.client.patch(&meeting).body("application/json; charset=utf-8", r#"{"title":"x"}"#);
        with_charset.await.is(200);
    }

    async fn an_id_that_is_no_uuid_is_400(world: World) {
        let ada = world.user().await;
        for id in ["1", "not-a-uuid", "00000000000000000000000000000000", "%7B0189a0f0-0000-7000-8000-000000000000%7D"] {
            let answer = ada.client.patch(format!("/api/meetings/{id}")).json(json!({"title": "x"})).await;
            assert_eq!(answer.refused(400, "BadRequest").faults(), [("meetingId".to_owned(), "BadRequest".to_owned())]);
        }
    }

    async fn nobody_is_401_and_a_stranger_or_a_lesser_member_is_403(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let body = json!({"title": "Mine now"});
        world.nobody.patch(&meeting).json(body.clone()).await.refused(401, "Unauthorized");
        world.nobody.bearing("x.y.z").patch(&meeting).json(body.clone()).await.refused(401, "Unauthorized");
        let stranger = world.user().await;
        stranger.client.patch(&meeting).json(body.clone()).await.refused(403, "Forbidden");
        for role in [Role::Stakeholder, Role::Analyst] {
            let member = world.member(&project, role).await;
            member.client.patch(&meeting).json(body.clone()).await.refused(403, "Forbidden");
        }
        let read = ada.client.get(&meeting).await.is(200);
        assert_eq!((&read.data()["title"], read.etag()), (&json!("Discovery"), "\"1\"".to_owned()));
    }

    async fn the_host_and_managers_and_owners_of_the_project_may_update_a_meeting(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let host = world.member(&project, Role::Analyst).await;
        let manager = world.member(&project, Role::Manager).await;
        let meeting = host.meeting_path(&project).await;
        for (who, title) in [(&host, "Host"), (&manager, "Manager"), (&ada, "Owner")] {
            who.client.patch(&meeting).json(json!({"title": title})).await.is(200);
        }
    }

    async fn a_meeting_that_is_not_there_is_meeting_not_found(world: World) {
        let ada = world.user().await;
        let nowhere = "/api/meetings/0189a0f0-0000-7000-8000-000000000000";
        ada.client.patch(nowhere).json(json!({"title": "x"})).await.refused(404, "MeetingNotFound");
        ada.client.patch(nowhere).body("application/json", "{").await.refused(404, "MeetingNotFound");
    }

    async fn a_meeting_that_ended_cannot_be_changed(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        ada.client.post(format!("{meeting}/start")).await.is(200);
        ada.client.post(format!("{meeting}/end")).await.is(200);
        let before = ada.client.get(&meeting).await.is(200);
        ada.client.patch(&meeting).json(json!({"title": "Late"})).await.refused(409, "InvalidState");
        let after = ada.client.get(&meeting).await.is(200);
        assert_eq!((before.etag(), before.data()), (after.etag(), after.data()));
    }

    async fn a_meeting_that_was_cancelled_cannot_be_changed(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        ada.client.post(format!("{meeting}/cancel")).await.is(200);
        let before = ada.client.get(&meeting).await.is(200);
        ada.client.patch(&meeting).json(json!({"title": "Late"})).await.refused(409, "InvalidState");
        let after = ada.client.get(&meeting).await.is(200);
        assert_eq!((before.etag(), before.data()), (after.etag(), after.data()));
    }

    async fn a_meeting_of_an_archived_project_cannot_be_changed(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        // Before, after and again: the status that an earlier request found is not taken for the present one.
        ada.client.patch(&meeting).json(json!({"title": "before"})).await.is(200);
        let status = |status: &str| ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": status}));
        status("ARCHIVED").await.is(200);
        ada.client.patch(&meeting).json(json!({"title": "x"})).await.refused(409, "ProjectArchived");
        status("ACTIVE").await.is(200);
        ada.client.patch(&meeting).json(json!({"title": "again"})).await.is(200);
    }

    async fn a_stale_version_is_412_and_changes_nothing(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        ada.client.patch(&meeting).if_match(1).json(json!({"title": "Two"})).await.is(200);
        let before = ada.client.get(&meeting).await.is(200);
        assert_eq!(before.etag(), "\"2\"");
        let patch = |header: &str| ada.client.patch(&meeting).header("if-match", header).json(json!({"title": "Lost"}));
        for stale in ["\"0\"", "\"1\"", "\"3\"", "\"999999999999999999\""] {
            patch(stale).await.refused(412, "PreconditionFailed");
        }
        for none in ["\"-1\"", "\"abc\"", "2", "W/\"2\"", "\"2\", \"3\"", "\"02\"", "\"99999999999999999999\"", "garbage", ""] {
            patch(none).await.refused(400, "BadRequest");
        }
        patch("\"2\"").also("if-match", "\"2\"").await.refused(400, "BadRequest");
        let after = ada.client.get(&meeting).await.is(200);
        assert_eq!((before.etag(), before.data()), (after.etag(), after.data()));
        ada.client.patch(&meeting).header("if-match", "*").json(json!({"title": "Any"})).await.is(200);
        ada.client.patch(&meeting).if_match(3).json(json!({"title": "Right"})).await.is(200);
    }

    async fn an_invalid_body_is_reported_before_a_stale_version_and_that_before_the_state(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        ada.client.post(format!("{meeting}/cancel")).await.is(200);
        ada.client.patch(&meeting).if_match(1).json(json!({"colour": 1})).await.refused(422, "UnknownKey");
        ada.client.patch(&meeting).if_match(1).json(json!({"title": "x"})).await.refused(412, "PreconditionFailed");
        ada.client.patch(&meeting).if_match(2).json(json!({"title": "x"})).await.refused(409, "InvalidState");
    }

    async fn each_field_at_fault_is_422_and_named(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let long = |count: usize| "ü".repeat(count);
        let table: Vec<(Value, &str, &str)> = vec![
            (json!({"title": ""}), "title", "TooShort"),
            (json!({"title": "   "}), "title", "TooShort"),
            (json!({"title": long(201)}), "title", "TooLong"),
            (json!({"title": null}), "title", "InvalidValue"),
            (json!({"title": 7}), "title", "InvalidValue"),
            (json!({"title": ["x"]}), "title", "InvalidValue"),
            (json!({"title": "two\nlines"}), "title", "InvalidValue"),
            (json!({"title": "a\u{0}b"}), "title", "InvalidValue"),
            (json!({"description": long(5001)}), "description", "TooLong"),
            (json!({"description": 1}), "description", "InvalidValue"),
            (json!({"scheduledAt": null}), "scheduledAt", "InvalidValue"),
            (json!({"scheduledAt": "tomorrow"}), "scheduledAt", "InvalidValue"),
            (json!({"scheduledAt": "2026-03-02"}), "scheduledAt", "InvalidValue"),
            (json!({"scheduledAt": "2026-03-02T09:00:00"}), "scheduledAt", "InvalidValue"),
            (json!({"scheduledAt": "2026-02-30T09:00:00Z"}), "scheduledAt", "InvalidValue"),
            (json!({"scheduledAt": 1_767_225_600}), "scheduledAt", "InvalidValue"),
            (json!({"status": "ENDED"}), "status", "UnknownKey"),
            (json!({"id": "x"}), "id", "UnknownKey"),
            (json!({"hostParticipantId": null}), "hostParticipantId", "UnknownKey"),
            (json!({"Title": "x"}), "Title", "UnknownKey"),
            (json!({"title": "fine", "colour": "blue"}), "colour", "UnknownKey"),
            (json!({}), "-", "Required"),
        ];
        for (body, field, reason) in table {
            let answer = ada.client.patch(&meeting).json(body.clone()).await.is(422);
            assert_eq!(answer.faults(), [(field.to_owned(), reason.to_owned())], "{body}");
        }
        let fits = json!({"title": long(200), "description": long(5000)});
        ada.client.patch(&meeting).json(fits).await.is(200);
    }

    async fn all_invalid_fields_of_an_update_are_reported_at_once(world: World) {
        let ada = world.user().await;
        let meeting = ada.meeting_path(&ada.project().await).await;
        let body = json!({"title": null, "description": 1, "scheduledAt": "soon", "status": "LIVE", "colour": 1});
        let answer = ada.client.patch(&meeting).json(body).await.is(422);
        let fields: Vec<_> = answer.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["colour", "description", "scheduledAt", "status", "title"]);
        assert_eq!(ada.client.get(&meeting).await.etag(), "\"1\"");
    }

    async fn too_many_calls_are_429_after_the_permission_and_before_the_body(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__CALLS__MOST", "40")]);
        let (ada, stranger) = (server.user().await, server.user().await);
        let meeting = ada.meeting_path(&ada.project().await).await;
        let mut calls = 0;
        let refused = loop {
            let answer = ada.client.patch(&meeting).json(json!({"title": format!("{calls}")})).await;
            calls += 1;
            if answer.status != 200 {
                break answer;
            }
        };
        refused.refused(429, "TooManyRequests");
        assert!((30..=60).contains(&calls), "{calls} calls passed");
        ada.client.patch(&meeting).body("application/json", "{").await.refused(429, "TooManyRequests");
        stranger.client.patch(&meeting).json(json!({"title": "x"})).await.refused(403, "Forbidden");
    }

    async fn an_invalid_row_is_a_500_that_reveals_nothing_of_it(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let manager = world.member(&project, Role::Manager).await;
        world.server.break_roles(&project).await;
        let answer = manager.client.patch(&meeting).json(json!({"title": "x"})).await.refused(500, "InternalServerError");
        for inside in ["NOBODY", "role", "member", "row", "src/"] {
            assert!(!answer.text().contains(inside), "{}", answer.text());
        }
        assert!(world.server.read_log().contains(answer.header("x-request-id").unwrap()), "the log knows the request");
        world.nobody.get("/health/ready").await.is(200);
    }
}
