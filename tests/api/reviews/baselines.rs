//! Tests of baselines: numbered, unchangeable, and compared with each other and with the present.

use std::collections::BTreeSet;

use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{Reviewed, named};
use crate::support::{Role, World};

impl Reviewed {
    async fn baseline(&self, name: &str) -> Value {
        self.ada.client.post(self.at("baselines")).json(json!({"name": name})).await.is(201).data().clone()
    }

    async fn comparison(&self, baseline: &Value, query: &str) -> Value {
        let path = self.at(&format!("baselines/{}/comparison{query}", baseline["id"].as_str().unwrap()));
        self.ada.client.get(path).await.is(200).data().clone()
    }
}

on_both! {
    async fn a_baseline_stays_as_it_was_taken_whatever_changes_after_it(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let (story, requirement) = reviewed.story().await;
        let body = json!({"name": "Before the workshop", "note": "As sent to the clinic."});
        let first = reviewed.ada.client.post(reviewed.at("baselines")).json(body).await.is(201).data().clone();
        assert_eq!(
            named(&first, &["number", "name", "note", "counts"]),
            json!({
                "number": 1, "name": "Before the workshop", "note": "As sent to the clinic.",
                "counts": {"requirements": 3, "userStories": 2, "acceptanceCriteria": first["counts"]["acceptanceCriteria"]},
            })
        );
        let same = json!({"added": [], "removed": [], "changed": []});
        assert_eq!(reviewed.comparison(&first, "").await, same);
        let statement = "A clerk must see the waiting list of a day.";
        reviewed.ada.client.patch(reviewed.path(&requirement)).json(json!({"statement": statement})).await.is(200);
        reviewed.approve(&story).await;
        let criteria = json!({"acceptanceCriteria": [{"text": "The list is in the order of arrival."}]});
        reviewed.ada.client.patch(reviewed.path(&story)).json(criteria).await.is(200);
        let second = reviewed.baseline("After the workshop").await;
        assert_eq!(second["number"], 2);
        let now = reviewed.comparison(&first, "").await;
        assert_eq!(
            now["changed"],
            json!([
                {
                    "id": requirement["id"], "code": requirement["code"], "targetType": "REQUIREMENT",
                    "fields": [{"name": "statement", "before": requirement["statement"], "after": statement}],
                },
                {
                    "id": story["id"], "code": story["code"], "targetType": "USER_STORY",
                    "fields": [{"name": "AC-001.text", "before": null, "after": "The list is in the order of arrival."}],
                },
            ])
        );
        let with = format!("?with={}", second["id"].as_str().unwrap());
        assert_eq!(reviewed.comparison(&first, &with).await, now);
        assert_eq!(reviewed.comparison(&second, "").await, same);
        let back = reviewed.comparison(&second, &format!("?with={}", first["id"].as_str().unwrap())).await;
        assert_eq!(back["changed"][0]["fields"][0]["after"], requirement["statement"]);
        let listed = reviewed.ada.client.get(reviewed.at("baselines")).await.is(200);
        assert_eq!(listed.data()["items"], json!([second, first]));
    }

    async fn baselines_taken_at_once_get_numbers_without_a_hole_and_one_key_takes_one(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let taken = join_all((0..12).map(|_| reviewed.baseline("At once"))).await;
        let numbers: BTreeSet<i64> = taken.iter().map(|one| one["number"].as_i64().unwrap()).collect();
        assert_eq!(numbers, (1..=12).collect());
        let call = || reviewed.ada.client.post(reviewed.at("baselines")).key("once").json(json!({"name": "Once"}));
        let first = call().await.is(201);
        assert_eq!(call().await.is(201).data(), first.data());
        let listed = reviewed.ada.client.get(reviewed.at("baselines")).await.is(200);
        assert_eq!(listed.data()["totalCount"], 13);
    }

    async fn only_managers_take_one_and_no_other_project_is_compared(world: World) {
        let reviewed = Reviewed::new(world.server).await;
        let other = Reviewed::new(world.server).await;
        let (own, foreign) = (reviewed.baseline("Own").await, other.baseline("Foreign").await);
        let analyst = world.member(&reviewed.project, Role::Analyst).await;
        analyst.client.post(reviewed.at("baselines")).json(json!({"name": "Mine"})).await.refused(403, "Forbidden");
        let foreign_id = foreign["id"].as_str().unwrap();
        let path = reviewed.at(&format!("baselines/{foreign_id}/comparison"));
        reviewed.ada.client.get(path).await.refused(404, "NotFound");
        let path = reviewed.at(&format!("baselines/{}/comparison?with={foreign_id}", own["id"].as_str().unwrap()));
        let refused = analyst.client.get(path).await.is(422);
        assert_eq!(refused.faults(), [("with".to_owned(), "InvalidValue".to_owned())]);
        let long = json!({"name": "n".repeat(121), "note": "n".repeat(5001)});
        let refused = reviewed.ada.client.post(reviewed.at("baselines")).json(long).await.is(422);
        assert_eq!(refused.faults(), [("name".to_owned(), "TooLong".to_owned()), ("note".to_owned(), "TooLong".to_owned())]);
        let project = format!("/api/projects/{}", reviewed.project);
        reviewed.ada.client.patch(project).json(json!({"status": "ARCHIVED"})).await.is(200);
        let archived = reviewed.ada.client.post(reviewed.at("baselines")).json(json!({"name": "Late"}));
        archived.await.refused(409, "ProjectArchived");
        assert_eq!(reviewed.comparison(&own, "").await["changed"], json!([]));
    }
}
