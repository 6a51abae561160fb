//! Tests startAiAnalysisRun: which requests are accepted and which are rejected.

use futures_util::future::join_all;
use serde_json::json;

use super::{NOTE, long_text, runs};
use crate::support::{Role, World};

const NOWHERE: &str = "0189a0f0-0000-7000-8000-000000000000";

on_both! {
    async fn without_a_document_there_is_nothing_to_analyse(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.client.post(runs(&project)).json(json!({})).await.refused(422, "NoSources");
        ada.client.post(runs(&project)).json(json!({"documentIds": []})).await.refused(422, "NoSources");
    }

    async fn sources_of_another_project_are_422(world: World) {
        let ada = world.user().await;
        let (project, other) = (ada.project().await, ada.project().await);
        let (theirs, _) = ada.read(&other, "note.md", NOTE.as_bytes()).await;
        let theirs = theirs.rsplit('/').next().unwrap();
        for ids in [json!([theirs]), json!([NOWHERE])] {
            let answer = ada.client.post(runs(&project)).json(json!({"documentIds": ids})).await.is(422);
            assert_eq!(answer.faults(), [("documentIds".to_owned(), "InvalidValue".to_owned())]);
        }
        let meeting = ada.meeting(&other).await;
        let answer = ada.client.post(runs(&project)).json(json!({"meetingId": meeting["id"]})).await.is(422);
        assert_eq!(answer.faults(), [("meetingId".to_owned(), "InvalidValue".to_owned())]);
    }

    async fn a_meeting_without_a_recording_is_409(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let meeting = ada.meeting(&project).await;
        let body = json!({"meetingId": meeting["id"]});
        ada.client.post(runs(&project)).json(body).await.refused(409, "RecordingNotReady");
    }

    async fn all_errors_of_a_run_request_are_reported_at_once(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        let body = json!({"documentIds": "all", "meetingId": 7, "analysisType": "DEEP", "language": "XX", "engine": "gpt", "x": 1});
        let answer = ada.client.post(runs(&project)).json(body).await.is(422);
        let fields: Vec<_> = answer.faults().into_iter().map(|(field, _)| field).collect();
        assert_eq!(fields, ["analysisType", "documentIds", "engine", "language", "meetingId", "x"]);
    }

    async fn stakeholders_may_read_runs_but_not_start_cancel_or_retry_them(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let guest = world.member(&project, Role::Stakeholder).await;
        guest.client.post(runs(&project)).json(json!({})).await.refused(403, "Forbidden");
        guest.client.get(runs(&project)).await.is(200);
        let analyst = world.member(&project, Role::Analyst).await;
        let (path, _) = analyst.run(&project).await;
        guest.client.post(format!("{path}/cancel")).await.refused(403, "Forbidden");
        guest.client.post(format!("{path}/retry")).await.refused(403, "Forbidden");
        assert_eq!(guest.over(&path).await["status"], "COMPLETED");
    }

    async fn the_same_input_while_a_run_is_unfinished_gives_that_run(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "long.md", long_text().as_bytes()).await;
        let starts = (0..16).map(|_| ada.run(&project));
        let mut ids: Vec<_> = join_all(starts).await.into_iter().map(|(path, _)| path).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), 1, "one run for the same work");
        let (other, _) = {
            let body = json!({"analysisType": "requirements"});
            let started = ada.client.post(runs(&project)).json(body).await.is(202);
            (format!("{}/{}", runs(&project), started.text_of("id")), ())
        };
        assert_ne!(other, ids[0], "other work is another run");
        for run in [&ids[0], &other] {
            ada.client.post(format!("{run}/cancel")).await.is(200);
        }
    }

    async fn an_idempotency_key_starts_one_run_even_after_it_has_ended(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let start = || ada.client.post(runs(&project)).key("once").json(json!({}));
        let first = start().await.is(202);
        ada.over(&format!("{}/{}", runs(&project), first.text_of("id"))).await;
        assert_eq!(start().await.is(202).bytes, first.bytes, "the same answer again");
        let listed = ada.client.get(runs(&project)).await.is(200);
        assert_eq!(listed.data()["totalCount"], 1);
    }

    async fn runs_are_listed_newest_first_and_by_status(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let mut made = Vec::new();
        for _ in 0..3 {
            let (path, run) = ada.run(&project).await;
            ada.over(&path).await;
            made.insert(0, run["id"].clone());
        }
        let page = ada.client.get(format!("{}?limit=2", runs(&project))).await.is(200);
        let cursor = page.text_of("nextCursor");
        let rest = ada.client.get(format!("{}?limit=2&cursor={cursor}", runs(&project))).await.is(200);
        let items = [&page, &rest].map(|page| page.data()["items"].as_array().unwrap().clone()).concat();
        let ids: Vec<_> = items.iter().map(|run| run["id"].clone()).collect();
        assert_eq!(ids, made);
        assert_eq!((&page.data()["totalCount"], &rest.data()["nextCursor"]), (&json!(3), &json!(null)));
        let failed = ada.client.get(format!("{}?status=failed", runs(&project))).await.is(200);
        assert_eq!(failed.data()["totalCount"], 0);
        ada.client.get(format!("{}?status=lost", runs(&project))).await.is(422);
    }
}
