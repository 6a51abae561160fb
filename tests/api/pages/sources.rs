//! Documents and analyses in the console, while connections break; and how much the first view loads. The scenes are in
//! tests/fakes/scenes/sources.mjs.

use serde_json::json;

use super::browser::{Browser, account};
use crate::support::World;

on_sqlite! {
    async fn an_analysis_is_followed_to_its_end_while_no_socket_can_be_opened(world: World) {
        let Some(browser) = Browser::start() else { return };
        let user = world.user().await;
        let scene = json!({"scene": "brokenConnection", "page": world.nobody.base(), "account": account(&user)});
        let found = browser.plays(scene).await;
        println!("values of progress that were shown: {}", found["progress"]);
    }

    async fn the_sign_in_and_the_list_of_projects_load_at_most_200_kib(world: World) {
        let Some(browser) = Browser::start() else { return };
        let user = world.user().await;
        let scene = json!({"scene": "firstView", "page": world.nobody.base(), "account": account(&user)});
        let found = browser.plays(scene).await;
        println!(
            "the first view: {} bytes compressed in {} files; usable after {} ms, and {} ms after the sign-in",
            found["bytes"], found["files"], found["signInMs"], found["projectsMs"],
        );
    }
}
