//! Tests getAiAnalysisRunStatus: every documented HTTP status, and the exact fields of the response.

use actors::ids::{self, Id};
use colloquy::db::schema::members;
use colloquy::db::{DbError, RunQueryDsl};
use diesel::{ExpressionMethods, QueryDsl};
use serde_json::{Value, json};

use super::{NOTE, long_text, runs};
use crate::support::{Role, ServerSetup, World, shape};

const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";

const FIELDS: [&str; 24] = [
    "aiJobId",
    "analysisType",
    "attempt",
    "completedAt",
    "createdAt",
    "currentNode",
    "currentNodeLabel",
    "documentIds",
    "documentVersions",
    "engine",
    "errorMessage",
    "eventsUrl",
    "id",
    "language",
    "meetingId",
    "message",
    "progress",
    "projectId",
    "startedAt",
    "status",
    "updatedAt",
    "warnings",
    "attempt",
    "status",
];

/// Panics unless a run has exactly [`FIELDS`], and values in those that are never null.
fn has_exactly_its_fields(run: &Value) {
    let mut expected = FIELDS.to_vec();
    expected.sort_unstable();
    expected.dedup();
    let mut keys: Vec<&str> = run.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(keys, expected);
    for never_null in
        ["currentNode", "currentNodeLabel", "message", "aiJobId", "documentIds", "documentVersions", "warnings"]
    {
        assert!(!run[never_null].is_null(), "{never_null} in {run}");
    }
}

on_both! {
    async fn a_run_has_exactly_its_fields_from_its_start_to_its_end(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (document, _) = ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let document = document.rsplit('/').next().unwrap();
        let (path, queued) = ada.run(&project).await;
        has_exactly_its_fields(&queued);
        for (name, value) in [
            ("projectId", json!(project)), ("status", json!("QUEUED")), ("progress", json!(0)),
            ("currentNode", json!("queued")), ("errorMessage", json!(null)), ("documentIds", json!([document])),
            ("documentVersions", json!([1])),
            ("meetingId", json!(null)), ("startedAt", json!(null)), ("completedAt", json!(null)),
            ("analysisType", json!("FULL")), ("engine", json!("embedded")), ("attempt", json!(1)), ("warnings", json!([])),
            ("eventsUrl", json!(format!("{path}/events"))),
        ] {
            assert_eq!(queued[name], value, "{name}");
        }
        let done = ada.over(&path).await;
        has_exactly_its_fields(&done);
        for (name, value) in [
            ("id", queued["id"].clone()), ("aiJobId", queued["aiJobId"].clone()), ("status", json!("COMPLETED")),
            ("progress", json!(100)), ("currentNode", json!("done")), ("errorMessage", json!(null)),
            ("createdAt", queued["createdAt"].clone()),
        ] {
            assert_eq!(done[name], value, "{name}");
        }
        assert!(shape::time(&done["startedAt"]) <= shape::time(&done["completedAt"]));
    }

    async fn in_processing_there_is_no_end_and_no_error(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", long_text().as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        let seen = ada.once(&path, |run| run["status"] == "PROCESSING" && run["progress"].as_u64() >= Some(10)).await;
        has_exactly_its_fields(&seen);
        assert_eq!((&seen["completedAt"], &seen["errorMessage"]), (&json!(null), &json!(null)));
        shape::time(&seen["startedAt"]);
        assert!(seen["progress"].as_u64().unwrap() < 100);
        ada.client.post(format!("{path}/cancel")).await.is(200);
    }

    async fn a_run_that_matches_if_none_match_is_304(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        ada.over(&path).await;
        let first = ada.client.get(&path).await.is(200);
        let again = ada.client.get(&path).header("if-none-match", first.etag()).await.is(304);
        assert!(again.bytes.is_empty());
        ada.client.get(&path).header("if-none-match", "\"0\"").await.is(200);
    }

    async fn ids_that_are_no_uuids_are_400(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.client.get(format!("/api/projects/x/ai/runs/{NOWHERE}")).await.refused(400, "BadRequest");
        ada.client.get(format!("{}/x", runs(&project))).await.refused(400, "BadRequest");
    }

    async fn reading_a_run_is_401_without_a_token_and_403_for_non_members(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        world.nobody.get(&path).await.refused(401, "Unauthorized");
        world.user().await.client.get(&path).await.refused(403, "Forbidden");
        let guest = world.member(&project, Role::Stakeholder).await;
        guest.client.get(&path).await.is(200);
    }

    async fn a_project_or_a_run_that_is_not_there_is_404_and_so_is_a_run_of_another_project(world: World) {
        let ada = world.user().await;
        let (project, other) = (ada.project().await, ada.project().await);
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let (path, run) = ada.run(&project).await;
        let id = run["id"].as_str().unwrap();
        ada.client.get(format!("/api/projects/{NOWHERE}/ai/runs/{id}")).await.refused(404, "NotFound");
        ada.client.get(format!("{}/{NOWHERE}", runs(&project))).await.refused(404, "NotFound");
        ada.client.get(format!("{}/{id}", runs(&other))).await.refused(404, "NotFound");
        // A user who is not a member of the project can't find out which runs exist.
        let stranger = world.user().await;
        stranger.client.get(format!("{}/{NOWHERE}", runs(&project))).await.refused(403, "Forbidden");
        ada.client.get(&path).await.is(200);
    }

    async fn too_many_polls_are_429(setup: ServerSetup) {
        let server = setup.start(&[("COLLOQUY__LIMITS__CALLS__MOST", "20")]);
        let ada = server.user().await;
        let project = ada.project().await;
        let path = format!("{}/{NOWHERE}", runs(&project));
        let mut statuses = Vec::new();
        for _ in 0..30 {
            statuses.push(ada.client.get(&path).await.status);
        }
        assert!(statuses.starts_with(&[404, 404, 404]), "{statuses:?}");
        assert_eq!(statuses.last(), Some(&429));
    }

    async fn an_invalid_role_in_the_database_is_500_without_internal_details(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let (path, _) = ada.run(&project).await;
        let guest = world.member(&project, Role::Stakeholder).await;
        let (user, of): (Id<ids::User>, Id<ids::Project>) = (guest.id.parse().unwrap(), project.parse().unwrap());
        let db = world.server.db().await;
        let broken = db.write(move |conn| {
            Box::pin(async move {
                let member = members::table.filter(members::user_id.eq(user)).filter(members::project_id.eq(of));
                diesel::update(member).set(members::role.eq("EMPEROR")).execute(conn).await?;
                Ok::<_, DbError>(())
            })
        });
        broken.await.unwrap();
        let answer = guest.client.get(&path).await.refused(500, "InternalServerError");
        assert!(!answer.text().contains("EMPEROR"), "{}", answer.text());
        ada.client.get(&path).await.is(200);
    }
}
