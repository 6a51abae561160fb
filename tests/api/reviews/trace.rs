//! Tests of the trace matrix.

use serde_json::{Value, json};

use super::{Reviewed, named};
use crate::support::World;

on_both! {
    async fn each_requirement_is_traced_to_its_stories_and_sources_and_gaps_are_named(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let path = reviewed.at("trace-matrix");
        let matrix = reviewed.ada.client.get(&path).await.is(200);
        let of = |matrix: &Value, item: &Value| {
            let rows = matrix["rows"].as_array().unwrap();
            rows.iter().find(|row| row["requirement"]["id"] == item["id"]).cloned()
        };
        let row = of(matrix.data(), &requirement).unwrap();
        assert_eq!(row["requirement"], named(&requirement, &["id", "code", "title", "workflowStatus"]));
        assert_eq!(row["sources"], requirement["sources"]);
        assert_eq!(
            row["userStories"],
            json!([{"id": story["id"], "code": story["code"], "criteria": 0, "workflowStatus": "NEEDS_REVIEW", "trackerIssue": null}])
        );
        assert_eq!(row["gaps"], json!(["NO_CRITERIA", "NOT_EXPORTED"]));
        let uncovered = reviewed.item("requirements", "two seconds").await;
        assert_eq!(of(matrix.data(), &uncovered).unwrap()["gaps"], json!(["NO_STORY"]));
        assert_eq!(
            named(&matrix.data()["totals"], &["requirements", "userStories", "covered", "orphans", "rejectedRequirements"]),
            json!({"requirements": 3, "userStories": 2, "covered": 2, "orphans": 0, "rejectedRequirements": 0})
        );
        reviewed.ada.client.get(&path).header("if-none-match", matrix.etag()).await.is(304);
        reviewed.approve(&story).await;
        let rejected = json!({"workflowStatus": "REJECTED", "comment": "Not needed."});
        reviewed.judge(&requirement, rejected.clone()).await.is(200);
        reviewed.judge(&uncovered, rejected).await.is(200);
        let gaps = reviewed.ada.client.get(format!("{path}?gapsOnly=true")).await.is(200);
        assert_eq!(of(gaps.data(), &requirement), None, "a rejected requirement has no gaps");
        assert_eq!(gaps.data()["totals"]["rejectedRequirements"], 2);
        assert_eq!(gaps.data()["rows"].as_array().unwrap().len(), 1);
        reviewed.ada.client.get(format!("{path}?gapsOnly=maybe")).await.is(422);
    }
}
