//! The page of stakeholders who come by a mailed link, by keyboard alone; the scenes are in tests/fakes/scenes/review.mjs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::browser::Browser;
use crate::reviews::stakeholders::{DAY, age, feedback_of, invitations, invite};
use crate::support::{User, World};

/// A project whose results have so many requirements, and what the scenes know of it.
struct Reviewable {
    ada: User,
    project: String,
}

impl Reviewable {
    async fn of(world: &World, requirements: usize) -> Self {
        let mut note = String::from("# Reports\n\n");
        for number in 1..=requirements {
            // Writing to a string does not fail.
            let _ = writeln!(
                note,
                "The system must print report {number} for ward {} within {} seconds.\n",
                number * 7 % 613,
                number % 50 + 1
            );
        }
        let ada = world.user().await;
        let project = ada.project().await;
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": "Clinic portal"})).await.is(200);
        ada.read(&project, "reports.md", note.as_bytes()).await;
        let (run, _) = ada.run(&project).await;
        assert_eq!(ada.over(&run).await["status"], "COMPLETED");
        Self { ada, project }
    }

    /// Invites somebody; returns the invitation's id and the mailed link.
    async fn link(&self, world: &World, permission: &str) -> (String, String) {
        let (invitation, _, token) = invite(world.server, &self.ada, &self.project, permission).await;
        (invitation["id"].as_str().unwrap().to_owned(), format!("{}/review#token={token}", world.nobody.base()))
    }

    fn authorization(&self) -> String {
        format!("Bearer {}", self.ada.client.token())
    }

    fn url(&self, world: &World, path: &str) -> String {
        format!("{}{path}", world.nobody.base())
    }
}

on_sqlite! {
    async fn an_approver_works_through_two_hundred_items_by_keyboard_and_reads_the_answers(world: World) {
        let Some(browser) = Browser::start() else { return };
        let review = Reviewable::of(&world, 199).await;
        let (_, link) = review.link(&world, "APPROVER").await;
        let team = json!({
            "feedback": review.url(&world, &feedback_of(&review.project)), "authorization": review.authorization(),
        });
        let found = browser.plays(json!({"scene": "approver", "link": link, "team": team})).await;
        println!("{} items in {} s", found["count"], found["seconds"]);
        assert!(found["count"].as_u64().unwrap() >= 190, "{found}");
        let all = review.ada.client.get(format!("{}?limit=1", feedback_of(&review.project))).await.is(200);
        assert_eq!(all.data()["totalCount"], found["count"], "every answer is kept");
    }

    async fn what_a_commenter_writes_without_a_network_or_an_access_is_not_lost(world: World) {
        let Some(browser) = Browser::start() else { return };
        let review = Reviewable::of(&world, 12).await;
        let (id, link) = review.link(&world, "COMMENTER").await;
        let revoke = review.url(&world, &format!("{}/{id}", invitations(&review.project)));
        let scene = json!({"scene": "commenter", "link": link, "revoke": revoke, "authorization": review.authorization()});
        browser.plays(scene).await;
    }

    async fn a_viewer_reads_and_links_that_ended_lead_nowhere(world: World) {
        let Some(browser) = Browser::start() else { return };
        let review = Reviewable::of(&world, 12).await;
        let (_, link) = review.link(&world, "VIEWER").await;
        let (expired, expired_link) = review.link(&world, "VIEWER").await;
        age(world.server, &expired, 100 * DAY).await;
        let (revoked, revoked_link) = review.link(&world, "VIEWER").await;
        let path = format!("{}/{revoked}", invitations(&review.project));
        let gone: Value = review.ada.client.delete(path).await.is(200).data().clone();
        assert!(gone.is_object());
        browser.plays(json!({"scene": "viewer", "link": link, "ended": [expired_link, revoked_link]})).await;
    }
}
