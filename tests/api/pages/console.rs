//! The console and the review page, by keyboard alone; the scenes are in tests/fakes/scenes/console.mjs.

use serde_json::json;

use super::browser::{Browser, account};
use crate::support::World;
use crate::support::builders::{PASSWORD, fresh_email};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/call-for-tenders.pdf");

on_sqlite! {
    async fn a_document_becomes_requirements_whose_quotes_are_lit_in_it(world: World) {
        let Some(browser) = Browser::start() else { return };
        let user = world.user().await;
        let scene =
            json!({"scene": "requirements", "page": world.nobody.base(), "account": account(&user), "file": DOCUMENT});
        browser.plays(scene).await;
    }

    async fn an_account_is_created_and_a_forgotten_password_is_replaced(world: World) {
        let Some(browser) = Browser::start() else { return };
        let user = world.user().await;
        let newcomer = json!({"email": fresh_email(), "password": PASSWORD, "fullName": "Grace Hopper"});
        let scene = json!({
            "scene": "account", "page": world.nobody.base(), "outbox": world.server.data.join("outbox"),
            "account": account(&user), "newcomer": newcomer,
        });
        browser.plays(scene).await;
    }
}
