//! What is decided about a project's items, and what stakeholders say of them, by keyboard alone; the scenes are in
//! tests/fakes/scenes/decisions.mjs and feedback.mjs.

use serde_json::json;

use super::browser::{Browser, account};
use crate::support::World;
use crate::support::builders::fresh_email;

on_sqlite! {
    async fn proposals_and_pairs_are_decided_and_baselines_and_the_history_show_it(world: World) {
        let Some(browser) = Browser::start() else { return };
        let user = world.user().await;
        browser.plays(json!({"scene": "decisions", "page": world.nobody.base(), "account": account(&user)})).await;
    }

    async fn reviewers_are_invited_and_what_they_say_arrives_and_is_answered(world: World) {
        let Some(browser) = Browser::start() else { return };
        let user = world.user().await;
        let scene = json!({
            "scene": "feedbackInbox", "page": world.nobody.base(), "outbox": world.server.data.join("outbox"),
            "account": account(&user), "reviewer": fresh_email(),
        });
        browser.plays(scene).await;
    }
}
