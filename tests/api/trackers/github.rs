//! The second tracker, behind the same operations: GitHub Issues, by OAuth or a token.

use reqwest::Method;
use serde_json::{Value, json};

use super::{Tracked, TrackerWorld, counts, item};
use crate::support::github::{FakeGitHub, GitHubWorld};

/// A project with approved stories, connected to a repository of a world with a token.
async fn connected(world: &TrackerWorld, github: &GitHubWorld, stories: usize) -> Tracked {
    let tracked = Tracked::with_approved(world.server, world.jira.site(json!({})).await, stories).await;
    let body = json!({"provider": "GITHUB", "baseUrl": github.address(), "apiToken": github.token()});
    tracked.ada.client.post(tracked.at("tracker/connection")).json(body).await.is(201);
    let types = tracked.get(&format!("tracker/projects/{}/issue-types", github.repository())).await.is(200);
    let issue_type = types.data()["items"][0].clone();
    assert_eq!(issue_type["compatible"], true, "{issue_type}");
    tracked.choose(&github.repository(), issue_type["id"].as_str().unwrap(), json!({})).await.is(200);
    tracked
}

async fn a_world() -> Option<GitHubWorld> {
    let fake = FakeGitHub::shared()?;
    Some(
        fake.world(json!({"repositories": [{"full_name": format!("ada/shop-{}", uuid::Uuid::now_v7().simple())}]}))
            .await,
    )
}

on_both! {
    async fn approved_stories_become_issues_at_github_as_well(world: TrackerWorld) {
        let Some(github) = a_world().await else { return };
        let tracked = connected(&world, &github, 4).await;
        let stories = tracked.stories().await;
        let export = tracked.exported(json!({})).await;
        assert_eq!(counts(&export), json!({"created": 4, "updated": 0, "skipped": 0, "failed": 0}), "{export}");
        let issues = github.issues().await;
        assert_eq!(issues.len(), 4);
        assert_eq!(issues[0]["title"], stories[0]["title"]);
        let body = issues[0]["body"].as_str().unwrap();
        assert!(body.contains(&format!("<!-- colloquy:{} -->", stories[0]["id"].as_str().unwrap())), "{body}");
        assert_eq!(tracked.exported(json!({})).await["skipped"], 4);
        // Changed here, edited there, deleted there.
        tracked.edit(&stories[0], "Changed here").await;
        let number = |index: usize| issues[index]["number"].to_string();
        let edited = json!({"title": "Edited there"});
        github.control(Method::PATCH, &format!("issues/{}/{}", github.repository(), number(1)), edited).await;
        github.control(Method::DELETE, &format!("issues/{}/{}", github.repository(), number(2)), Value::Null).await;
        let later = tracked.exported(json!({})).await;
        assert_eq!(counts(&later), json!({"created": 0, "updated": 1, "skipped": 2, "failed": 1}), "{later}");
        assert_eq!(item(&later, &stories[1])["errorCode"], "IssueEdited");
        assert_eq!(item(&later, &stories[2])["errorCode"], "IssueMissing");
        // A closed issue is done.
        let closed = json!({"state": "closed"});
        github.control(Method::PATCH, &format!("issues/{}/{}", github.repository(), number(3)), closed).await;
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
        while tracked.stories().await[3]["trackerIssue"]["state"] != "DONE" {
            assert!(tokio::time::Instant::now() < deadline);
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
    }

    async fn a_lost_answer_of_github_makes_no_second_issue(world: TrackerWorld) {
        let Some(github) = a_world().await else { return };
        let tracked = connected(&world, &github, 4).await;
        for (skip, kind) in [(0, "dropAfter"), (2, "truncate"), (3, "dropBefore")] {
            github.control(Method::POST, "faults", json!({"on": "createIssue", "kind": kind, "skip": skip})).await;
        }
        let export = tracked.exported(json!({})).await;
        assert_eq!(counts(&export), json!({"created": 4, "updated": 0, "skipped": 0, "failed": 0}), "{export}");
        assert_eq!(github.issues().await.len(), 4);
    }

    async fn github_is_connected_by_oauth_and_its_tokens_are_revoked(world: TrackerWorld) {
        let Some(github) = a_world().await else { return };
        let tracked = Tracked::empty(world.server, world.jira.site(json!({})).await).await;
        let start = tracked.ada.client.post(tracked.at("tracker/connection")).json(json!({"provider": "GITHUB"})).await.is(201);
        let cookie = start.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
        let callback = github.permit(start.data()["authorizeUrl"].as_str().unwrap()).await;
        let location = tracked.come_back(&callback, &cookie).await;
        assert!(location.starts_with("http://app.colloquy.test/#trackerConnection=ACTIVE"), "{location}");
        let connection = tracked.connection().await;
        assert_eq!((&connection["provider"], &connection["site"]["name"]), (&json!("GITHUB"), &json!("GitHub")));
        assert_eq!(tracked.get("tracker/projects").await.is(200).data()["items"][0]["id"], github.repository().as_str());
        tracked.ada.client.delete(tracked.at("tracker/connection")).await.is(200);
        assert_eq!(github.count("revoke").await, 1);
        // A token that its owner has revoked.
        let body = json!({"provider": "GITHUB", "baseUrl": github.address(), "apiToken": github.token()});
        tracked.ada.client.post(tracked.at("tracker/connection")).json(body).await.is(201);
        github.control(Method::DELETE, "tokens/all", Value::Null).await;
        tracked.get("tracker/projects").await.refused(409, "TrackerReauthRequired");
        assert_eq!(tracked.connection().await["status"], "NEEDS_REAUTH");
    }
}
