//! Tests createMeeting, listProjectMeetings and getMeetingDetails.

use serde_json::json;

use crate::support::{Role, World, shape};

on_both! {
    async fn the_creator_of_a_meeting_is_its_host(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let body = json!({"title": "Discovery", "scheduledAt": "2026-03-02T09:00:00.123Z", "consentPolicy": "notice"});
        let made = ada.client.post(format!("/api/projects/{project}/meetings")).json(body).await.is(201);
        let meeting = made.data();
        let id = shape::id(&meeting["id"]);
        let expected = json!({
            "id": id,
            "projectId": project,
            "title": "Discovery",
            "description": "",
            "status": "SCHEDULED",
            "joinUrl": format!("http://app.colloquy.test/meetings/{id}/join"),
            "createdById": ada.id,
            "hostParticipantId": meeting["myParticipantId"],
            "scheduledAt": "2026-03-02T09:00:00.123Z",
            "startedAt": null,
            "endedAt": null,
            "createdAt": meeting["createdAt"],
            "updatedAt": meeting["createdAt"],
            "myRole": "HOST",
            "myParticipantId": meeting["myParticipantId"],
            "endReason": null,
            "consentPolicy": "NOTICE",
            "version": 1,
            "consentWording": meeting["consentWording"],
        });
        assert_eq!(meeting, &expected);
        assert_eq!(shape::keys(&meeting["consentWording"]), ["language", "text", "textHash", "version"]);
        shape::time(&meeting["createdAt"]);
        let read = ada.client.get(format!("/api/meetings/{id}")).await.is(200);
        assert_eq!((read.data(), read.etag()), (&expected, made.etag()));
    }

    async fn a_member_who_is_no_participant_reads_a_meeting_without_a_role(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let member = world.member(&project, Role::Stakeholder).await;
        let read = member.client.get(&meeting).await.is(200);
        assert!(read.data()["myRole"].is_null() && read.data()["myParticipantId"].is_null());
    }

    async fn analysts_make_meetings_and_stakeholders_only_read_them(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meetings = format!("/api/projects/{project}/meetings");
        let body = json!({"title": "Discovery", "scheduledAt": "2026-03-02T09:00:00Z"});
        let analyst = world.member(&project, Role::Analyst).await;
        analyst.client.post(&meetings).json(body.clone()).await.is(201);
        let stakeholder = world.member(&project, Role::Stakeholder).await;
        stakeholder.client.post(&meetings).json(body.clone()).await.refused(403, "Forbidden");
        assert_eq!(stakeholder.client.get(&meetings).await.is(200).data()["totalCount"], 1);
        world.user().await.client.get(&meetings).await.refused(403, "Forbidden");
    }

    async fn all_errors_of_a_new_meeting_are_reported_at_once(world: World) {
        let ada = world.user().await;
        let meetings = format!("/api/projects/{}/meetings", ada.project().await);
        let faults = |answer: crate::support::Answer| answer.is(422).faults();
        let pair = |field: &str, code: &str| (field.to_owned(), code.to_owned());
        let answer = ada.client.post(&meetings).json(json!({})).await;
        assert_eq!(faults(answer), [pair("scheduledAt", "Required"), pair("title", "Required")]);
        let body = json!({"title": " ", "scheduledAt": null, "description": 1, "consentPolicy": "MAYBE", "status": "LIVE"});
        let fields: Vec<_> = faults(ada.client.post(&meetings).json(body).await).into_iter().map(|fault| fault.0).collect();
        assert_eq!(fields, ["consentPolicy", "description", "scheduledAt", "status", "title"]);
    }

    async fn meetings_are_listed_newest_first_in_pages(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let mut made = Vec::new();
        for _ in 0..5 {
            made.push(ada.meeting(&project).await["id"].as_str().unwrap().to_owned());
        }
        made.reverse();
        let mut seen = Vec::new();
        let mut cursor = String::new();
        loop {
            let page = ada.client.get(format!("/api/projects/{project}/meetings?limit=2{cursor}")).await.is(200);
            assert_eq!(page.data()["totalCount"], 5);
            for item in page.data()["items"].as_array().unwrap() {
                assert_eq!((&item["participantCount"], &item["recordingStatus"]), (&json!(1), &json!(null)));
                assert_eq!(shape::keys(item).len(), 15);
                seen.push(item["id"].as_str().unwrap().to_owned());
            }
            match page.data()["nextCursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, made);
    }

    async fn meetings_are_found_by_status_and_title(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let first = ada.meeting_path(&project).await;
        let second = ada.meeting_path(&project).await;
        ada.client.patch(&first).json(json!({"title": "100% ÄRZTE_Haus"})).await.is(200);
        ada.client.post(format!("{second}/cancel")).await.is(200);
        for (query, count) in [
            ("status=CANCELLED", 1), ("status=scheduled", 1), ("status=LIVE", 0), ("search=%25", 1), ("search=_", 1),
            ("search=disco", 1), ("search=nothing", 0), ("search=e_h", 1), ("search=e%25h", 0), ("status=SCHEDULED&search=100", 1),
        ] {
            let found = ada.client.get(format!("/api/projects/{project}/meetings?{query}")).await.is(200);
            assert_eq!(found.data()["totalCount"], count, "{query}");
            assert_eq!(found.data()["items"].as_array().unwrap().len(), count, "{query}");
        }
        ada.client.get(format!("/api/projects/{project}/meetings?status=OPEN")).await.refused(422, "InvalidValue");
    }

    async fn an_archived_project_takes_no_meeting(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"status": "ARCHIVED"})).await.is(200);
        let body = json!({"title": "Discovery", "scheduledAt": "2026-03-02T09:00:00Z"});
        let made = ada.client.post(format!("/api/projects/{project}/meetings")).json(body).await;
        made.refused(409, "ProjectArchived");
    }
}
