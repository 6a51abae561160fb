//! Generates the AsyncAPI 3 document of the socket: what a client sends, what it receives, and every event with the
//! schema of its data. The table of topics and events comes from the caller, since their data belongs to the features.
//!
//! What is always the same is in `asyncapi.json`: the document around its topics and events (`document`), and what is added to it
//! for each topic and each event. In the names and texts of those, `{topic}`, `{event}` and so on are placeholders. The
//! introduction is `asyncapi.md`.

use std::sync::LazyLock;

use actors::event_kind::EventKind;
use actors::live::TopicKind;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use strum::VariantArray;
use utoipa::ToSchema;
use utoipa::openapi::{RefOr, Schema};

use super::close_reasons::CloseReason;
use super::socket::{HEARTBEAT, MAX_FRAME_BYTES, MAX_SUBSCRIPTIONS, SILENCE};
use super::window::SLOW;
use crate::api::openapi;
use crate::db::events::{RETAINED_EVENTS, RETAINED_FOR};

/// The schema of data that frames contain, with the components it refers to.
pub struct DataSchema {
    name: String,
    schema: RefOr<Schema>,
    components: Vec<(String, RefOr<Schema>)>,
}

impl DataSchema {
    #[must_use]
    pub fn of<T: ToSchema>() -> Self {
        let mut components = Vec::new();
        T::schemas(&mut components);
        Self { name: T::name().into_owned(), schema: T::schema(), components }
    }

    fn find(&self, name: &str) -> Option<Value> {
        if self.name == name {
            return Some(json!(self.schema));
        }
        let component = self.components.iter().find(|(component, _)| component == name);
        component.map(|(_, schema)| json!(schema))
    }
}

/// A kind of topics that clients subscribe to.
pub struct TopicDescription {
    pub kind: TopicKind,
    /// Who may subscribe.
    pub audience: &'static str,
    pub snapshot: DataSchema,
}

/// A kind of events.
pub struct EventDescription {
    pub kind: EventKind,
    /// What has happened, as a sentence.
    pub summary: &'static str,
    /// `None`: the data is an empty object.
    pub data: Option<DataSchema>,
}

const INTRODUCTION: &str = include_str!("asyncapi.md");

/// The parts of `asyncapi.json`. Each but `document` has the shape of the document, and is merged into it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Templates {
    document: Value,
    topic: Value,
    event: Value,
    /// An event on each of its topics.
    event_of_topic: Value,
    /// What follows after the events of a topic.
    end_of_topic: Value,
}

#[expect(
    clippy::expect_used,
    reason = "the file is a constant of the program, and every test of the document reads it"
)]
static TEMPLATES: LazyLock<Templates> =
    LazyLock::new(|| serde_json::from_str(include_str!("asyncapi.json")).expect("the program's templates can be read"));

/// Returns the document as JSON. Schemas that `of_operations`, the components of the OpenAPI document, has by the same
/// name are taken from there.
#[must_use]
pub fn document(topics: &[TopicDescription], events: &[EventDescription], of_operations: &Value) -> Value {
    let paragraphs: Vec<String> = INTRODUCTION.trim_end().split("\n\n").map(|text| text.replace('\n', " ")).collect();
    let mut document = TEMPLATES.document.clone();
    merge(
        &mut document,
        json!({
            "info": openapi::info("Colloquy events", &paragraphs.join("\n\n")),
            "channels": {"socket": {"x-limits": limits(), "x-close-codes": close_codes()}},
            "components": {"schemas": schemas(topics, events, of_operations)},
        }),
    );
    for topic in topics {
        let name = topic.kind.as_str();
        let words = [
            ("topic", name),
            ("Topic", capitalized(topic.kind)),
            ("audience", topic.audience),
            ("snapshot", &topic.snapshot.name),
        ];
        merge(&mut document, filled(&TEMPLATES.topic, &words));
        for event in events.iter().filter(|event| event.kind.topics().contains(&topic.kind)) {
            let words = [("topic", name), ("Topic", capitalized(topic.kind)), ("event", event.kind.as_str())];
            merge(&mut document, filled(&TEMPLATES.event_of_topic, &words));
        }
        merge(&mut document, filled(&TEMPLATES.end_of_topic, &words));
    }
    events.iter().for_each(|event| merge(&mut document, described(event)));
    document
}

