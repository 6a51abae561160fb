//! Runs and kills: what was begun goes on, at the node it was in, and no progress is lost.

use serde_json::json;

use super::{long_text, runs};
use crate::support::chance::Chance;
use crate::support::{Kind, Place};

on_both! {
    /// On PostgreSQL the lease of a killed server holds for ten seconds more, so there are fewer kills.
    async fn a_run_that_is_killed_again_and_again_goes_on_to_its_end(place: Place) {
        let kills = if place.kind == Kind::Sqlite { 12 } else { 3 };
        let mut chance = Chance::new();
        let mut server = place.start(&[]);
        let mut ada = server.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", long_text().as_bytes()).await;
        let started = ada.client.post(runs(&project)).json(json!({})).await.is(202);
        let id = started.text_of("id");
        let path = format!("{}/{id}", runs(&project));
        let (mut seen, mut unfinished) = (0, 0);
        for _ in 0..kills {
            tokio::time::sleep(chance.millis(50, 900)).await;
            let now = ada.client.get(&path).await.is(200);
            let progress = now.data()["progress"].as_u64().unwrap();
            assert!(progress >= seen, "{progress} % after {seen} %");
            seen = progress;
            unfinished += usize::from(progress < 100);
            server.kill();
            server = place.start(&[]);
            ada = ada.at(&server);
        }
        let done = ada.over(&path).await;
        assert_eq!((&done["status"], &done["attempt"]), (&json!("COMPLETED"), &json!(1)), "{done}");
        println!("{kills} kills, {unfinished} of them before its end");
        assert!(unfinished > 0, "it was killed at work");
        let told = server.told_of_run(&id).await;
        for pair in told.windows(2) {
            let [(_, _, before), (_, _, after)] = pair else { unreachable!() };
            assert!(before["progress"].as_u64() <= after["progress"].as_u64(), "{before} then {after}");
        }
    }
}
