//! Tests of the OpenAPI document: it agrees with operations.tsv and is consistent in itself.

use std::collections::{BTreeMap, BTreeSet};

use colloquy::routes;
use serde_json::{Value, json};

use crate::support::World;

/// One row of operations.tsv.
pub struct Row {
    group: &'static str,
    pub id: &'static str,
    pub method: String,
    pub path: &'static str,
    pub who: &'static str,
    success: &'static str,
    errors: Vec<&'static str>,
}

pub fn table() -> Vec<Row> {
    let lines = include_str!("operations.tsv").lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    let row = |line: &'static str| {
        let cells: Vec<&str> = line.split('\t').collect();
        assert!(cells.len() >= 6, "{line}");
        let errors = cells.get(6).copied().unwrap_or_default();
        Row {
            group: cells[0],
            id: cells[1],
            method: cells[2].to_lowercase(),
            path: cells[3],
            who: cells[4],
            success: cells[5],
            errors: errors.split(',').filter(|error| !error.is_empty()).collect(),
        }
    };
    lines.map(row).collect()
}

impl Row {
    fn has_ids(&self) -> bool {
        self.path.starts_with("/api/") && self.path.contains("Id}")
    }

    /// Returns the statuses that the row requires: its own, and the common ones where they can occur.
    fn statuses(&self, has_body: bool) -> BTreeSet<&str> {
        let mut statuses: BTreeSet<&str> = self.errors.iter().copied().chain([self.success]).collect();
        if !matches!(self.who, "public" | "ticket" | "signed" | "internal") {
            statuses.insert("401");
        }
        if self.has_ids() {
            statuses.extend(["400", "403"]);
        }
        if has_body {
            statuses.extend(["400", "422"]);
        }
        if self.group != "Service" {
            statuses.insert("500");
        }
        // Whoever has the service key is not counted.
        if self.group != "Service" && self.who != "service" {
            statuses.insert("429");
        }
        statuses
    }
}

async fn document(world: &World) -> Value {
    world.nobody.get("/api/openapi.json").await.is(200).body
}

/// Returns the operations of the document by method and path.
fn operations(document: &Value) -> BTreeMap<(String, String), Value> {
    let paths = document["paths"].as_object().unwrap().iter();
    let each = paths.flat_map(|(path, methods)| {
        let methods = methods.as_object().unwrap().iter();
        methods.map(move |(method, operation)| ((method.clone(), path.clone()), operation.clone()))
    });
    each.collect()
}

/// Follows a reference within the document.
fn resolved<'a>(document: &'a Value, value: &'a Value) -> &'a Value {
    match value["$ref"].as_str() {
        Some(reference) => document.pointer(reference.trim_start_matches('#')).unwrap(),
        None => value,
    }
}

fn visit(value: &Value, seen: &mut impl FnMut(&str, &Value)) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            seen(name, value);
            visit(value, seen);
        }),
        Value::Array(values) => values.iter().for_each(|value| visit(value, seen)),
        _ => {}
    }
}

