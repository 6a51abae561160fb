//! Tests of createProject, getProjectDetails and editProject.

use std::future::IntoFuture;

use serde_json::{Value, json};

use crate::support::{Role, World, shape};

on_both! {
    async fn who_makes_a_project_owns_it(world: World) {
        let ada = world.user().await;
        let made = ada.client.post("/api/projects").json(json!({"name": "  Clinic  ", "language": "de"})).await.is(201);
        let project = made.data();
        let expected = json!({
            "id": shape::id(&project["id"]),
            "name": "Clinic",
            "description": "",
            "language": "DE",
            "status": "ACTIVE",
            "ownerId": ada.id,
            "version": 1,
            "createdAt": project["createdAt"],
            "updatedAt": project["createdAt"],
            "myRole": "OWNER",
            "counts": {"members": 1, "documents": 0, "meetings": 0, "requirements": 0, "userStories": 0},
            "analysisEngines": ["embedded"],
            "storage": {"usedBytes": 0, "limitBytes": 10_737_418_240_u64},
            "signedApprovals": false,
        });
        assert_eq!(project, &expected);
        shape::time(&project["createdAt"]);
        assert_eq!(made.etag(), "\"1\"");
        let read = ada.client.get(format!("/api/projects/{}", made.text_of("id"))).await.is(200);
        assert_eq!((read.data(), read.etag()), (&expected, made.etag()));
    }

    async fn a_project_shows_each_member_their_role(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}");
        for role in [Role::Stakeholder, Role::Analyst, Role::Manager] {
            let member = world.member(&project, role).await;
            assert_eq!(member.client.get(&path).await.is(200).data()["myRole"], role.name());
        }
        assert_eq!(ada.client.get(&path).await.data()["counts"]["members"], 4);
        world.user().await.client.get(&path).await.refused(403, "Forbidden");
    }

    async fn managers_edit_and_the_others_do_not(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}");
        for (role, status) in [(Role::Stakeholder, 403), (Role::Analyst, 403), (Role::Manager, 200)] {
            let member = world.member(&project, role).await;
            member.client.patch(&path).json(json!({"name": role.name()})).await.is(status);
        }
        world.user().await.client.patch(&path).json(json!({"name": "x"})).await.refused(403, "Forbidden");
        assert_eq!(ada.client.get(&path).await.data()["name"], "MANAGER");
    }

    async fn an_edit_changes_what_it_names(world: World) {
        let ada = world.user().await;
        let path = format!("/api/projects/{}", ada.project().await);
        let edited = ada.client.patch(&path).if_match(1).json(json!({"name": "New", "language": "FR"})).await.is(200);
        let project = edited.data();
        assert_eq!((&project["name"], &project["language"], &project["version"]), (&json!("New"), &json!("FR"), &json!(2)));
        assert_eq!(project["description"], "Patients book their visits.");
        assert!(shape::time(&project["updatedAt"]) >= shape::time(&project["createdAt"]));
        let cleared = ada.client.patch(&path).json(json!({"description": null})).await.is(200);
        assert_eq!((&cleared.data()["description"], cleared.etag()), (&json!(""), "\"3\"".to_owned()));
        let same = ada.client.patch(&path).json(json!({"description": ""})).await.is(200);
        assert_eq!(same.etag(), "\"3\"");
    }

    async fn a_stale_edit_is_412_and_changes_nothing(world: World) {
        let ada = world.user().await;
        let path = format!("/api/projects/{}", ada.project().await);
        ada.client.patch(&path).json(json!({"name": "Two"})).await.is(200);
        ada.client.patch(&path).if_match(1).json(json!({"name": "Lost"})).await.refused(412, "PreconditionFailed");
        let read = ada.client.get(&path).await.is(200);
        assert_eq!((&read.data()["name"], read.etag()), (&json!("Two"), "\"2\"".to_owned()));
    }

    async fn two_edits_of_different_fields_both_survive(world: World) {
        let ada = world.user().await;
        for round in 0..20 {
            let path = format!("/api/projects/{}", ada.project().await);
            let name = ada.client.patch(&path).json(json!({"name": format!("Name {round}")})).into_future();
            let description = ada.client.patch(&path).json(json!({"description": format!("{round}")})).into_future();
            let (name, description) = tokio::join!(name, description);
            assert_ne!(name.is(200).etag(), description.is(200).etag());
            let read = ada.client.get(&path).await.is(200);
            assert_eq!(read.data()["name"], format!("Name {round}"));
            assert_eq!(read.data()["description"], format!("{round}"));
        }
    }

    async fn an_archived_project_accepts_only_its_reactivation(world: World) {
        let ada = world.user().await;
        let path = format!("/api/projects/{}", ada.project().await);
        let archived = ada.client.patch(&path).json(json!({"status": "archived"})).await.is(200);
        assert_eq!(archived.data()["status"], "ARCHIVED");
        ada.client.patch(&path).json(json!({"name": "x"})).await.refused(409, "ProjectArchived");
        ada.client.get(&path).await.is(200);
        let woken = ada.client.patch(&path).json(json!({"status": "ACTIVE"})).await.is(200);
        assert_eq!(woken.data()["status"], "ACTIVE");
        ada.client.patch(&path).json(json!({"name": "x"})).await.is(200);
    }

    async fn each_field_at_fault_is_422_and_named(world: World) {
        let ada = world.user().await;
        let path = format!("/api/projects/{}", ada.project().await);
        let both: Vec<(Value, &str, &str)> = vec![
            (json!({"name": ""}), "name", "TooShort"),
            (json!({"name": "x".repeat(121)}), "name", "TooLong"),
            (json!({"name": 1}), "name", "InvalidValue"),
            (json!({"name": "x", "description": "x".repeat(5001)}), "description", "TooLong"),
            (json!({"name": "x", "language": "XX"}), "language", "InvalidValue"),
            (json!({"name": "x", "ownerId": ada.id}), "ownerId", "UnknownKey"),
            (json!({"name": "x", "version": 9}), "version", "UnknownKey"),
        ];
        for (body, field, reason) in &both {
            let pair = [((*field).to_owned(), (*reason).to_owned())];
            assert_eq!(ada.client.post("/api/projects").json(body.clone()).await.is(422).faults(), pair, "create {body}");
            assert_eq!(ada.client.patch(&path).json(body.clone()).await.is(422).faults(), pair, "edit {body}");
        }
        ada.client.post("/api/projects").json(json!({})).await.refused(422, "Required");
        ada.client.post("/api/projects").json(json!({"name": null})).await.refused(422, "Required");
        ada.client.post("/api/projects").json(json!({"name": "x", "status": "ACTIVE"})).await.refused(422, "UnknownKey");
        for body in [json!({"name": null}), json!({"language": null}), json!({"status": null}), json!({"status": "GONE"})] {
            ada.client.patch(&path).json(body).await.refused(422, "InvalidValue");
        }
        assert_eq!(ada.client.patch(&path).json(json!({})).await.is(422).faults(), [("-".to_owned(), "Required".to_owned())]);
    }
}
