//! Random sequences of decisions by several people, held against a model of the rules; the trail is verified after each step.

use actors::time::{Clock, SystemClock};
use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Reviewed;
use crate::support::chance::Chance;
use crate::support::{Role, User, World};

const STEPS: usize = 60;

/// What the rules say of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Expected {
    status: &'static str,
    version: i64,
    suspect: bool,
    is_deferred: bool,
    is_edited: bool,
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Approve,
    Reject,
    Reopen,
    Defer,
    EditTitle,
    /// Of a requirement its statement, of a story its goal.
    EditDemand,
    EditAndApprove,
}

const STEPS_OF: [Step; 7] =
    [Step::Approve, Step::Reject, Step::Reopen, Step::Defer, Step::EditTitle, Step::EditDemand, Step::EditAndApprove];

impl Expected {
    /// The state after a step; `None` if it is refused.
    fn after(&self, step: Step) -> Option<Self> {
        let to = |status: &'static str| {
            Some(Self { status, version: self.version + 1, suspect: false, is_deferred: false, ..self.clone() })
        };
        match (self.status, step) {
            ("NEEDS_REVIEW", Step::Approve) => to("APPROVED"),
            ("APPROVED", Step::Approve) if self.suspect => to("APPROVED"),
            ("NEEDS_REVIEW", Step::Reject) => to("REJECTED"),
            ("APPROVED" | "REJECTED", Step::Reopen) => to("NEEDS_REVIEW"),
            (_, Step::Defer) => to("NEEDS_REVIEW").map(|after| Self { is_deferred: true, ..after }),
            (_, Step::EditTitle | Step::EditDemand) => {
                to("NEEDS_REVIEW").map(|after| Self { is_edited: true, ..after })
            }
            (_, Step::EditAndApprove) => to("APPROVED").map(|after| Self { is_edited: true, ..after }),
            _ => None,
        }
    }

    fn of(item: &Value) -> Self {
        let status =
            ["NEEDS_REVIEW", "APPROVED", "REJECTED"].into_iter().find(|status| item["workflowStatus"] == *status);
        Self {
            status: status.unwrap(),
            version: item["version"].as_i64().unwrap(),
            suspect: item["suspect"].as_bool().unwrap(),
            is_deferred: !item["deferredUntil"].is_null(),
            is_edited: item["revisionSource"] == "HUMAN_EDITED",
        }
    }
}

fn body(step: Step, is_story: bool, number: usize) -> (bool, Value) {
    let tomorrow = SystemClock.now().utc().date_naive() + chrono::Duration::days(20);
    match step {
        Step::Approve => (true, json!({"workflowStatus": "APPROVED"})),
        Step::Reject => (true, json!({"workflowStatus": "REJECTED", "comment": "No."})),
        Step::Reopen => (true, json!({"workflowStatus": "NEEDS_REVIEW"})),
        Step::Defer => (true, json!({"workflowStatus": "NEEDS_REVIEW", "deferredUntil": tomorrow.to_string()})),
        Step::EditTitle => (false, json!({"title": format!("Title {number}")})),
        Step::EditDemand if is_story => (false, json!({"goal": format!("see list {number}")})),
        Step::EditDemand => (false, json!({"statement": format!("The system must show list {number}.")})),
        Step::EditAndApprove => (false, json!({"title": format!("Approved {number}"), "workflowStatus": "APPROVED"})),
    }
}

on_both! {
    async fn whatever_people_do_the_rules_hold_and_the_trail_has_all_of_it(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let people: Vec<User> = vec![
            reviewed.ada.clone(),
            world.member(&reviewed.project, Role::Analyst).await,
            world.member(&reviewed.project, Role::Manager).await,
        ];
        let mut items = reviewed.items("requirements").await;
        items.extend(reviewed.items("user-stories").await);
        let mut expected: BTreeMap<String, Expected> = items.iter().map(|item| (id(item), Expected::of(item))).collect();
        let (mut chance, mut events) = (Chance::new(), 0);
        let mut below = |bound: usize| usize::try_from(chance.below(u64::try_from(bound).unwrap())).unwrap();
        for number in 0..STEPS {
            let item = &items[below(items.len())];
            let step = STEPS_OF[below(STEPS_OF.len())];
            let person = &people[below(people.len())];
            let is_story = item["statement"].is_null();
            let (is_status, body) = body(step, is_story, number);
            let path = reviewed.path(item);
            let path = if is_status { format!("{path}/status") } else { path };
            let before = expected[&id(item)].clone();
            let answer = person.client.patch(path).if_match(before.version).json(body.clone()).await;
            match before.after(step) {
                None => {
                    answer.refused(409, "InvalidState");
                }
                Some(after) => {
                    let answer = answer.is(200);
                    assert_eq!(Expected::of(answer.data()), after, "{step:?} after {before:?}");
                    events += 1;
                    let unsettles = !is_story
                        && (matches!(step, Step::EditDemand) || (after.status == "REJECTED" && before.status != "REJECTED"));
                    expected.insert(id(item), after);
                    if unsettles {
                        events += unsettle(&items, &mut expected, item);
                    }
                }
            }
            let verification = person.client.get(reviewed.at("approval-events/verification")).await.is(200).data().clone();
            assert_eq!((&verification["valid"], &verification["count"]), (&json!(true), &json!(events)), "after {number} steps");
        }
        let mut now = reviewed.items("requirements").await;
        now.extend(reviewed.items("user-stories").await);
        let now: BTreeMap<String, Expected> = now.iter().map(|item| (id(item), Expected::of(item))).collect();
        assert_eq!(now, expected);
        replayed(&reviewed, &items, &now).await;
    }
}

fn id(item: &Value) -> String {
    item["id"].as_str().unwrap().to_owned()
}

/// Makes the approved stories of a requirement suspect; returns how many became so.
fn unsettle(items: &[Value], expected: &mut BTreeMap<String, Expected>, requirement: &Value) -> usize {
    let covers = |item: &&Value| item["requirementIds"].as_array().is_some_and(|ids| ids.contains(&requirement["id"]));
    let mut became = 0;
    for story in items.iter().filter(covers) {
        let state = expected.get_mut(&id(story)).unwrap();
        if state.status == "APPROVED" && !state.suspect {
            state.suspect = true;
            became += 1;
        }
    }
    became
}

/// The events of the trail, one after the other, lead from what the analysis wrote to what there is now.
async fn replayed(reviewed: &Reviewed, first: &[Value], now: &BTreeMap<String, Expected>) {
    let mut states: BTreeMap<String, (String, i64)> =
        first.iter().map(|item| (id(item), ("NEEDS_REVIEW".to_owned(), 1))).collect();
    for event in reviewed.trail("").await {
        let state = states.get_mut(event["targetId"].as_str().unwrap()).unwrap();
        assert_eq!(
            (event["fromStatus"].as_str().unwrap(), event["fromVersion"].as_i64().unwrap()),
            (state.0.as_str(), state.1)
        );
        *state = (event["toStatus"].as_str().unwrap().to_owned(), event["toVersion"].as_i64().unwrap());
    }
    for (id, (status, version)) in states {
        assert_eq!((status.as_str(), version), (now[&id].status, now[&id].version));
    }
}
