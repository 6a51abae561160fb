//! Tests that references between items that are proposed never dangle, in whichever order the items are accepted.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use colloquy::analysis::items::model::WorkflowStatus;
use serde_json::{Value, json};

use super::*;
use crate::support::World;

/// A sentence of which a requirement and a story are made.
const STORY: &str = "As a clerk, I want to see the waiting list, so that I can fill free slots.";

/// ReqIF of another program, with two requirements and a story.
const FOREIGN: &[u8] = include_bytes!("../../../../crates/exports/file_tests/foreign.reqif");

/// A project in which an import proposes a requirement and its story; returns the two proposals.
async fn story_and_requirement(world: &World) -> (Analysed, Value, Value) {
    let analysed = Analysed::new(world.server, &document(&[SEARCH])).await;
    let imports = format!("/api/projects/{}/imports", analysed.project);
    // What contradicts a requirement there realises it here.
    let file = String::from_utf8(FOREIGN.to_vec()).unwrap().replace("contradicts", "realizes");
    analysed.ada.client.post_form(&imports, &[("file", Some("foreign.reqif"), file.as_bytes())]).await.is(201);
    let deadline = Instant::now() + Duration::from_secs(60);
    let story = loop {
        let proposed = analysed.proposals("status=OPEN&kind=NEW&targetType=USER_STORY").await;
        if let [story, ..] = proposed.as_slice() {
            break story.clone();
        }
        assert!(Instant::now() < deadline, "nothing is proposed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let covered = story["after"]["requirementIds"][0].clone();
    let proposed = analysed.proposals("status=OPEN&kind=NEW&targetType=REQUIREMENT").await;
    let requirement = proposed.iter().find(|one| one["after"]["id"] == covered).unwrap_or_else(|| panic!("{story:#}"));
    (analysed, story, requirement.clone())
}

/// Returns the requirements that stories refer to. Panics if one does not exist.
async fn referred(analysed: &Analysed) -> BTreeSet<String> {
    let requirements = analysed.items("requirements").await;
    let existing: BTreeSet<&str> = requirements.iter().map(|item| item["id"].as_str().unwrap()).collect();
    let stories = analysed.items("user-stories").await;
    let ids = stories.iter().flat_map(|story| story["requirementIds"].as_array().unwrap().clone());
    let ids: BTreeSet<String> = ids.map(|id| id.as_str().unwrap().to_owned()).collect();
    assert!(ids.iter().all(|id| existing.contains(id.as_str())), "{ids:?} in {existing:?}");
    ids
}

on_both! {
    async fn the_story_may_be_accepted_first(world: World) {
        let (analysed, story, requirement) = story_and_requirement(&world).await;
        let before = referred(&analysed).await;
        let accepted = analysed.decide(&story, "accept").await.is(200);
        assert_eq!(accepted.data()["after"]["requirementIds"], json!([]), "it is not there yet");
        assert_eq!(referred(&analysed).await, before);
        let answer = analysed.decide(&requirement, "accept").await.is(200);
        let id = requirement["after"]["id"].as_str().unwrap().to_owned();
        assert!(referred(&analysed).await.contains(&id));
        let stories = analysed.items("user-stories").await;
        let told = stories.iter().find(|one| one["id"] == story["after"]["id"]).unwrap();
        assert!(told["requirementIds"].as_array().unwrap().contains(&json!(id)) && told["version"] == 1, "{told}");
        let events = world.server.events_of_request(answer.header("x-request-id").unwrap()).await;
        assert_eq!(events, ["item.changed", "item.changed"]);
    }

    async fn the_requirement_may_be_accepted_first(world: World) {
        let (analysed, story, requirement) = story_and_requirement(&world).await;
        analysed.decide(&requirement, "accept").await.is(200);
        let accepted = analysed.decide(&story, "accept").await.is(200);
        assert!(accepted.data()["after"]["requirementIds"].as_array().unwrap().contains(&requirement["after"]["id"]));
        assert!(referred(&analysed).await.contains(requirement["after"]["id"].as_str().unwrap()));
    }

    async fn both_may_be_accepted_at_once(world: World) {
        let (analysed, story, requirement) = story_and_requirement(&world).await;
        let (one, other) = tokio::join!(analysed.decide(&story, "accept"), analysed.decide(&requirement, "accept"));
        one.is(200);
        other.is(200);
        assert!(referred(&analysed).await.contains(requirement["after"]["id"].as_str().unwrap()));
    }

    async fn a_story_refers_to_no_requirement_that_was_dismissed(world: World) {
        let (analysed, story, requirement) = story_and_requirement(&world).await;
        analysed.decide(&requirement, "dismiss").await.is(200);
        analysed.decide(&story, "accept").await.is(200);
        assert!(!referred(&analysed).await.contains(requirement["after"]["id"].as_str().unwrap()));
        analysed.run().await;
        assert!(!referred(&analysed).await.contains(requirement["after"]["id"].as_str().unwrap()));
    }

    async fn a_story_that_a_run_adds_covers_the_requirement_that_it_adds(world: World) {
        let analysed = Analysed::reviewed(world.server).await;
        analysed.ada.read(&analysed.project, "story.md", document(&[STORY]).as_bytes()).await;
        analysed.run().await;
        let requirements = analysed.items("requirements").await;
        let stories = analysed.items("user-stories").await;
        let told = stories.iter().find(|one| one["sources"][0]["quote"] == STORY).unwrap_or_else(|| panic!("{stories:#?}"));
        let covered = requirements.iter().find(|one| told["requirementIds"][0] == one["id"]).unwrap();
        assert_eq!((&covered["sources"], &told["workflowStatus"]), (&told["sources"], &json!("NEEDS_REVIEW")));
        referred(&analysed).await;
    }

    async fn an_approved_story_is_suspect_once_its_requirement_is_changed_or_rejected(world: World) {
        let analysed = Analysed::new(world.server, &document(&[STORY, SEARCH])).await;
        let story = analysed.items("user-stories").await[0].clone();
        let requirement = story["requirementIds"][0].as_str().unwrap().to_owned();
        let approved = |item: ProjectItem| item.judged(WorkflowStatus::Approved, SystemClock.now());
        analysed.review(world.server, story["id"].as_str().unwrap(), approved).await;
        analysed.review(world.server, &requirement, approved).await;
        analysed.reread(world.server, &document(&[SEARCH])).await;
        analysed.run().await;
        let gone = analysed.open("GONE").await;
        assert_eq!(gone["targetId"], json!(requirement));
        analysed.decide(&gone, "accept").await.is(200);
        let story = analysed.items("user-stories").await[0].clone();
        let of_story = named(&story, &["suspect", "workflowStatus", "version"]);
        assert_eq!(of_story, json!({"suspect": true, "workflowStatus": "APPROVED", "version": 2}));
    }
}
