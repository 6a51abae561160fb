//! Validates what sockets and event streams receive against the AsyncAPI document, so that every story which opens one
//! holds the document to what is really sent.
//!
//! The document allows properties that it does not describe, for clients to be prepared for more. Here they are refused,
//! so that it describes all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use serde_json::{Map, Value, json};

static DOCUMENT: LazyLock<Value> = LazyLock::new(document);
static VALIDATORS: LazyLock<Validators> = LazyLock::new(Validators::of_document);

/// The schemas of all messages, compiled.
struct Validators {
    schemas: Schemas,
    /// By the pointer to them in the document.
    places: BTreeMap<String, SchemaIndex>,
}

/// Returns the document as the server makes it.
pub fn document() -> Value {
    colloquy::events::document(&colloquy::api::openapi::document(&colloquy::routes::all()))
}

/// Panics unless the document describes the frame, on the channel of its topic.
#[track_caller]
pub fn check(frame: &Value) {
    if let Err(fault) = fault(frame) {
        panic!("{fault}\nin the frame {frame}");
    }
}

/// Panics unless the document lists the code of a close frame that the server has sent of its own accord.
#[track_caller]
pub fn check_close(code: u16) {
    let listed = DOCUMENT["channels"]["socket"]["x-close-codes"].as_array().unwrap();
    // A close of the client is answered with its own code.
    let is_listed = code == 1000 || listed.iter().any(|one| one["code"] == code);
    assert!(is_listed, "the close code {code} is not in {listed:?}");
}

/// Panics unless the data is what the document says of events of that kind.
#[track_caller]
pub fn check_data(event: &str, data: &Value) {
    if let Err(fault) = validated(&format!("/components/messages/{event}/payload/properties/data"), data) {
        panic!("{event}: {fault}\nin the data {data}");
    }
}

/// What the document has against a frame.
pub fn fault(frame: &Value) -> Result<(), String> {
    let topic = frame["topic"].as_str().and_then(|topic| topic.split(':').next()).unwrap_or_default();
    let kind = frame["type"].as_str().unwrap_or_default();
    let (channel, message) = match kind {
        "event" => (topic, frame["event"].as_str().unwrap_or_default().to_owned()),
        "subscribed" => (topic, format!("{topic}.subscribed")),
        _ => ("socket", kind.to_owned()),
    };
    if DOCUMENT["channels"][channel]["messages"].get(&message).is_none() {
        return Err(format!("the channel {channel:?} has no message {message:?}"));
    }
    validated(&format!("/components/messages/{message}/payload"), frame)
}

fn validated(pointer: &str, value: &Value) -> Result<(), String> {
    let place = VALIDATORS.places.get(pointer).ok_or_else(|| format!("the document has no {pointer}"))?;
    VALIDATORS.schemas.validate(value, *place).map_err(|error| format!("{error:#}"))
}

impl Validators {
    fn of_document() -> Self {
        let mut components = DOCUMENT["components"].clone();
        let shared = shared(&components);
        close(&mut components, &shared);
        let mut compiler = Compiler::new();
        // The schemas are those of an OpenAPI 3.1 document.
        compiler.set_default_draft(Draft::V2020_12);
        compiler.enable_format_assertions();
        compiler.add_resource("memory:///asyncapi", json!({"components": components})).unwrap();
        let (mut schemas, mut places) = (Schemas::new(), BTreeMap::new());
        for (name, message) in DOCUMENT["components"]["messages"].as_object().unwrap() {
            for part in ["/payload", "/payload/properties/data"] {
                if message.pointer(part).is_some() {
                    let pointer = format!("/components/messages/{name}{part}");
                    let place = compiler.compile(&format!("memory:///asyncapi#{pointer}"), &mut schemas);
                    places.insert(pointer, place.unwrap());
                }
            }
        }
        Self { schemas, places }
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
