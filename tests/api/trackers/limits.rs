//! The limits of a tracker: each is waited for as it asks, is shown, and costs nothing.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{Tracked, TrackerWorld, counts, item};

on_both! {
    async fn a_limit_is_waited_for_as_long_as_the_tracker_says(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 60).await;
        let limit = json!({
            "operation": "createIssues", "kind": "rateLimit", "reason": "jira-quota-tenant-based", "retryAfter": 5,
            "count": 1, "skip": 1,
        });
        tracked.site.post("faults", limit).await;
        let begun = Instant::now();
        let id = tracked.export(json!({})).await.is(202).text_of("id");
        let waiting = tracked.until(&id, Duration::from_secs(20), |export| !export["waitingUntil"].is_null()).await;
        assert!(waiting["waitingFor"].as_str().unwrap().contains("jira-quota-tenant-based"), "{waiting}");
        assert_eq!(counts(&waiting), json!({"created": 50, "updated": 0, "skipped": 0, "failed": 0}));
        assert!(waiting["estimatedCompletionAt"].as_str().unwrap() >= waiting["waitingUntil"].as_str().unwrap(), "{waiting}");
        let export = tracked.ended(&id).await;
        assert!(begun.elapsed() >= Duration::from_secs(5));
        assert_eq!(counts(&export), json!({"created": 60, "updated": 0, "skipped": 0, "failed": 0}));
        assert_eq!((&export["waitingUntil"], &export["estimatedCompletionAt"]), (&Value::Null, &Value::Null));
        assert_eq!(tracked.site.calls("createIssues").await, 3);
        tracked.site.must_be_sound().await;
    }

    async fn a_limit_of_one_issue_holds_up_no_other(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 4).await;
        let stories = tracked.stories().await;
        tracked.exported(json!({})).await;
        for (index, story) in stories.iter().enumerate() {
            tracked.edit(story, &format!("Changed {index}")).await;
        }
        let limit = json!({
            "operation": "editIssue", "kind": "rateLimit", "reason": "jira-per-issue-on-write", "retryAfter": 4, "count": 1,
        });
        tracked.site.post("faults", limit).await;
        let id = tracked.export(json!({})).await.is(202).text_of("id");
        let waiting = tracked.until(&id, Duration::from_secs(20), |export| !export["waitingUntil"].is_null()).await;
        assert_eq!(counts(&waiting), json!({"created": 0, "updated": 3, "skipped": 0, "failed": 0}), "the others were not held up");
        let export = tracked.ended(&id).await;
        assert_eq!(counts(&export), json!({"created": 0, "updated": 4, "skipped": 0, "failed": 0}), "{export}");
        assert_eq!(item(&export, &stories[0])["attempts"], 2);
        tracked.site.must_be_sound().await;
    }

    async fn an_export_that_waits_is_cancelled_at_once(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        let limit = json!({"operation": "createIssues", "kind": "rateLimit", "reason": "jira-burst-based", "retryAfter": 3000, "count": 1});
        tracked.site.post("faults", limit).await;
        let id = tracked.export(json!({})).await.is(202).text_of("id");
        tracked.until(&id, Duration::from_secs(20), |export| !export["waitingUntil"].is_null()).await;
        let cancelled = tracked.ada.client.post(tracked.at(&format!("tracker/exports/{id}/cancel"))).await.is(200);
        assert_eq!((&cancelled.data()["status"], &cancelled.data()["waitingUntil"]), (&json!("CANCELLED"), &Value::Null));
        assert_eq!(tracked.exported(json!({})).await["created"], 2);
        tracked.site.must_be_sound().await;
    }

    async fn a_tracker_that_is_away_is_waited_for(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        tracked.site.post("faults", json!({"operation": "getProject", "kind": "status", "status": 502, "body": {}, "count": 1})).await;
        let id = tracked.export(json!({})).await.is(202).text_of("id");
        let waiting = tracked.until(&id, Duration::from_secs(20), |export| !export["waitingUntil"].is_null()).await;
        assert!(waiting["waitingFor"].as_str().unwrap().contains("unavailable"), "{waiting}");
        assert_eq!(tracked.ended(&id).await["created"], 2);
        tracked.site.must_be_sound().await;
    }
}
