//! People, settings and profile in the console, by keyboard; the scene is in tests/fakes/scenes/people.mjs.

use serde_json::json;

use super::browser::{Browser, account};
use crate::support::World;
use crate::support::builders::fresh_email;

const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/samples/pictures/gray-alpha.png");

on_sqlite! {
    async fn a_newcomer_is_invited_and_all_that_can_be_set_is_set(world: World) {
        let Some(browser) = Browser::start() else { return };
        let ada = world.user().await;
        let grace = world.server.user_as(&fresh_email(), "Grace Hopper", "EN").await;
        let project = ada.project().await;
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": "Clinic portal"})).await.is(200);
        let mut newcomer = account(&grace);
        newcomer["fullName"] = json!("Grace Hopper");
        let scene = json!({
            "scene": "people", "page": world.nobody.base(), "outbox": world.server.data.join("outbox"),
            "account": account(&ada), "newcomer": newcomer, "projectId": project, "picture": PICTURE,
        });
        browser.plays(scene).await;
        // The scene has set a new password, which ends every other session.
        ada.client.get(format!("/api/projects/{project}")).await.refused(401, "Unauthorized");
    }
}
