//! Tests of what the OpenAPI document says in words: every operation, parameter and property is described, and every
//! error is one of the table.

use std::collections::BTreeSet;

use colloquy::api::openapi;
use colloquy::api::operation::Operation;
use colloquy::http::code::Code;
use colloquy::routes;
use serde_json::Value;

use crate::support::schemas::Validators;

/// The codes of requests that come to no operation.
const BEFORE_OPERATIONS: [Code; 3] = [Code::METHOD_NOT_ALLOWED, Code::URI_TOO_LONG, Code::HEADERS_TOO_LARGE];

/// The statuses that an operation may have without its line in the route table naming them.
const USUAL: [u16; 10] = [400, 401, 403, 404, 408, 413, 422, 429, 500, 503];

fn document() -> Value {
    openapi::document(&routes::all())
}

#[test]
fn every_json_body_has_an_example_that_its_schema_takes() {
    let document = document();
    let operations =
        document["paths"].as_object().unwrap().values().flat_map(|methods| methods.as_object().unwrap().values());
    let bodies = operations.filter_map(|operation| {
        let content = &operation["requestBody"]["content"]["application/json"];
        content.is_object().then(|| (operation["operationId"].as_str().unwrap(), content))
    });
    let mut examples = Vec::new();
    for (id, content) in bodies {
        let pointer = content["schema"]["$ref"].as_str().unwrap()[1..].to_owned();
        let story = content["examples"]["story"]["value"].clone();
        assert!(story.is_object(), "{id} has no example of its body");
        examples.push((id, pointer, story));
    }
    assert!(examples.len() > 50, "{}", examples.len());
    let schemas = Validators::of(&document["components"], examples.iter().map(|(_, pointer, _)| pointer.clone()));
    for (id, pointer, example) in &examples {
        assert_eq!(schemas.check(pointer, example), Ok(()), "{id}: {example}");
    }
}

#[test]
fn every_operation_has_a_text_and_every_text_an_operation() {
    let operations = routes::all();
    let mut faults: Vec<String> = operations.iter().filter_map(|operation| openapi::text(operation).err()).collect();
    let known: BTreeSet<&str> = operations.iter().map(|operation| operation.id).collect();
    let files: BTreeSet<&str> = operations.iter().map(|operation| operation.texts).collect();
    for heading in files.iter().flat_map(|file| file.lines()).filter_map(|line| line.strip_prefix("## ")) {
        if !known.contains(heading) {
            faults.push(format!("{heading} is no operation"));
        }
    }
    for operation in &operations {
        let Ok(text) = openapi::text(operation) else { continue };
        if !text.description.ends_with('.') || text.description.split_whitespace().count() < 5 {
            faults.push(format!("{} is not described: {}", operation.id, text.description));
        }
        let mut codes = BTreeSet::new();
        for (code, when) in &text.errors {
            if !codes.insert(code.name) || !when.ends_with('.') {
                faults.push(format!("{}: {} twice, or without a sentence", operation.id, code.name));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_error_has_a_status_of_its_operation_and_every_code_an_operation() {
    let operations = routes::all();
    let mut faults = Vec::new();
    let mut named = BTreeSet::new();
    for operation in &operations {
        let errors = openapi::errors(operation);
        let redirected = openapi::text(operation).unwrap().redirected;
        named.extend(redirected.iter().map(|(code, _)| code.name));
        named.extend(errors.iter().map(|error| error.code.name));
        for error in &errors {
            let Code { name, status, .. } = error.code;
            let is_told = operation.errors.contains(&status) || USUAL.contains(&status);
            let is_usual = matches!(error.code, Code::REQUEST_IN_PROGRESS) && operation.keyed;
            if !is_told && !is_usual {
                faults.push(format!(
                    "{}: {name} has the status {status}, which the route table does not name",
                    operation.id
                ));
            }
        }
        let is_exact = |status: u16| errors.iter().any(|error| error.code.status == status);
        faults.extend(
            operation
                .errors
                .iter()
                .filter(|status| **status >= 400 && !is_exact(**status))
                .map(|status| format!("{}: no code for {status}", operation.id)),
        );
        // 409 has no meaning of its own: the text has to say which states and conflicts there are.
        if operation.errors.contains(&409) && !text_names(operation, 409) {
            faults.push(format!("{}: the text does not say when the status is 409", operation.id));
        }
    }
    for code in Code::ALL {
        if named.contains(code.name) == BEFORE_OPERATIONS.contains(code) {
            faults.push(format!("{} is documented wrongly", code.name));
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

fn text_names(operation: &Operation, status: u16) -> bool {
    openapi::text(operation).is_ok_and(|text| text.errors.iter().any(|(code, _)| code.status == status))
}

/// Whether a property is described: by itself, or by the components that it refers to.
fn is_described(document: &Value, property: &Value) -> bool {
    if property["description"].as_str().is_some_and(|text| !text.is_empty()) {
        return true;
    }
    if let Some(reference) = property["$ref"].as_str() {
        return is_described(document, document.pointer(reference.trim_start_matches('#')).unwrap());
    }
    ["oneOf", "anyOf", "allOf"].iter().any(|several| {
        let choices = property[several].as_array().into_iter().flatten().filter(|choice| choice["type"] != "null");
        let described: Vec<bool> = choices.map(|choice| is_described(document, choice)).collect();
        !described.is_empty() && described.iter().all(|is_described| *is_described)
    })
}

fn check(document: &Value, place: &str, schema: &Value, faults: &mut Vec<String>) {
    if !schema.is_object() {
        return;
    }
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        let place = format!("{place}.{name}");
        if !is_described(document, property) {
            faults.push(format!("{place} is not described"));
        }
        check(document, &place, property, faults);
    }
    let is_text = schema["type"].as_str() == Some("string")
        || schema["type"].as_array().is_some_and(|types| types.contains(&"string".into()));
    if is_text && schema["enum"].is_array() && place.contains(['.', ' ']) {
        faults.push(format!("{place} is an enumeration without a name"));
    }
    for part in ["items", "additionalProperties", "propertyNames"].iter().map(|part| &schema[part]) {
        check(document, &format!("{place}."), part, faults);
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        schema[several].as_array().into_iter().flatten().for_each(|part| check(document, place, part, faults));
    }
}

#[test]
fn every_schema_and_every_property_is_described_and_every_enumeration_has_a_name() {
    let document = document();
    let mut faults = Vec::new();
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        if !is_described(&document, schema) {
            faults.push(format!("{name} is not described"));
        }
        check(&document, name, schema, &mut faults);
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn every_parameter_and_header_is_described() {
    let document = document();
    let mut faults = Vec::new();
    for (path, methods) in document["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for parameter in operation["parameters"].as_array().unwrap() {
                let place = format!("{method} {path} {}", parameter["name"]);
                if !is_described(&document, parameter) {
                    faults.push(format!("{place} is not described"));
                }
                check(&document, &place, &parameter["schema"], &mut faults);
            }
        }
    }
    for kind in ["parameters", "headers"] {
        for (name, component) in document["components"][kind].as_object().unwrap() {
            if !is_described(&document, component) {
                faults.push(format!("{kind}: {name} is not described"));
            }
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_catalogue_of_errors_is_the_table() {
    let written = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/errors.md")).unwrap();
    let table = openapi::error_catalogue(&routes::all());
    assert!(written == table, "docs/errors.md is old: cargo run -- openapi --errors > docs/errors.md");
}
