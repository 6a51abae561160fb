//! What leaves a project, as files and as issues at a tracker, by keyboard alone; the scenes are in
//! tests/fakes/scenes/exports.mjs. The tracker is the fake Jira.

use serde_json::json;

use super::browser::{Browser, account};
use crate::support::World;
use crate::trackers::TrackerWorld;

on_sqlite! {
    async fn a_project_is_exported_to_a_file_and_saved(world: World) {
        let Some(browser) = Browser::start() else { return };
        let user = world.user().await;
        browser.plays(json!({"scene": "fileExports", "page": world.nobody.base(), "account": account(&user)})).await;
    }

    async fn a_project_is_connected_to_jira_and_its_stories_become_issues(world: TrackerWorld) {
        let Some(browser) = Browser::start() else { return };
        let user = world.server.user().await;
        let site = world.jira.site(json!({"issueTypes": [
            {"id": "10001", "name": "Story", "subtask": false},
            {"id": "10002", "name": "Task", "subtask": false, "fields": [
                {"fieldId": "customfield_10050", "name": "Team", "required": true, "kind": "select", "options": ["Red", "Blue"]},
            ]},
        ]})).await;
        let jira = json!({"control": world.jira.control_url(), "site": site.id, "account": site.account_id()});
        let scene = json!({"scene": "tracker", "page": user.client.base(), "account": account(&user), "jira": jira});
        browser.plays(scene).await;
        assert_eq!(site.get("violations").await, json!([]));
    }
}
