//! The examples of the document: one for each error, and one for the data of each operation.

use serde_json::{Map, Value, json};

use super::components::Components;
use super::errors;
use super::story::Story;
use crate::api::operation::Operation;
use crate::http::code::Code;
use crate::http::reason::Reason;

/// An example of each error that some operation responds with, by the name of its code.
pub fn of_errors(operations: &[Operation]) -> Map<String, Value> {
    let errors = operations.iter().flat_map(errors::of);
    errors.map(|error| (error.code.name.to_owned(), of_error(error.code))).collect()
}

fn of_error(code: Code) -> Value {
    let error = match code {
        Code::VALIDATION_ERROR => {
            let reason = Reason::TooLong;
            json!({"code": code.name, "message": reason.sentence(), "field": "title", "reason": reason})
        }
        _ => json!({"code": code.name, "message": code.sentence, "field": null, "reason": null}),
    };
    let failure = json!({
        "isSuccess": false, "data": null, "message": code.sentence, "statusCode": code.status, "errors": [error],
    });
    json!({"summary": code.sentence, "value": failure})
}

/// Builds examples of schemas: the example of the schema itself if it has one, otherwise a value of its type, from the
/// story where it has one of the same name.
pub struct Examples<'a> {
    pub components: &'a Components,
    pub story: &'a Story,
}

impl Examples<'_> {
    pub fn of(&self, schema: &Value) -> Value {
        self.build(schema, "", 0)
    }

    fn build(&self, schema: &Value, name: &str, depth: usize) -> Value {
        if depth > 16 {
            return Value::Null;
        }
        let own = schema.get("example").or_else(|| schema.get("examples").and_then(|examples| examples.get(0)));
        if let Some(example) = own {
            return example.clone();
        }
        if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
            let component = self.components.get(reference.rsplit('/').next().unwrap_or_default());
            return component.map_or(Value::Null, |schema| self.build(schema, name, depth + 1));
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let parts = parts.iter().map(|part| self.build(part, name, depth + 1));
            let fields = parts.filter_map(|part| if let Value::Object(fields) = part { Some(fields) } else { None });
            return Value::Object(fields.flatten().collect());
        }
        for several in ["oneOf", "anyOf"] {
            if let Some(choices) = schema.get(several).and_then(Value::as_array) {
                let chosen = choices.iter().find(|choice| choice.get("type") != Some(&json!("null")));
                return chosen.map_or(Value::Null, |choice| self.build(choice, name, depth + 1));
            }
        }
        if let Some(first) = schema.get("enum").and_then(|values| values.get(0)) {
            return first.clone();
        }
        self.of_type(schema, name, depth)
    }

    fn of_type(&self, schema: &Value, name: &str, depth: usize) -> Value {
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.iter().find(|one| *one != "null").and_then(Value::as_str),
            Some(Value::String(one)) => Some(one.as_str()),
            _ => None,
        };
        let told = |otherwise: &str| self.story.property(name).cloned().unwrap_or_else(|| json!(otherwise));
        match (types, schema.get("format").and_then(Value::as_str)) {
            (Some("string"), Some("uuid")) => told("0193b6a0-8c00-7000-8000-000000000099"),
            (Some("string"), Some("date-time")) => told("2026-11-24T09:30:00.000Z"),
            (Some("string"), Some("date")) => json!("2026-12-01"),
            (Some("string"), Some("email")) => told("ada@example.org"),
            (Some("string"), _) => {
                // As long as it has to be, such as a hash.
                let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or_default();
                let least = usize::try_from(least).unwrap_or_default();
                json!(if least > 4 { "0".repeat(least) } else { "text".to_owned() })
            }
            (Some("integer"), _) => schema.get("minimum").cloned().unwrap_or_else(|| json!(1)),
            (Some("number"), _) => json!(0.5),
            (Some("boolean"), _) => json!(true),
            (Some("array"), _) => {
                schema.get("items").map_or(json!([]), |items| json!([self.build(items, "", depth + 1)]))
            }
            (Some("object"), _) => {
                let properties = schema.get("properties").and_then(Value::as_object);
                let built = properties
                    .into_iter()
                    .flatten()
                    .map(|(name, schema)| (name.clone(), self.build(schema, name, depth + 1)));
                Value::Object(built.collect::<Map<_, _>>())
            }
            _ => Value::Null,
        }
    }
}