on_sqlite! {
    async fn every_operation_of_the_table_is_served_and_described_and_no_other(world: World) {
        let document = document(&world).await;
        let mut served = operations(&document);
        let mut faults = Vec::new();
        for row in table() {
            let Some(operation) = served.remove(&(row.method.clone(), row.path.to_owned())) else {
                faults.push(format!("{}: no {} {}", row.id, row.method, row.path));
                continue;
            };
            if operation["operationId"] != row.id {
                faults.push(format!("{}: operationId is {}", row.id, operation["operationId"]));
            }
            if operation["tags"] != serde_json::json!([row.group]) {
                faults.push(format!("{}: the group is {}", row.id, operation["tags"]));
            }
            let described: BTreeSet<&str> = operation["responses"].as_object().unwrap().keys().map(String::as_str).collect();
            for status in row.statuses(operation.get("requestBody").is_some()) {
                if !described.contains(status) {
                    faults.push(format!("{}: status {status} is not described", row.id));
                }
            }
            let secured = operation["security"].as_array().is_some_and(|security| !security.is_empty());
            if secured == matches!(row.who, "public" | "internal" | "signed") {
                faults.push(format!("{}: {} and security {}", row.id, row.who, operation["security"]));
            }
        }
        faults.extend(served.keys().map(|(method, path)| format!("{method} {path} is not in the table")));
        assert!(faults.is_empty(), "{faults:#?}");
    }

    async fn every_reference_resolves_and_every_component_is_used(world: World) {
        let document = document(&world).await;
        let mut used = BTreeSet::new();
        visit(&document, &mut |name, value| {
            if let (true, Some(reference)) = (name == "$ref", value.as_str()) {
                let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} is elsewhere"));
                assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
                used.insert(reference.to_owned());
            }
        });
        for kind in ["schemas", "parameters", "headers", "examples"] {
            for name in document["components"][kind].as_object().unwrap().keys() {
                assert!(used.contains(&format!("#/components/{kind}/{name}")), "{kind}: {name} is used nowhere");
            }
        }
    }

    async fn every_json_answer_has_an_example_in_the_envelope(world: World) {
        let document = document(&world).await;
        for ((method, path), operation) in operations(&document) {
            for (status, response) in operation["responses"].as_object().unwrap() {
                let content = &response["content"]["application/json"];
                // The documents and a file of JSON have no envelope.
                let bare = ["openApiDocument", "asyncApiDocument", "downloadDashboardExport"];
                let is_enveloped = !status.starts_with('2') || bare.iter().all(|id| operation["operationId"] != *id);
                if !content.is_object() || !is_enveloped {
                    continue;
                }
                let examples = content["examples"].as_object().unwrap_or_else(|| panic!("{method} {path} {status}"));
                assert!(!examples.is_empty(), "{method} {path} {status}");
                for example in examples.values() {
                    let example = &resolved(&document, example)["value"];
                    assert_eq!(example["statusCode"].to_string(), *status, "{method} {path}");
                    assert_eq!(example["isSuccess"], status.starts_with('2'), "{method} {path} {status}");
                    let data = &example["data"];
                    assert_eq!(data.is_object(), status.starts_with('2'), "{method} {path} {status}: {data}");
                    assert_eq!(example["errors"].as_array().unwrap().is_empty(), status.starts_with('2'));
                }
            }
        }
    }

    async fn the_document_says_what_each_operation_says(world: World) {
        let served = operations(&document(&world).await);
        for operation in routes::public().into_iter().filter(|operation| operation.answer.data.is_some()) {
            let described = &served[&(operation.method.as_str().to_lowercase(), operation.path.to_owned())];
            let success = &described["responses"][operation.success.to_string()]["content"]["application/json"];
            assert_eq!(success["examples"]["success"]["value"]["message"], operation.message, "{}", operation.id);
        }
    }

    async fn an_error_is_described_as_it_is(world: World) {
        let document = document(&world).await;
        let schemas = &document["components"]["schemas"];
        let error = &schemas["Error"];
        let mut fields: Vec<&str> = error["properties"].as_object().unwrap().keys().map(String::as_str).collect();
        fields.sort_unstable();
        assert_eq!(fields, ["code", "field", "message", "reason"]);
        assert_eq!(error["required"].as_array().unwrap().len(), 4, "{error}");
        let reasons = schemas["ErrorReason"]["enum"].as_array().unwrap();
        assert!(["Required", "InvalidValue", "UnknownKey", "TooLong"].iter().all(|reason| reasons.contains(&json!(reason))));
        // A type that can only be null breaks client generators.
        assert_eq!(schemas["Failure"]["properties"]["data"]["type"], json!(["object", "null"]));
    }

    async fn operation_ids_are_unique_and_path_parameters_are_described(world: World) {
        let document = document(&world).await;
        assert_eq!(document["openapi"], "3.1.0");
        let mut ids = BTreeSet::new();
        for ((method, path), operation) in operations(&document) {
            assert!(ids.insert(operation["operationId"].to_string()), "{method} {path}");
            let parameters = operation["parameters"].as_array().unwrap();
            let parameters: Vec<&Value> = parameters.iter().map(|one| resolved(&document, one)).collect();
            let described: BTreeSet<&str> =
                parameters.iter().filter(|one| one["in"] == "path").map(|one| one["name"].as_str().unwrap()).collect();
            let named: BTreeSet<&str> = path.split('/').filter_map(|one| one.strip_prefix('{')?.strip_suffix('}')).collect();
            assert_eq!(described, named, "{method} {path}");
        }
    }
}

#[test]
fn the_program_prints_the_document_that_the_server_serves() {
    let printed = std::process::Command::new(env!("CARGO_BIN_EXE_colloquy")).arg("openapi").output().unwrap();
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(printed, colloquy::api::openapi::document(&colloquy::routes::all()));
}

/// Each message is unique, so that a log of responses shows which operation happened.
#[test]
fn every_operation_has_a_success_message_of_its_own() {
    let mut said: BTreeMap<&str, &str> = BTreeMap::new();
    for operation in routes::all() {
        let is_enveloped = operation.answer.data.is_some();
        assert_eq!(is_enveloped, !operation.message.is_empty(), "{}: {:?}", operation.id, operation.message);
        if !is_enveloped {
            continue;
        }
        let words: Vec<&str> = operation.message.split_whitespace().collect();
        assert!(words.len() > 1 && operation.message.ends_with('.'), "{}: {}", operation.id, operation.message);
        let bare = words.iter().all(|word| {
            let word = word.trim_matches(|sign: char| !sign.is_alphanumeric()).to_lowercase();
            ["ok", "okay", "accepted", "created", "success", "done"].contains(&word.as_str())
        });
        assert!(!bare, "{}: {}", operation.id, operation.message);
        if let Some(other) = said.insert(operation.message, operation.id) {
            panic!("{other} and {} say the same", operation.id);
        }
    }
    let of = |id: &str| routes::all().into_iter().find(|operation| operation.id == id).unwrap().message;
    assert_eq!(of("updateMeeting"), "Meeting updated.");
    assert_eq!(of("getAiAnalysisRunStatus"), "AI analysis run status retrieved.");
}
