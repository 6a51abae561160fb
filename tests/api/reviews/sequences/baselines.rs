//! Baselines: each keeps what there was when it was taken, whatever becomes of it.

use std::collections::BTreeMap;

use actors::ids::{self, Id};
use colloquy::reviews::baselines::store::copied_items;
use serde_json::{Value, json};

use super::Play;
use super::model::{content, is_story};

/// A baseline, and the items that it must keep.
pub struct KeptBaseline {
    /// As the interface shows it.
    shown: Value,
    items: BTreeMap<String, Value>,
}

/// The fields of an item that a comparison names by themselves.
const COMPARED: [&str; 10] =
    ["title", "statement", "type", "category", "role", "goal", "benefit", "description", "priority", "workflowStatus"];

impl Play<'_> {
    /// Managers and owners take baselines.
    pub async fn take_baseline(&mut self) {
        let number = self.baselines.len() + 1;
        let items = self.items().await;
        let may = [self.people[0].clone(), self.people[2].clone()];
        let manager = self.one_of(&may);
        println!("{}: baseline {number}", self.number);
        let body = json!({"name": format!("Baseline {number}"), "note": format!("After {} steps", self.number)});
        let shown = manager.client.post(self.reviewed.at("baselines")).json(body).await.is(201).data().clone();
        let stories: Vec<&Value> = items.values().filter(|item| is_story(item)).collect();
        let criteria: usize = stories.iter().map(|story| story["acceptanceCriteria"].as_array().unwrap().len()).sum();
        let counts = json!({
            "requirements": items.len() - stories.len(), "userStories": stories.len(), "acceptanceCriteria": criteria,
        });
        assert_eq!((&shown["number"], &shown["counts"]), (&json!(number), &counts));
        self.baselines.push(KeptBaseline { shown, items });
        self.count("baselines");
    }

    /// Each baseline has the items with the texts, statuses and versions of its moment, and is compared by them.
    pub async fn must_have_kept_baselines(&self) {
        let ada = &self.reviewed.ada;
        let listed = ada.client.get(self.reviewed.at("baselines?limit=100")).await.is(200);
        let newest_first: Vec<Value> = self.baselines.iter().rev().map(|one| one.shown.clone()).collect();
        assert_eq!(listed.data()["items"], json!(newest_first));
        let present = self.items().await;
        for (at, one) in self.baselines.iter().enumerate() {
            assert_eq!(self.copied(&one.shown).await, one.items, "what baseline {} keeps", at + 1);
            let path = self.reviewed.at(&format!("baselines/{}/comparison", one.shown["id"].as_str().unwrap()));
            let comparison = ada.client.get(&path).await.is(200);
            must_be_comparison(comparison.data(), &one.items, &present);
            if let Some(next) = self.baselines.get(at + 1) {
                let with = format!("{path}?with={}", next.shown["id"].as_str().unwrap());
                must_be_comparison(ada.client.get(with).await.is(200).data(), &one.items, &next.items);
            }
        }
    }

    /// The items of a baseline as they are stored: the interface shows no versions of them.
    async fn copied(&self, baseline: &Value) -> BTreeMap<String, Value> {
        let project = self.reviewed.project.parse::<Id<ids::Project>>().unwrap();
        let baseline = baseline["id"].as_str().unwrap().parse().unwrap();
        let db = self.server.db().await;
        let rows = db.read(move |conn| Box::pin(copied_items(conn, project, baseline))).await.unwrap();
        let items = rows.iter().map(|row| serde_json::from_str::<Value>(&row.body).unwrap());
        items.map(|item| (super::id(&item), item)).collect()
    }
}

/// What differs between two states of the items, without the order in which it is told.
fn must_be_comparison(comparison: &Value, before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) {
    let of = |value: &Value| value.as_array().unwrap().iter().map(super::id).collect::<Vec<_>>();
    let only = |one: &BTreeMap<String, Value>, other: &BTreeMap<String, Value>| {
        let mut only: Vec<&Value> =
            one.iter().filter(|(id, _)| !other.contains_key(*id)).map(|(_, item)| item).collect();
        only.sort_by_key(|item| (is_story(item), item["code"].as_str().unwrap()));
        only.into_iter().map(super::id).collect::<Vec<_>>()
    };
    assert_eq!((of(&comparison["added"]), of(&comparison["removed"])), (only(after, before), only(before, after)));
    let told = comparison["changed"].as_array().unwrap().iter().map(|one| (super::id(one), &one["fields"]));
    let mut told: BTreeMap<String, &Value> = told.collect();
    for (id, was) in before {
        let Some(is) = after.get(id) else { continue };
        let fields = told.remove(id).unwrap_or(&Value::Null).as_array().cloned().unwrap_or_default();
        let named = |field: &&Value| COMPARED.iter().any(|name| field["name"] == *name);
        let flat: Vec<&Value> = fields.iter().filter(named).collect();
        let differing = COMPARED.iter().filter(|name| was[**name] != is[**name]);
        let differing: Vec<Value> =
            differing.map(|name| json!({"name": name, "before": was[*name], "after": is[*name]})).collect();
        assert_eq!(flat.len(), differing.len(), "{id}: {fields:?}");
        assert!(differing.iter().all(|field| flat.contains(&field)), "{id}: {fields:?} instead of {differing:?}");
        let has = |name: &str| fields.iter().any(|field| field["name"].as_str().unwrap().starts_with(name));
        let covered = |item: &Value| {
            let mut ids = item["requirementIds"].as_array().cloned().unwrap_or_default();
            ids.sort_by_key(ToString::to_string);
            ids
        };
        assert_eq!(has("requirements"), covered(was) != covered(is), "{id}: {fields:?}");
        let criteria = |item: &Value| content(item)["acceptanceCriteria"].clone();
        assert_eq!(has("AC-") || has("acceptanceCriteria"), criteria(was) != criteria(is), "{id}: {fields:?}");
    }
    assert!(told.is_empty(), "what has not changed: {told:?}");
}
