//! Validates values against the schemas of the documents that the server gives of itself.
//!
//! The documents allow properties that they do not describe, for clients to be prepared for more. Here they are refused,
//! so that everything that is sent is described.

use std::collections::{BTreeMap, BTreeSet};

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::{Map, Value, json};

/// Compiled schemas.
pub struct Validators {
    schemas: Schemas,
    /// By the pointer to them in the document.
    places: BTreeMap<String, SchemaIndex>,
}

impl Validators {
    /// Compiles the schemas at some pointers of a document with these components.
    pub fn of(components: &Value, pointers: impl Iterator<Item = String>) -> Self {
        let mut components = components.clone();
        let shared = shared(&components);
        close(&mut components, &shared);
        let mut compiler = Compiler::new();
        // The schemas are those of an OpenAPI 3.1 document.
        compiler.set_default_draft(Draft::V2020_12);
        compiler.enable_format_assertions();
        compiler.add_resource("memory:///document", json!({"components": components})).unwrap();
        let (mut schemas, mut places) = (Schemas::new(), BTreeMap::new());
        for pointer in pointers {
            let place = compiler.compile(&format!("memory:///document#{pointer}"), &mut schemas);
            places.insert(pointer, place.unwrap());
        }
        Self { schemas, places }
    }

    /// What the schema at a pointer has against a value.
    pub fn check(&self, pointer: &str, value: &Value) -> Result<(), String> {
        let place = self.places.get(pointer).ok_or_else(|| format!("the document has no {pointer}"))?;
        self.schemas.validate(value, *place).map_err(|error| format!("{error:#}"))
    }
}

/// Lets no object have properties that its schema does not name, except where several schemas describe it together.
fn close(schema: &mut Value, shared: &BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                let is_shared = name == "allOf" || shared.contains(name);
                close(field, shared);
                if is_shared {
                    open(field);
                }
            }
            if is_object_schema(fields) {
                fields.entry("additionalProperties").or_insert(json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| close(item, shared)),
        _ => {}
    }
}

/// Takes back what [`close`] did to a schema, or to each of a list, and to nothing inside of them.
fn open(schema: &mut Value) {
    match schema {
        Value::Object(fields) => drop(fields.remove("additionalProperties")),
        Value::Array(parts) => parts.iter_mut().for_each(open),
        _ => {}
    }
}

/// Returns the names of the components that describe an object together with others.
fn shared(schema: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    match schema {
        Value::Object(fields) => {
            for part in fields.get("allOf").and_then(Value::as_array).into_iter().flatten() {
                let reference = part.get("$ref").and_then(Value::as_str);
                names.extend(reference.and_then(|reference| reference.split('/').next_back()).map(str::to_owned));
            }
            names.extend(fields.values().flat_map(shared));
        }
        Value::Array(items) => names.extend(items.iter().flat_map(shared)),
        _ => {}
    }
    names
}

fn is_object_schema(fields: &Map<String, Value>) -> bool {
    fields.get("properties").is_some_and(Value::is_object) && fields.get("type").is_some_and(|kind| kind == "object")
}
