//! The console and the review page, by keyboard alone; the scenes are in tests/parts/scenes/console.mjs.

use std::fs;
use std::path::Path;

use serde_json::json;

use super::browser::{Browser, account};
use crate::support::World;
use crate::support::documents::INTERVIEW;

on_sqlite! {
    async fn a_document_becomes_requirements_whose_quotes_are_lit_in_it(world: World) {
        let Some(browser) = Browser::start() else { return };
        let user = world.user().await;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("interview.md");
        fs::write(&file, INTERVIEW).unwrap();
        let scene =
            json!({"scene": "requirements", "page": world.nobody.base(), "account": account(&user), "file": file});
        browser.plays(scene).await;
    }
}
