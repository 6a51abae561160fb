//! The results of a project in the console, reviewed by keyboard; the scenes are in tests/fakes/scenes/results.mjs.

use std::fmt::Write;

use serde_json::{Value, json};

use super::browser::{Browser, account};
use crate::support::{User, World};

/// A project whose results have so many requirements, every third of them with a user story, and its owner.
async fn project_with(world: &World, requirements: usize) -> (User, String) {
    let mut note = String::from("# Reports\n\n");
    for number in 1..=requirements {
        let ward = number * 7 % 613;
        // Writing to a string does not fail.
        let _ = if number % 3 == 0 {
            writeln!(
                note,
                "As a nurse, I want to print report {number} for ward {ward} so that ward {number} is informed.\n"
            )
        } else {
            writeln!(
                note,
                "The system must print report {number} for ward {ward} within {} seconds.\n",
                number % 50 + 1
            )
        };
    }
    note.push_str("There is a risk that the printer is too slow.\n\nWe decided to print on both sides.\n");
    let owner = world.user().await;
    let project = owner.project().await;
    owner.read(&project, "reports.md", note.as_bytes()).await;
    let (run, _) = owner.run(&project).await;
    assert_eq!(owner.over(&run).await["status"], "COMPLETED");
    (owner, project)
}

fn scene(name: &str, world: &World, owner: &User, project: &str) -> Value {
    json!({"scene": name, "page": world.nobody.base(), "account": account(owner), "project": project})
}

on_sqlite! {
    async fn items_are_filtered_edited_decided_about_and_discussed_beside_their_sources(world: World) {
        let Some(browser) = Browser::start() else { return };
        let (owner, project) = project_with(&world, 90).await;
        browser.plays(scene("results", &world, &owner, &project)).await;
    }

    async fn fifty_items_are_approved_by_keyboard_alone(world: World) {
        let Some(browser) = Browser::start() else { return };
        let (owner, project) = project_with(&world, 60).await;
        let found = browser.plays(scene("fiftyApprovals", &world, &owner, &project)).await;
        println!("{} approvals in {} s", found["count"], found["seconds"]);
    }

    async fn of_ten_thousand_items_a_few_are_in_the_page(world: World) {
        let Some(browser) = Browser::start() else { return };
        let (owner, project) = project_with(&world, 3).await;
        let found = browser.plays(scene("tenThousand", &world, &owner, &project)).await;
        println!("{} rows at most; frames of {} ms, {} ms at most", found["rows"], found["medianFrameMs"], found["longestFrameMs"]);
    }
}
