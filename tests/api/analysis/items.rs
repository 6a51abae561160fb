//! Tests the lists of items: they keep their ids and codes across runs, and are found by what they are.

use serde_json::Value;

use super::{NOTE, runs};
use crate::support::World;

on_both! {
    async fn a_statement_that_is_found_again_keeps_its_id_and_its_code(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let requirements = format!("/api/projects/{project}/requirements");
        let codes = |answer: &Value| {
            let items = answer["items"].as_array().unwrap().iter();
            items.map(|one| (one["code"].clone(), one["id"].clone(), one["statement"].clone())).collect::<Vec<_>>()
        };
        let (first, _) = ada.run(&project).await;
        ada.over(&first).await;
        let before = codes(ada.client.get(&requirements).await.is(200).data());
        assert!(before.len() >= 2, "{before:?}");
        ada.read(&project, "more.md", b"# More\n\nThe system must export all bookings as a CSV file.\n").await;
        let (second, _) = ada.run(&project).await;
        ada.over(&second).await;
        let after = codes(ada.client.get(&requirements).await.is(200).data());
        assert!(before.iter().all(|one| after.contains(one)), "{before:?} then {after:?}");
        assert!(after.len() > before.len());
        let older = ada.client.get(format!("/api/projects/{project}/ai/results-dashboard?runId={}", first.rsplit('/').next().unwrap()));
        assert_eq!(older.await.is(200).data()["requirements"].as_array().unwrap().len(), before.len());
    }

    async fn requirements_are_found_by_type_priority_and_words(world: World) {
        let ada = world.user().await;
        let project = ada.project().await;
        ada.read(&project, "note.md", NOTE.as_bytes()).await;
        let (run, _) = ada.run(&project).await;
        ada.over(&run).await;
        let list = |query: &str| ada.client.get(format!("/api/projects/{project}/requirements?{query}"));
        let total = list("").await.is(200).data()["totalCount"].as_u64().unwrap();
        let found = list("search=TWO%20SECONDS").await.is(200);
        assert_eq!(found.data()["totalCount"], 1, "{}", found.text());
        let sum: u64 = {
            let mut sum = 0;
            for kind in ["functional", "NON_FUNCTIONAL", "business", "constraint", "unknown"] {
                sum += list(&format!("type={kind}")).await.is(200).data()["totalCount"].as_u64().unwrap();
            }
            sum
        };
        assert_eq!(sum, total);
        assert_eq!(list("status=APPROVED").await.is(200).data()["totalCount"], 0);
        list("type=odd").await.is(422);
        list("priority=odd").await.is(422);
        let stories = ada.client.get(format!("/api/projects/{project}/user-stories")).await.is(200);
        assert!(stories.data()["totalCount"].as_u64().unwrap() >= 1, "{}", stories.text());
        assert!(ada.client.get(runs(&project)).await.is(200).data()["totalCount"] == 1);
    }
}
