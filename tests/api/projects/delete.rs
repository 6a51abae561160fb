//! Tests of deleteProject.

use serde_json::json;

use crate::meetings::invitations::Guest;
use crate::meetings::participants::TestMeeting;
use crate::support::{Role, World};

on_both! {
    async fn a_project_goes_with_all_that_is_in_it(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        let member = world.member(&project, Role::Manager).await;
        ada.client.get(&meeting).await.is(200);
        let deleted = ada.client.delete(format!("/api/projects/{project}")).await.is(200);
        assert_eq!(deleted.data(), &json!({}));
        for gone in [format!("/api/projects/{project}"), format!("/api/projects/{project}/meetings")] {
            ada.client.get(&gone).await.refused(404, "NotFound");
            member.client.get(&gone).await.refused(404, "NotFound");
        }
        ada.client.get(&meeting).await.refused(404, "MeetingNotFound");
        ada.client.patch(&meeting).json(json!({"title": "x"})).await.refused(404, "MeetingNotFound");
        ada.client.delete(format!("/api/projects/{project}")).await.refused(404, "NotFound");
        assert_eq!(ada.client.get("/api/projects").await.data()["totalCount"], 0);
    }

    async fn a_loaded_meeting_of_a_deleted_project_is_gone_for_its_participants_too(world: World) {
        let room = TestMeeting::open(world.server).await;
        let eve = room.member(world.server, Role::Analyst).await;
        room.joined(&eve).await;
        let guest = Guest::of(world.server, &room).await;
        guest.join(&room).await.is(200);
        room.ada.client.post(format!("{}/end", room.path)).await.is(200);
        for client in [&eve.client, &guest.client] {
            client.get(&room.path).await.is(200);
        }
        room.ada.client.delete(format!("/api/projects/{}", room.project)).await.is(200);
        for client in [&eve.client, &guest.client] {
            client.get(&room.path).await.refused(404, "MeetingNotFound");
        }
    }

    async fn only_its_owner_deletes_a_project(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let path = format!("/api/projects/{project}");
        for role in [Role::Stakeholder, Role::Analyst, Role::Manager] {
            world.member(&project, role).await.client.delete(&path).await.refused(403, "Forbidden");
        }
        world.user().await.client.delete(&path).await.refused(403, "Forbidden");
        ada.client.get(&path).await.is(200);
    }

    async fn a_project_with_a_live_meeting_stays(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting_path(&project).await;
        ada.client.post(format!("{meeting}/start")).await.is(200);
        ada.client.delete(format!("/api/projects/{project}")).await.refused(409, "InvalidState");
        ada.client.get(&meeting).await.is(200);
        ada.client.post(format!("{meeting}/end")).await.is(200);
        ada.client.delete(format!("/api/projects/{project}")).await.is(200);
    }

    async fn an_archived_project_can_be_deleted_after_reactivation(world: World) {
        let ada = world.user().await;
        let path = format!("/api/projects/{}", ada.project().await);
        ada.client.patch(&path).json(json!({"status": "ARCHIVED"})).await.is(200);
        ada.client.delete(&path).await.refused(409, "ProjectArchived");
        ada.client.patch(&path).json(json!({"status": "ACTIVE"})).await.is(200);
        ada.client.delete(&path).await.is(200);
    }
}
