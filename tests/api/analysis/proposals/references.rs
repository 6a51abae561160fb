//! Tests that references between items that are proposed never dangle, in whichever order the items are accepted.

use std::collections::BTreeSet;

use colloquy::analysis::items::model::WorkflowStatus;
use serde_json::{Value, json};

use super::*;
use crate::support::World;

const STORY: &str = "As a clerk, I want to see the waiting list, so that I can fill free slots.";

/// A project in which a requirement and its story are proposed; returns the two proposals.
async fn story_and_requirement(world: &World) -> (Analysed, Value, Value) {
    let analysed = Analysed::new(world.server, &document(&[SEARCH])).await;
    analysed.approve(world.server, SEARCH).await;
    analysed.ada.read(&analysed.project, "story.md", document(&[STORY]).as_bytes()).await;
    analysed.run().await;
    let story = analysed.proposals("status=OPEN&kind=NEW&targetType=USER_STORY").await;
    assert_eq!(story.len(), 1, "{story:#?}");
    let requirement = analysed.open("NEW").await;
    assert_eq!(story[0]["after"]["requirementIds"], json!([requirement["after"]["id"]]));
    (analysed, story[0].clone(), requirement)
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
        assert_eq!((&told["requirementIds"], &told["version"]), (&json!([id]), &json!(1)));
        let events = world.server.events_of_request(answer.header("x-request-id").unwrap()).await;
        assert_eq!(events, ["item.changed", "item.changed"]);
    }

    async fn the_requirement_may_be_accepted_first(world: World) {
        let (analysed, story, requirement) = story_and_requirement(&world).await;
        analysed.decide(&requirement, "accept").await.is(200);
        let accepted = analysed.decide(&story, "accept").await.is(200);
        assert_eq!(accepted.data()["after"]["requirementIds"], json!([requirement["after"]["id"]]));
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

    async fn a_requirement_that_a_later_run_proposes_again_is_still_the_one_that_the_story_means(world: World) {
        let (analysed, story, requirement) = story_and_requirement(&world).await;
        analysed.decide(&story, "accept").await.is(200);
        analysed.run().await;
        let again = analysed.open("NEW").await;
        assert_ne!(again["id"], requirement["id"]);
        analysed.decide(&again, "accept").await.is(200);
        assert!(referred(&analysed).await.contains(requirement["after"]["id"].as_str().unwrap()));
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