/// The message of an event.
fn described(event: &EventDescription) -> Value {
    let name = event.kind.as_str();
    let topics: Vec<&str> = event.kind.topics().iter().map(|kind| kind.as_str()).collect();
    let data = event.data.as_ref().map_or("", |data| &data.name);
    let words = [("event", name), ("summary", event.summary), ("topics", &topics.join("|")), ("data", data)];
    let mut described = filled(&TEMPLATES.event, &words);
    if event.data.is_none()
        && let Some(data) = described.pointer_mut(&format!("/components/messages/{name}/payload/properties/data"))
    {
        *data = json!({"type": "object", "maxProperties": 0});
    }
    described
}

/// Replaces the placeholders in the names and texts of a template.
fn filled(template: &Value, words: &[(&str, &str)]) -> Value {
    let fill = |text: &str| {
        words.iter().fold(text.to_owned(), |text, (name, word)| text.replace(&format!("{{{name}}}"), word))
    };
    match template {
        Value::String(text) => Value::String(fill(text)),
        Value::Array(items) => items.iter().map(|item| filled(item, words)).collect(),
        Value::Object(fields) => fields.iter().map(|(name, value)| (fill(name), filled(value, words))).collect(),
        other => other.clone(),
    }
}

/// Adds a part to a document of the same shape: what both have is merged, and lists grow.
fn merge(document: &mut Value, part: Value) {
    match (document, part) {
        (Value::Object(fields), Value::Object(part)) => {
            for (name, value) in part {
                match fields.get_mut(&name) {
                    Some(field) => merge(field, value),
                    None => drop(fields.insert(name, value)),
                }
            }
        }
        (Value::Array(items), Value::Array(part)) => items.extend(part),
        (value, part) => *value = part,
    }
}

fn limits() -> Value {
    json!({
        "maxFrameBytes": MAX_FRAME_BYTES,
        "maxSubscriptionsPerSocket": MAX_SUBSCRIPTIONS,
        "pingIntervalSeconds": HEARTBEAT.as_secs(),
        "silenceSeconds": SILENCE.as_secs(),
        "slowSeconds": SLOW.as_secs(),
        "retainedEventsPerTopic": RETAINED_EVENTS,
        "retainedDays": RETAINED_FOR.as_secs() / (24 * 60 * 60),
    })
}

fn close_codes() -> Value {
    let code =
        |reason: &CloseReason| json!({"code": reason.code(), "reason": reason.text(), "advice": reason.advice()});
    CloseReason::VARIANTS.iter().map(code).collect()
}

/// The kind of a topic in the names of operations.
const fn capitalized(kind: TopicKind) -> &'static str {
    match kind {
        TopicKind::Meeting => "Meeting",
        TopicKind::Run => "Run",
        TopicKind::Project => "Project",
    }
}

/// The schemas of all data, with those that they refer to.
fn schemas(topics: &[TopicDescription], events: &[EventDescription], of_operations: &Value) -> Map<String, Value> {
    let snapshots = topics.iter().map(|topic| &topic.snapshot);
    let data: Vec<&DataSchema> = snapshots.chain(events.iter().filter_map(|event| event.data.as_ref())).collect();
    let mut schemas = Map::new();
    let mut wanted: Vec<String> = data.iter().map(|data| data.name.clone()).chain(["ErrorCode".to_owned()]).collect();
    while let Some(name) = wanted.pop() {
        if schemas.contains_key(&name) {
            continue;
        }
        let of_operations = of_operations.get(&name).cloned();
        if let Some(schema) = of_operations.or_else(|| data.iter().find_map(|data| data.find(&name))) {
            add_references(&schema, &mut wanted);
            schemas.insert(name, schema);
        }
    }
    schemas
}

/// Adds the names of the schemas that a schema refers to.
fn add_references(schema: &Value, names: &mut Vec<String>) {
    match schema {
        Value::Object(fields) => {
            let reference = fields.get("$ref").and_then(Value::as_str);
            names.extend(reference.and_then(|reference| reference.rsplit('/').next()).map(str::to_owned));
            fields.values().for_each(|field| add_references(field, names));
        }
        Value::Array(items) => items.iter().for_each(|item| add_references(item, names)),
        _ => {}
    }
}
