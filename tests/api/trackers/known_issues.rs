//! Stories that have an issue: changed here, edited there, moved, deleted; and how far the work on them is.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Tracked, TrackerWorld, counts, item};

/// Waits until a story's issue is as wished.
async fn until_issue(tracked: &Tracked, index: usize, wished: impl Fn(&Value) -> bool) -> Value {
    let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
    loop {
        let issue = tracked.stories().await[index]["trackerIssue"].clone();
        if wished(&issue) {
            return issue;
        }
        assert!(tokio::time::Instant::now() < deadline, "still {issue}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

on_both! {
    async fn what_changed_here_is_updated_and_what_was_edited_there_is_not_overwritten(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 5).await;
        let stories = tracked.stories().await;
        tracked.exported(json!({})).await;
        let unchanged = tracked.exported(json!({})).await;
        assert_eq!(counts(&unchanged), json!({"created": 0, "updated": 0, "skipped": 5, "failed": 0}));
        assert_eq!(tracked.site.calls("editIssue").await, 0, "nothing was written");
        let issues = tracked.site.issues().await;
        let edit_there = async |index: usize, summary: &str| {
            let id = issues[index]["id"].as_str().unwrap();
            tracked.site.post(&format!("issues/{id}"), json!({"fields": {"summary": summary}})).await;
        };
        tracked.edit(&stories[0], "Changed here").await;
        edit_there(1, "Edited there").await;
        edit_there(2, "Edited there as well").await;
        tracked.edit(&stories[2], "And changed here").await;
        // Of what is no part of the story, nobody cares.
        let id = issues[3]["id"].as_str().unwrap();
        tracked.site.post(&format!("issues/{id}"), json!({"fields": {"labels": ["mine"]}})).await;
        let export = tracked.exported(json!({})).await;
        assert_eq!(counts(&export), json!({"created": 0, "updated": 1, "skipped": 3, "failed": 1}), "{export}");
        assert_eq!(
            (&item(&export, &stories[0])["status"], &item(&export, &stories[0])["version"]),
            (&json!("UPDATED"), &tracked.stories().await[0]["version"])
        );
        let noted = item(&export, &stories[1]);
        assert_eq!((&noted["status"], &noted["errorCode"]), (&json!("SKIPPED_UNCHANGED"), &json!("IssueEdited")));
        let kept = item(&export, &stories[2]);
        assert_eq!((&kept["status"], &kept["errorCode"]), (&json!("FAILED"), &json!("IssueEdited")));
        let summaries = async || -> Vec<String> {
            tracked.site.issues().await.iter().map(|issue| issue["fields"]["summary"].as_str().unwrap().to_owned()).collect()
        };
        let now = summaries().await;
        assert_eq!(now[..3], ["Changed here", "Edited there", "Edited there as well"]);
        let overwritten = tracked.exported(json!({"overwriteEdited": true})).await;
        assert_eq!(counts(&overwritten), json!({"created": 0, "updated": 2, "skipped": 3, "failed": 0}), "{overwritten}");
        let now = summaries().await;
        assert_eq!((now[1].as_str(), now[2].as_str()), (stories[1]["title"].as_str().unwrap(), "And changed here"));
        assert_eq!(tracked.exported(json!({})).await["skipped"], 5);
        tracked.site.must_be_sound().await;
    }

    async fn a_deleted_issue_is_reported_and_never_made_again_silently(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 3).await;
        let stories = tracked.stories().await;
        tracked.exported(json!({})).await;
        let issues = tracked.site.issues().await;
        let path = format!("sites/{}/issues/{}", tracked.site.id, issues[1]["id"].as_str().unwrap());
        world.jira.control(reqwest::Method::DELETE, &path, Value::Null).await;
        for unknown in ["leaveOut", "refuse"] {
            tracked.site.post("", json!({"unknownIds": unknown})).await;
            let export = tracked.exported(json!({})).await;
            assert_eq!(counts(&export), json!({"created": 0, "updated": 0, "skipped": 2, "failed": 1}), "{unknown}: {export}");
            assert_eq!(item(&export, &stories[1])["errorCode"], "IssueMissing");
            assert_eq!(tracked.site.issues().await.len(), 2);
        }
        let anew = tracked.exported(json!({"recreateMissing": true})).await;
        assert_eq!(counts(&anew), json!({"created": 1, "updated": 0, "skipped": 2, "failed": 0}), "{anew}");
        assert_eq!(tracked.site.issues().await.len(), 3);
        let key = tracked.stories().await[1]["trackerIssue"]["key"].clone();
        assert_eq!(key, item(&anew, &stories[1])["issueKey"]);
        tracked.site.must_be_sound().await;
    }

    async fn a_moved_issue_stays_the_storys_under_its_new_key(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        let stories = tracked.stories().await;
        tracked.exported(json!({})).await;
        tracked.site.post("projects", json!({"id": "10009", "key": "MV", "name": "Moved"})).await;
        let id = tracked.site.issues().await[0]["id"].as_str().unwrap().to_owned();
        tracked.site.post(&format!("issues/{id}/move"), json!({"project": "MV"})).await;
        tracked.edit(&stories[0], "A later title").await;
        let export = tracked.exported(json!({})).await;
        assert_eq!(counts(&export), json!({"created": 0, "updated": 1, "skipped": 1, "failed": 0}), "{export}");
        let moved = item(&export, &stories[0]);
        assert_eq!((&moved["errorCode"], moved["issueKey"].as_str().unwrap().starts_with("MV-")), (&json!("IssueMoved"), true), "{moved}");
        assert_eq!(tracked.stories().await[0]["trackerIssue"]["key"], moved["issueKey"]);
        let issues = tracked.site.issues().await;
        assert_eq!(issues.len(), 2);
        let now = issues.iter().find(|issue| issue["id"] == id.as_str()).unwrap();
        assert_eq!(now["fields"]["summary"], "A later title");
        tracked.site.must_be_sound().await;
    }

    async fn how_far_the_work_is_comes_back(world: TrackerWorld) {
        let tracked = Tracked::with_stories(world.server, world.jira.site(json!({})).await, 2).await;
        tracked.exported(json!({})).await;
        let id = tracked.site.issues().await[0]["id"].as_str().unwrap().to_owned();
        assert_eq!(tracked.stories().await[0]["trackerIssue"]["state"], "OPEN");
        for (status, state) in [("indeterminate", "IN_PROGRESS"), ("done", "DONE"), ("new", "OPEN")] {
            tracked.site.post(&format!("issues/{id}/status"), json!({"status": status})).await;
            until_issue(&tracked, 0, |issue| issue["state"] == state).await;
        }
        assert_eq!(tracked.stories().await[1]["trackerIssue"]["state"], "OPEN");
        let version = tracked.stories().await[0]["version"].clone();
        let path = format!("sites/{}/issues/{id}", tracked.site.id);
        world.jira.control(reqwest::Method::DELETE, &path, Value::Null).await;
        until_issue(&tracked, 0, |issue| issue["state"].is_null()).await;
        assert_eq!(tracked.stories().await[0]["version"], version, "nobody edited the story");
        tracked.site.must_be_sound().await;
    }
}
