//! Exactly once: a server is killed at any step of an export of 200 stories, again and again, and the tracker ends with 200
//! issues.

use std::time::Duration;

use serde_json::json;

use super::{Tracked, begin, counts, is_active};
use crate::support::ServerSetup;
use crate::support::chance::Chance;
use crate::support::full::rounds;
use crate::support::jira::FakeJira;

const STORIES: usize = 200;

on_both! {
    async fn a_server_that_is_killed_at_any_step_makes_each_issue_once(setup: ServerSetup) {
        let Some(jira) = FakeJira::shared() else { return };
        let mut chance = Chance::new();
        let mut server = begin(&setup, jira);
        let mut tracked = Tracked::with_stories(&server, jira.site(json!({})).await, STORIES).await;
        let (mut kills, mut exports, mut met) = (0, 0, 0);
        let wanted = rounds(8, 60);
        while kills < wanted {
            // Each export begins with nothing at the tracker: at another site.
            let site = jira.site(json!({"accounts": [tracked.site.account_id()]})).await;
            tracked.connect().await;
            let body = json!({"siteId": site.id, "trackerProjectId": "10000", "issueTypeId": "10001"});
            tracked.ada.client.put(tracked.at("tracker/destination")).json(body).await.is(200);
            // Calls take a while, so that kills meet them before, in and after what they do.
            for operation in ["createIssues", "getCreateIssueMetaIssueTypes", "searchAndReconsileIssuesUsingJqlPost"] {
                site.post("faults", json!({"operation": operation, "kind": "slow", "ms": 40, "count": null})).await;
            }
            let id = tracked.export(json!({})).await.is(202).text_of("id");
            exports += 1;
            while kills < wanted {
                tokio::time::sleep(Duration::from_millis(chance.below(400))).await;
                let export = tracked.get(&format!("tracker/exports/{id}")).await.is(200).data().clone();
                if !is_active(&export) {
                    break;
                }
                met += usize::from(export["created"].as_u64().unwrap() < STORIES as u64);
                server.kill();
                kills += 1;
                server = begin(&setup, jira);
                tracked = tracked.moved_to(&server);
            }
            let export = tracked.ended(&id).await;
            assert_eq!(export["status"], "COMPLETED", "{export}");
            assert_eq!(counts(&export), json!({"created": STORIES, "updated": 0, "skipped": 0, "failed": 0}));
            assert_eq!(site.issues().await.len(), STORIES, "after {kills} kills");
            site.must_be_sound().await;
        }
        println!("{kills} kills of {exports} exports, {met} of them under way");
        assert!(met * 2 > kills, "most kills met an export under way: {met} of {kills}");
    }
}
