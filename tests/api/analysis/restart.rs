//! Tests that AI runs continue after the server was killed: at the node they had reached, without loss of progress.

use serde_json::json;

use super::{runs, text_of};
use crate::support::ServerSetup;
use crate::support::chance::Chance;
use crate::support::full::rounds;

on_both! {
    /// Four kills per run at most: a run that was begun five times without reaching its end fails.
    async fn a_run_that_is_killed_again_and_again_goes_on_to_its_end(setup: ServerSetup) {
        let (rounds, kills) = (rounds(1, 3), 4);
        let mut chance = Chance::new();
        let mut server = setup.start(&[]);
        let mut ada = server.user().await;
        let mut unfinished = 0;
        for _ in 0..rounds {
            let project = ada.project().await;
            ada.read(&project, "long.md", text_of(2_000).as_bytes()).await;
            let started = ada.client.post(runs(&project)).json(json!({})).await.is(202);
            let id = started.text_of("id");
            let path = format!("{}/{id}", runs(&project));
            let mut seen = 0;
            for _ in 0..kills {
                tokio::time::sleep(chance.millis(50, 1_200)).await;
                let now = ada.client.get(&path).await.is(200);
                let progress = now.data()["progress"].as_u64().unwrap();
                assert!(progress >= seen, "{progress} % after {seen} %");
                seen = progress;
                unfinished += usize::from(progress < 100);
                server.kill();
                server = setup.start(&[]);
                ada = ada.at(&server);
                // The items are read first: the run may complete between the two requests.
                let items = ada.client.get(format!("/api/projects/{project}/requirements")).await.is(200);
                let now = ada.client.get(&path).await.is(200);
                let has_items = items.data()["totalCount"].as_u64().unwrap() > 0;
                assert!(!has_items || now.data()["status"] == "COMPLETED", "items of a run that is not complete");
            }
            let done = ada.over(&path).await;
            assert_eq!((&done["status"], &done["attempt"]), (&json!("COMPLETED"), &json!(1)), "{done}");
            let records = server.events_of_run(&id).await;
            for pair in records.windows(2) {
                let [(_, _, before), (_, _, after)] = pair else { unreachable!() };
                assert!(before["progress"].as_u64() <= after["progress"].as_u64(), "{before} then {after}");
            }
        }
        println!("{} kills, {unfinished} of them before its end", rounds * kills);
        assert!(unfinished > 0, "it was killed at work");
    }
}
