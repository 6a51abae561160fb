//! Builds examples for the OpenAPI document from the schemas: the example of the schema itself if it has one, otherwise
//! a value of its type.

use serde_json::{Map, Value, json};
use utoipa::openapi::{RefOr, Schema};

/// Returns an example of a schema. `components` holds the schemas that it refers to.
#[must_use]
pub fn of(schema: Option<&(String, RefOr<Schema>)>, components: &[(String, RefOr<Schema>)]) -> Value {
    let all: Vec<(String, Value)> = components
        .iter()
        .chain(schema)
        .filter_map(|(name, schema)| Some((name.clone(), serde_json::to_value(schema).ok()?)))
        .collect();
    let root = schema.and_then(|(_, schema)| serde_json::to_value(schema).ok());
    root.map_or(Value::Null, |root| build(&root, &all, 0))
}

fn build(schema: &Value, all: &[(String, Value)], depth: usize) -> Value {
    if depth > 16 {
        return Value::Null;
    }
    if let Some(example) = schema.get("example") {
        return example.clone();
    }
    if let Some(first) = schema.get("examples").and_then(|examples| examples.get(0)) {
        return first.clone();
    }
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let name = reference.rsplit('/').next().unwrap_or_default();
        let found = all.iter().find(|(known, _)| known == name);
        return found.map_or(Value::Null, |(_, schema)| build(schema, all, depth + 1));
    }
    if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
        let parts = parts.iter().map(|part| build(part, all, depth + 1));
        let fields = parts.filter_map(|part| if let Value::Object(fields) = part { Some(fields) } else { None });
        return Value::Object(fields.flatten().collect());
    }
    for several in ["oneOf", "anyOf"] {
        if let Some(choices) = schema.get(several).and_then(Value::as_array) {
            let chosen = choices.iter().find(|choice| choice.get("type") != Some(&json!("null")));
            return chosen.map_or(Value::Null, |choice| build(choice, all, depth + 1));
        }
    }
    if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
        return first.clone();
    }
    let types = match schema.get("type") {
        Some(Value::Array(types)) => types.iter().find(|one| *one != "null").and_then(Value::as_str),
        Some(Value::String(one)) => Some(one.as_str()),
        _ => None,
    };
    match (types, schema.get("format").and_then(Value::as_str)) {
        (Some("string"), Some("uuid")) => json!("0192a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b"),
        (Some("string"), Some("date-time")) => json!("2026-01-31T09:30:00.000Z"),
        (Some("string"), Some("date")) => json!("2026-01-31"),
        (Some("string"), Some("email")) => json!("ada@example.org"),
        (Some("string"), _) => {
            // As long as it has to be, such as a hash.
            let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or_default();
            let least = usize::try_from(least).unwrap_or_default();
            json!(if least > 4 { "0".repeat(least) } else { "text".to_owned() })
        }
        (Some("integer"), _) => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
        (Some("number"), _) => json!(0.5),
        (Some("boolean"), _) => json!(true),
        (Some("array"), _) => schema.get("items").map_or(json!([]), |items| json!([build(items, all, depth + 1)])),
        (Some("object"), _) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let built =
                properties.into_iter().flatten().map(|(name, schema)| (name.clone(), build(schema, all, depth + 1)));
            Value::Object(built.collect::<Map<_, _>>())
        }
        _ => Value::Null,
    }
}
