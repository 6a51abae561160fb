//! Two people who approve and edit one story at the same moment.

use serde_json::{Value, json};

use super::{Reviewed, named};
use crate::support::client::Request;
use crate::support::{Role, User, World};

const ROUNDS: usize = 40;

/// A story, somebody who approves it, and somebody who edits it, each over connections of their own.
struct Race {
    reviewed: Reviewed,
    story: Value,
    ben: User,
}

impl Race {
    async fn new(world: &World) -> Self {
        let reviewed = Reviewed::new(world.server).await;
        let (story, _) = reviewed.story().await;
        let mut ben = world.member(&reviewed.project, Role::Analyst).await;
        ben.client = ben.client.apart();
        Self { reviewed, story, ben }
    }

    /// The story, to be reviewed.
    async fn started(&self) -> Value {
        let now = self.reviewed.now(&self.story).await;
        if now["workflowStatus"] == "NEEDS_REVIEW" {
            return now;
        }
        self.reviewed.judge(&now, json!({"workflowStatus": "NEEDS_REVIEW"})).await.is(200).data().clone()
    }

    /// The approval and the edit. Which one is sent first alternates with the rounds.
    async fn run(
        &self,
        round: usize,
        on: impl Fn(Request) -> Request,
    ) -> (crate::support::Answer, crate::support::Answer) {
        let approval = on(self.reviewed.judging(&self.story, json!({"workflowStatus": "APPROVED"})));
        let edit = self.ben.client.patch(self.reviewed.path(&self.story)).json(json!({"title": title(round)}));
        let (approval, edit) = (async { approval.await }, async { on(edit).await });
        if round.is_multiple_of(2) {
            tokio::join!(approval, edit)
        } else {
            let (edit, approval) = tokio::join!(edit, approval);
            (approval, edit)
        }
    }

    /// What the trail says of the last events: who did what, from and to which state.
    async fn told(&self, count: usize) -> Vec<Value> {
        let mut trail = self.reviewed.trail("").await;
        let names = ["action", "fromStatus", "toStatus", "fromVersion", "toVersion"];
        let told = |event: &Value| {
            let mut told = named(event, &names);
            told["by"] = event["actor"]["id"].clone();
            told
        };
        trail.split_off(trail.len() - count).iter().map(told).collect()
    }

    fn approved(&self, version: i64) -> Value {
        json!({
            "action": "APPROVE", "fromStatus": "NEEDS_REVIEW", "toStatus": "APPROVED", "fromVersion": version,
            "toVersion": version + 1, "by": self.reviewed.ada.id,
        })
    }

    fn edited(&self, from: &str, version: i64) -> Value {
        json!({
            "action": "EDIT", "fromStatus": from, "toStatus": "NEEDS_REVIEW", "fromVersion": version,
            "toVersion": version + 1, "by": self.ben.id,
        })
    }

    async fn must_be_whole(&self, events: usize) {
        let verification = self.reviewed.verification().await;
        assert_eq!((&verification["valid"], &verification["count"]), (&json!(true), &json!(events)));
    }
}

fn title(round: usize) -> String {
    format!("Title of round {round}")
}

fn version(item: &Value) -> i64 {
    item["version"].as_i64().unwrap()
}

on_both! {
    async fn of_an_approval_and_an_edit_of_the_same_version_one_wins_and_the_other_changes_nothing(world: World) {
        let race = Race::new(&world).await;
        let mut wins = [0, 0];
        for round in 0..ROUNDS {
            let before = race.started().await;
            let (seen, events) = (version(&before), race.reviewed.trail("").await.len());
            let (approval, edit) = race.run(round, |request| request.if_match(seen)).await;
            let now = race.reviewed.now(&race.story).await;
            let told = race.told(1).await;
            match (approval.status, edit.status) {
                (200, 412) => {
                    edit.refused(412, "PreconditionFailed");
                    assert_eq!((approval.data(), &now["title"]), (&now, &before["title"]));
                    assert_eq!((&now["workflowStatus"], told), (&json!("APPROVED"), vec![race.approved(seen)]));
                    wins[0] += 1;
                }
                (412, 200) => {
                    approval.refused(412, "PreconditionFailed");
                    assert_eq!((edit.data(), &now["title"]), (&now, &json!(title(round))));
                    let edited = vec![race.edited("NEEDS_REVIEW", seen)];
                    assert_eq!((&now["workflowStatus"], told), (&json!("NEEDS_REVIEW"), edited));
                    wins[1] += 1;
                }
                other => panic!("round {round}: {other:?}"),
            }
            assert_eq!(version(&now), seen + 1);
            race.must_be_whole(events + 1).await;
        }
        println!("of {ROUNDS} rounds the approval won {}, the edit {}", wins[0], wins[1]);
    }

    async fn an_approval_and_an_edit_of_no_version_both_count_one_after_the_other(world: World) {
        let race = Race::new(&world).await;
        let mut first = [0, 0];
        for round in 0..ROUNDS {
            let before = race.started().await;
            let (seen, events) = (version(&before), race.reviewed.trail("").await.len());
            let (approval, edit) = race.run(round, |request| request).await;
            let (approval, edit) = (approval.is(200).data().clone(), edit.is(200).data().clone());
            let now = race.reviewed.now(&race.story).await;
            let told = race.told(2).await;
            if version(&approval) < version(&edit) {
                // The edit is to be reviewed, though it came after the approval.
                assert_eq!((version(&approval), &approval["title"]), (seen + 1, &before["title"]));
                assert_eq!((&now, &now["workflowStatus"]), (&edit, &json!("NEEDS_REVIEW")));
                assert_eq!(told, [race.approved(seen), race.edited("APPROVED", seen + 1)]);
                first[0] += 1;
            } else {
                // Who approves whatever there is approves the edit.
                assert_eq!((version(&edit), &edit["workflowStatus"]), (seen + 1, &json!("NEEDS_REVIEW")));
                assert_eq!((&now, &now["workflowStatus"]), (&approval, &json!("APPROVED")));
                assert_eq!(told, [race.edited("NEEDS_REVIEW", seen), race.approved(seen + 1)]);
                first[1] += 1;
            }
            assert_eq!((version(&now), &now["title"]), (seen + 2, &json!(title(round))));
            race.must_be_whole(events + 2).await;
        }
        println!("of {ROUNDS} rounds the approval was first in {}, the edit in {}", first[0], first[1]);
    }
}
