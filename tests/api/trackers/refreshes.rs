//! The refresh of tokens: by one call at a time, stored before it is used, and never over what somebody else stored.

use std::time::{Duration, Instant};

use futures_util::future::{join, join_all};
use serde_json::{Value, json};

use super::{Tracked, TrackerWorld};
use crate::support::Socket;

/// Fails a refresh of the site's account, once.
async fn fault(tracked: &Tracked, mut fault: Value) {
    fault["operation"] = json!("tokenRefresh");
    fault["count"] = json!(1);
    tracked.site.account("/faults", fault).await;
}

async fn refreshes(tracked: &Tracked) -> u64 {
    tracked.site.account("", Value::Null).await["counts"]["refreshes"].as_u64().unwrap()
}

on_both! {
    async fn fifty_that_need_fresh_tokens_at_once_make_one_call(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        tracked.connect().await;
        tracked.site.account("/expire", json!({})).await;
        let all = join_all((0..50).map(|_| tracked.get("tracker/projects"))).await;
        for answer in all {
            answer.is(200);
        }
        assert_eq!(refreshes(&tracked).await, 1);
        let counts = tracked.site.account("", Value::Null).await["counts"].clone();
        assert_eq!((&counts["mostAtOnce"], &counts["refused"]), (&json!(1), &json!(0)), "{counts}");
        // And the new ones are those that are kept.
        tracked.get("tracker/projects").await.is(200);
        assert_eq!(refreshes(&tracked).await, 1);
        tracked.site.must_be_sound().await;
    }

    async fn tokens_are_refreshed_before_they_expire(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        tracked.site.account("", json!({"accessSeconds": 30})).await;
        tracked.connect().await;
        tracked.site.account("", json!({"accessSeconds": 3600})).await;
        tracked.get("tracker/projects").await.is(200);
        assert_eq!(refreshes(&tracked).await, 1, "half a minute is too short");
        tracked.get("tracker/projects").await.is(200);
        assert_eq!(refreshes(&tracked).await, 1);
    }

    async fn what_the_tracker_ended_needs_to_be_connected_again(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        let mut socket = Socket::open(&tracked.ada.client).await;
        socket.subscribe(&format!("project:{}", tracked.project)).await;
        tracked.site.account("/expire", json!({})).await;
        tracked.site.account("/revoke", json!({})).await;
        tracked.get("tracker/projects").await.refused(409, "TrackerReauthRequired");
        let event = socket.next().await;
        assert_eq!((&event["event"], &event["data"]["status"]), (&json!("tracker.changed"), &json!("NEEDS_REAUTH")));
        assert!(event["data"]["lastError"].is_string(), "{event}");
        tracked.export(json!({})).await.refused(409, "TrackerReauthRequired");
        tracked.connect().await;
        let connection = tracked.connection().await;
        assert_eq!((&connection["status"], &connection["lastError"]), (&json!("ACTIVE"), &Value::Null));
        assert_eq!(tracked.exported(json!({})).await["created"], 2, "the destination was kept");
        // During an export too: what is left of it has failed, with the reason.
        tracked.site.account("/expire", json!({})).await;
        tracked.site.account("/revoke", json!({})).await;
        let failed = tracked.exported(json!({})).await;
        assert_eq!((&failed["status"], &failed["failed"]), (&json!("FAILED"), &json!(2)), "{failed}");
        assert!(failed["errorMessage"].as_str().unwrap().contains("does not accept"), "{failed}");
        tracked.site.must_be_sound().await;
    }

    /// Nobody calls the tracker in this story but the server by itself.
    async fn a_poll_that_is_refused_with_fresh_tokens_too_asks_for_another_connection(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        assert_eq!(tracked.exported(json!({})).await["created"], 2);
        let before = refreshes(&tracked).await;
        let body = json!({"code": 401, "message": "Unauthorized"});
        tracked.site.post("faults", json!({"operation": "search", "kind": "status", "status": 401, "body": body, "count": null})).await;
        let deadline = Instant::now() + Duration::from_secs(20);
        let connection = loop {
            let connection = tracked.connection().await;
            if connection["status"] != "ACTIVE" {
                break connection;
            }
            assert!(Instant::now() < deadline, "the poll goes on with tokens that are refused");
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        assert_eq!(connection["status"], "NEEDS_REAUTH");
        assert!(connection["lastError"].as_str().unwrap().contains("does not accept"), "{connection}");
        assert_eq!(refreshes(&tracked).await, before + 1, "once with other tokens, and no more");
    }

    async fn who_lost_a_race_takes_the_winners_tokens_and_wipes_nothing(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        // A refresh that is refused late, while somebody connects the project again.
        for late in [json!({"kind": "slow", "ms": 1500}), json!({"kind": "dropAfter"})] {
            tracked.connect().await;
            tracked.site.account("/expire", json!({})).await;
            tracked.site.account("/revoke", json!({})).await;
            fault(&tracked, late.clone()).await;
            let again = async {
                tokio::time::sleep(Duration::from_millis(300)).await;
                tracked.connect().await;
            };
            let (answer, ()) = join(tracked.get("tracker/projects"), again).await;
            assert!([200, 409, 502].contains(&answer.status), "{}", answer.text());
            assert_eq!(tracked.connection().await["status"], "ACTIVE", "{late}");
            tracked.get("tracker/projects").await.is(200);
        }
    }

    async fn a_process_that_holds_the_refresh_is_waited_for_and_one_that_died_is_not(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        tracked.connect().await;
        tracked.site.account("/expire", json!({})).await;
        world.server.hold_token_refresh(&tracked.project, Duration::from_secs(2)).await;
        let begun = Instant::now();
        tracked.get("tracker/projects").await.is(200);
        assert!(begun.elapsed() > Duration::from_millis(1500), "it was waited for");
        assert_eq!(refreshes(&tracked).await, 1);
    }

    async fn a_tracker_that_is_away_costs_no_connection(world: TrackerWorld) {
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        tracked.connect().await;
        tracked.site.account("/expire", json!({})).await;
        fault(&tracked, json!({"kind": "status", "status": 503, "body": {}})).await;
        let refused = tracked.get("tracker/projects").await.refused(502, "TrackerUnavailable");
        assert!(refused.header("retry-after").is_some());
        assert_eq!(tracked.connection().await["status"], "ACTIVE");
        // A wrong secret of this server is no fault of the connection either.
        let body = json!({"error": "access_denied", "error_description": "Unauthorized"});
        fault(&tracked, json!({"kind": "status", "status": 401, "body": body})).await;
        tracked.get("tracker/projects").await.refused(502, "TrackerUnavailable");
        assert_eq!(tracked.connection().await["status"], "ACTIVE");
        tracked.get("tracker/projects").await.is(200);
        // The rest of the service is unmoved.
        tracked.site.post("faults", json!({"operation": "*", "kind": "dropBefore", "count": 1})).await;
        tracked.get("tracker/projects").await.refused(502, "TrackerUnavailable");
        tracked.get("user-stories").await.is(200);
    }
}
