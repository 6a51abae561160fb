//! The way of a newcomer through the console, and the picture of it in README; the scenes are in
//! tests/fakes/scenes/newcomer.mjs.

use serde_json::json;

use super::browser::{Browser, account};
use crate::support::World;
use crate::support::builders::{PASSWORD, fresh_email};

/// What stands in docs/pictures/console.png, line by line.
const WORDS: &str = include_str!("../../../docs/pictures/console.txt");

/// What is said a week later.
const NEXT_MEETING: &str = "WEBVTT\n\n\
    00:00:01.000 --> 00:00:06.000\n<v Priya>The kiosk must print a queue number for each visitor.</v>\n\n\
    00:00:07.000 --> 00:00:12.000\n<v Marcus>The car park barrier must open for ambulances without a ticket.</v>\n";

fn sample(name: &str) -> String {
    format!("{}/tests/samples/{name}", env!("CARGO_MANIFEST_DIR"))
}

on_sqlite! {
    async fn a_newcomer_comes_to_an_approved_exported_requirement_by_what_the_screen_offers(world: World) {
        let Some(browser) = Browser::start() else { return };
        let newcomer = json!({"email": fresh_email(), "password": PASSWORD, "fullName": "Grace Hopper"});
        let next = tempfile::Builder::new().suffix(".vtt").tempfile().unwrap();
        std::fs::write(next.path(), NEXT_MEETING).unwrap();
        let scene = json!({
            "scene": "newcomer", "page": world.nobody.base(), "outbox": world.server.data.join("outbox"),
            "newcomer": newcomer, "file": sample("call-for-tenders.pdf"), "next": next.path(),
        });
        let found = browser.plays(scene).await;
        println!("from nothing to an approved, exported requirement in {} s", found["seconds"]);
    }

    /// The picture itself differs with the fonts of a machine; its words don't.
    async fn the_picture_on_the_first_page_shows_the_console_as_it_is(world: World) {
        let Some(browser) = Browser::start() else { return };
        let ada = world.user().await;
        let project = ada.project().await;
        ada.client.patch(format!("/api/projects/{project}")).json(json!({"name": "Clinic booking"})).await.is(200);
        for name in ["call-for-tenders.pdf", "annex-operations.pdf", "discovery-meeting.vtt", "product-note.md"] {
            ada.read(&project, name, &std::fs::read(sample(name)).unwrap()).await;
        }
        ada.meeting(&project).await;
        let (run, _) = ada.run(&project).await;
        assert_eq!(ada.over(&run).await["status"], "COMPLETED");
        let scene = json!({
            "scene": "picture", "page": world.nobody.base(), "account": account(&ada), "project": project, "code": "REQ-005",
        });
        let found = browser.plays(scene).await;
        let words: Vec<_> = found["words"].as_array().unwrap().iter().map(|line| line.as_str().unwrap()).collect();
        let how = "docs/pictures/console.png is not the console as it is: copy console.png from target/tmp/pictures over it, \
                   and write these words to console.txt";
        assert_eq!(words, WORDS.lines().collect::<Vec<_>>(), "{how}");
    }
}
