//! Who may connect a project, export its stories and see that; and what a stranger or another project gets.

use serde_json::json;

use super::{Tracked, TrackerWorld};
use crate::support::Role;

on_both! {
    async fn managers_connect_analysts_export_and_members_see_it(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 1).await;
        let export = tracked.exported(json!({})).await;
        let of_export = format!("tracker/exports/{}", export["id"].as_str().unwrap());
        let start = json!({"provider": "JIRA"});
        let destination = json!({"trackerProjectId": "10000", "issueTypeId": "10001"});
        for role in [Role::Stakeholder, Role::Analyst, Role::Manager] {
            let member = world.server.member(&tracked.project, role).await;
            let (is_manager, is_analyst) = (role == Role::Manager, role != Role::Stakeholder);
            let client = &member.client;
            client.get(tracked.at("tracker")).await.is(200);
            client.get(tracked.at("tracker/exports")).await.is(200);
            client.get(tracked.at(&of_export)).await.is(200);
            let of_managers = if is_manager { 200 } else { 403 };
            client.get(tracked.at("tracker/projects")).await.is(of_managers);
            client.get(tracked.at("tracker/projects/10000/issue-types")).await.is(of_managers);
            client.put(tracked.at("tracker/destination")).json(destination.clone()).await.is(of_managers);
            client.post(tracked.at("tracker/connection")).json(start.clone()).await.is(if is_manager { 201 } else { 403 });
            if !is_manager {
                client.delete(tracked.at("tracker/connection")).await.is(403);
            }
            client.post(tracked.at(&format!("{of_export}/cancel"))).await.is(if is_analyst { 409 } else { 403 });
            let begun = client.post(tracked.at("tracker/exports")).json(json!({})).await;
            let begun = begun.is(if is_analyst { 202 } else { 403 });
            if is_analyst {
                tracked.ended(&begun.text_of("id")).await;
            }
        }
        let stranger = world.server.user().await;
        for path in ["tracker", "tracker/projects", "tracker/exports", &of_export] {
            stranger.client.get(tracked.at(path)).await.is(403);
            world.server.client().get(tracked.at(path)).await.is(401);
        }
        // An export of another project is not found in one's own.
        let own = stranger.project().await;
        stranger.client.get(format!("/api/projects/{own}/{of_export}")).await.is(404);
        let body = json!({"retryOf": export["id"]});
        stranger.client.post(format!("/api/projects/{own}/tracker/exports")).json(body).await.refused(409, "TrackerNotConnected");
        tracked.site.must_be_sound().await;
    }

    async fn an_archived_project_is_exported_and_not_connected_anew(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        let archived = json!({"status": "ARCHIVED"});
        tracked.ada.client.patch(format!("/api/projects/{}", tracked.project)).json(archived).await.is(200);
        let start = tracked.ada.client.post(tracked.at("tracker/connection")).json(json!({"provider": "JIRA"})).await;
        start.refused(409, "ProjectArchived");
        tracked.choose("10000", "10001", json!({})).await.refused(409, "ProjectArchived");
        assert_eq!(tracked.exported(json!({})).await["created"], 2);
        tracked.ada.client.delete(tracked.at("tracker/connection")).await.is(200);
        tracked.site.must_be_sound().await;
    }

    async fn a_deleted_project_leaves_nothing_behind(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        tracked.exported(json!({})).await;
        tracked.begin().await;
        let held = world.server.tables_containing(&tracked.project).await;
        for table in ["tracker_connections", "pending_tracker_connections", "tracker_destinations", "tracker_exports",
            "tracker_export_items", "tracker_issues"] {
            assert!(held.iter().any(|one| one == table), "{table} in {held:?}");
        }
        tracked.ada.client.delete(format!("/api/projects/{}", tracked.project)).await.is(200);
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
        loop {
            let held = world.server.tables_containing(&tracked.project).await;
            if !held.iter().any(|table| table.contains("tracker")) {
                break;
            }
            assert!(tokio::time::Instant::now() < deadline, "still in {held:?}");
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
    }
}
