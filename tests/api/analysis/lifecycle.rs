//! Tests how AI runs end (complete, partial, rejected, cancelled) and how they are retried.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::{NOTE, long_text, runs};
use crate::support::World;

on_both! {
    async fn an_empty_document_is_rejected_with_a_reason(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "empty.txt", b"\n").await;
        let (path, _) = ada.run(&project).await;
        let rejected = ada.over(&path).await;
        assert_eq!(rejected["status"], "REJECTED");
        assert!(rejected["errorMessage"].as_str().is_some_and(|reason| reason.len() > 10), "{rejected}");
        assert!(rejected["progress"].as_u64().unwrap() < 100);
        ada.client.post(format!("{path}/retry")).await.refused(409, "InvalidState");
    }

    async fn an_unreadable_document_among_good_ones_makes_it_partial(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let (good, _) = ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let bad = ada.uploaded(&project, "torn.pdf", b"%PDF-1.7\nnothing of a page").await;
        assert_eq!(ada.settled(&bad).await["status"], "FAILED");
        let ids: Vec<_> = [&good, &bad].map(|path| path.rsplit('/').next().unwrap().to_owned()).into();
        let started = ada.client.post(runs(&project)).json(json!({"documentIds": ids})).await.is(202);
        let path = format!("{}/{}", runs(&project), started.text_of("id"));
        let partial = ada.over(&path).await;
        assert_eq!((&partial["status"], &partial["progress"]), (&json!("PARTIAL"), &json!(100)), "{partial}");
        assert_eq!(partial["warnings"][0]["sourceId"], json!(ids[1]), "{partial}");
        let retried = ada.client.post(format!("{path}/retry")).await.is(202);
        assert_eq!((&retried.data()["attempt"], &retried.data()["id"]), (&json!(2), &partial["id"]));
        assert_eq!(ada.over(&path).await["status"], "PARTIAL");
    }

    async fn a_cancel_takes_effect_within_a_second_and_a_retry_begins_anew(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", long_text().as_bytes()).await;
        let (path, queued) = ada.run(&project).await;
        ada.once(&path, |run| run["progress"].as_u64() >= Some(25)).await;
        let began = Instant::now();
        let cancelled = ada.client.post(format!("{path}/cancel")).await.is(200);
        assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
        assert_eq!(cancelled.data()["status"], "CANCELLED");
        let progress = cancelled.data()["progress"].clone();
        ada.client.post(format!("{path}/cancel")).await.refused(409, "InvalidState");
        let still = ada.client.get(&path).await.is(200);
        assert_eq!((&still.data()["status"], &still.data()["progress"]), (&json!("CANCELLED"), &progress));

        let retried = ada.client.post(format!("{path}/retry")).key("again").await.is(202);
        let fresh = retried.data();
        assert_eq!((&fresh["status"], &fresh["attempt"], &fresh["progress"]), (&json!("QUEUED"), &json!(2), &json!(0)));
        assert_eq!((&fresh["startedAt"], &fresh["completedAt"]), (&json!(null), &json!(null)));
        assert_ne!(fresh["aiJobId"], queued["aiJobId"], "a new job for a new attempt");
        let again = ada.client.post(format!("{path}/retry")).key("again").await.is(202);
        assert_eq!(again.bytes, retried.bytes, "one attempt more, not two");
        ada.client.post(format!("{path}/retry")).await.refused(409, "InvalidState");
        ada.client.post(format!("{path}/cancel")).await.is(200);
    }

    async fn progress_never_falls_within_an_attempt_and_is_published_regularly(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", long_text().as_bytes()).await;
        let (path, run) = ada.run(&project).await;
        ada.once(&path, |run| run["progress"].as_u64() >= Some(35)).await;
        ada.client.post(format!("{path}/cancel")).await.is(200);
        ada.client.post(format!("{path}/retry")).await.is(202);
        ada.once(&path, |run| run["attempt"] == 2 && run["progress"].as_u64() >= Some(35)).await;
        ada.client.post(format!("{path}/cancel")).await.is(200);
        let records = world.server.events_of_run(run["id"].as_str().unwrap()).await;
        let offsets: Vec<u64> = records.iter().map(|(offset, _, _)| *offset).collect();
        assert_eq!(offsets, (1..=offsets.len() as u64).collect::<Vec<_>>(), "no hole");
        for pair in records.windows(2) {
            let [(_, before_at, before), (_, after_at, after)] = pair else { unreachable!() };
            if before["attempt"] == after["attempt"] {
                assert!(before["progress"].as_u64() <= after["progress"].as_u64(), "{before} then {after}");
                let working = |run: &Value| run["status"] == "PROCESSING";
                if working(before) && working(after) {
                    // The pipeline reports progress twice a second. The limit is higher, because the machine may be
                    // busy with other tests.
                    assert!(after_at - before_at < 3_000, "silent for {} ms", after_at - before_at);
                }
            }
        }
    }
}
