//! Generates the AsyncAPI 3 document of the socket: what a client sends, what it receives, and every event with the
//! schema of its data. The table of topics and events comes from the caller, since their data belongs to the features.

use std::collections::BTreeMap;

use actors::event_kind::EventKind;
use actors::live::TopicKind;
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

    fn reference(&self) -> Value {
        json!({"$ref": format!("#/components/schemas/{}", self.name)})
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

const INTRODUCTION: &str = "\
One socket at `/api/ws` carries the events of any number of topics: `project:<id>`, `meeting:<id>` and `run:<id>`. Every frame is \
a JSON object in a text frame, and its `type` says what it is.

**Perspective.** The document describes the server: it *receives* what clients send (`subscribe`, `unsubscribe`, `ping`) \
and *sends* the rest. `socket` is the connection; the channels `project`, `meeting` and `run` are the topics that share it, \
and `topic` in a frame says which one it belongs to.

**Connecting.** Browsers call `POST /api/ws/tickets` and pass the ticket as the query parameter `ticket`: it opens one socket, \
once, within `expiresIn` seconds. Other clients may send `Authorization: Bearer` with their access token instead. The \
socket lives as long as the session, not as long as the token or the ticket.

**Subscribing.** `subscribed` comes first, with a snapshot: the state as its GET returns it, without what differs by \
caller. The events after it follow, each exactly once and in order: offsets of a topic rise by one. A client that applies \
the events to the snapshot has what GET returns. An event whose `data` is the changed resource replaces it; other events \
say what to read again.

**Resuming.** Keep the `epoch` of the subscription and the `offset` of the last frame. After a lost connection, subscribe \
with `since: {epoch, offset}`: with `recovered: true` the missed events follow in order; with `recovered: false` a fresh \
snapshot replaces what the client has. Events are never skipped silently.

**Errors.** An `error` frame with a `topic` answers a subscription or ends one: `code` is one of the interface's error codes. \
Other subscriptions continue. An `error` without a `topic` precedes a close.";

/// Returns the document as JSON. Schemas that `of_operations`, the components of the OpenAPI document, has by the same
/// name are taken from there.
#[must_use]
pub fn document(topics: &[TopicDescription], events: &[EventDescription], of_operations: &Value) -> Value {
    let mut messages = Map::new();
    for topic in topics {
        let name = topic.kind.as_str();
        messages.insert(format!("{name}.subscribe"), subscribe(topic.kind));
        messages.insert(format!("{name}.unsubscribe"), unsubscribe(topic.kind));
        messages.insert(format!("{name}.subscribed"), subscribed(topic));
    }
    for event in events {
        messages.insert(event.kind.as_str().to_owned(), message_of_event(event));
    }
    messages.insert("error".to_owned(), error());
    messages.insert("ping".to_owned(), ping());
    messages.insert("pong".to_owned(), pong());
    let mut info = openapi::info("Colloquy events", INTRODUCTION);
    if let Some(info) = info.as_object_mut() {
        info.insert("tags".to_owned(), json!([{"name": "Real time", "description": "Events over sockets."}]));
    }
    json!({
        "asyncapi": "3.0.0",
        "info": info,
        "defaultContentType": "application/json",
        "servers": {"colloquy": {
            "host": "{host}",
            "protocol": "wss",
            "description": "The address of the interface; `ws` where it is served without TLS.",
            "variables": {"host": {"default": "localhost:8080", "description": "Host and port of the interface."}},
            "security": [
                {"$ref": "#/components/securitySchemes/ticket"},
                {"$ref": "#/components/securitySchemes/bearer"},
            ],
        }},
        "channels": channels(topics, events),
        "operations": operations(topics, events),
        "components": {
            "schemas": schemas(topics, events, of_operations),
            "messages": messages,
            "securitySchemes": {
                "ticket": {
                    "type": "httpApiKey", "in": "query", "name": "ticket",
                    "description": "A ticket of `POST /api/ws/tickets`, for one socket.",
                },
                "bearer": {
                    "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
                    "description": "The access token of an account, or of a guest of a meeting.",
                },
            },
        },
    })
}

/// The schemas of all data, with those that they refer to.
fn schemas(topics: &[TopicDescription], events: &[EventDescription], of_operations: &Value) -> BTreeMap<String, Value> {
    let snapshots = topics.iter().map(|topic| &topic.snapshot);
    let data: Vec<&DataSchema> = snapshots.chain(events.iter().filter_map(|event| event.data.as_ref())).collect();
    let mut schemas = BTreeMap::from([("Position".to_owned(), position())]);
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

fn channels(topics: &[TopicDescription], events: &[EventDescription]) -> Map<String, Value> {
    let mut channels = Map::new();
    channels.insert("socket".to_owned(), json!({
        "address": "/api/ws",
        "title": "The connection",
        "summary": "The WebSocket that all topics share.",
        "description": "Opened by a GET with `Upgrade: websocket`. Failures before the upgrade are HTTP answers as in \
            the OpenAPI document: 400 for a request that is no handshake, 401 for a used or expired ticket, 403 for a \
            foreign `Origin`, 429 for too many sockets of one account.",
        "servers": [{"$ref": "#/servers/colloquy"}],
        "messages": {
            "ping": {"$ref": "#/components/messages/ping"},
            "pong": {"$ref": "#/components/messages/pong"},
            "error": {"$ref": "#/components/messages/error"},
        },
        "bindings": {"ws": {
            "method": "GET",
            "query": {
                "type": "object",
                "properties": {"ticket": {
                    "type": "string",
                    "description": "A ticket of `POST /api/ws/tickets`. Without it the header `Authorization` is required.",
                }},
            },
            "headers": {
                "type": "object",
                "properties": {"Authorization": {
                    "type": "string",
                    "description": "`Bearer` and an access token: for clients that can set headers.",
                }},
            },
            "bindingVersion": "0.1.0",
        }},
        "x-limits": limits(),
        "x-close-codes": CloseReason::VARIANTS.iter().map(|reason| json!({
            "code": reason.code(), "reason": reason.text(), "advice": reason.advice(),
        })).collect::<Vec<_>>(),
    }));
    for topic in topics {
        let name = topic.kind.as_str();
        let mut messages = Map::new();
        for frame in ["subscribe", "unsubscribe", "subscribed"] {
            let frame = format!("{name}.{frame}");
            messages.insert(frame.clone(), component("messages", &frame));
        }
        for event in events.iter().filter(|event| event.kind.topics().contains(&topic.kind)) {
            messages.insert(event.kind.as_str().to_owned(), component("messages", event.kind.as_str()));
        }
        messages.insert("error".to_owned(), component("messages", "error"));
        let id = format!("{name}Id");
        channels.insert(
            name.to_owned(),
            json!({
                "address": format!("{name}:{{{id}}}"),
                "title": format!("The topic of a {name}"),
                "description": format!(
                    "Carried by the socket at `/api/ws`: the address is the `topic` of its frames. Subscribers: {}.",
                    topic.audience,
                ),
                "servers": [{"$ref": "#/servers/colloquy"}],
                "parameters": {id: {"description": format!("The id of the {name}: a UUID.")}},
                "messages": messages,
            }),
        );
    }
    channels
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
        "description": "A frame or message that a client sends has at most maxFrameBytes. The server sends a WebSocket \
            ping at least every pingIntervalSeconds and closes a socket from which nothing came for silenceSeconds. It \
            sends only as many frames and bytes ahead as its window allows (settings sockets.window_frames and \
            sockets.window_bytes), pings after them, and closes a socket that leaves such a ping unanswered for slowSeconds. \
            A topic keeps its newest retainedEventsPerTopic events, and every event for retainedDays. The number of \
            sockets of an account is a setting (sockets.per_account).",
    })
}

fn operations(topics: &[TopicDescription], events: &[EventDescription]) -> Map<String, Value> {
    let of_channel = |channel: &str, message: &str| json!({"$ref": format!("#/channels/{channel}/messages/{message}")});
    let tags = json!([{"name": "Real time"}]);
    let mut operations = Map::new();
    for topic in topics {
        let name = topic.kind.as_str();
        let title = capitalized(topic.kind);
        let channel = json!({"$ref": format!("#/channels/{name}")});
        operations.insert(format!("subscribeTo{title}"), json!({
            "action": "receive",
            "channel": channel,
            "title": format!("Subscribe to a {name}"),
            "summary": format!("Subscribes the socket to the topic of a {name}."),
            "description": "Answered by `subscribed`, or by `error` when the caller may not subscribe. A repeated \
                subscription to the same topic replaces the former one. Each counts as a call against the caller's limits.",
            "tags": tags,
            "messages": [of_channel(name, &format!("{name}.subscribe"))],
            "reply": {
                "channel": channel,
                "messages": [of_channel(name, &format!("{name}.subscribed")), of_channel(name, "error")],
            },
        }));
        operations.insert(
            format!("unsubscribeFrom{title}"),
            json!({
                "action": "receive",
                "channel": channel,
                "title": format!("Unsubscribe from a {name}"),
                "summary": format!("Ends the socket's subscription to a {name}."),
                "description": "Not answered. Events that were on their way may still arrive.",
                "tags": tags,
                "messages": [of_channel(name, &format!("{name}.unsubscribe"))],
            }),
        );
        let on_topic = events.iter().filter(|event| event.kind.topics().contains(&topic.kind));
        let mut sent: Vec<Value> = on_topic.map(|event| of_channel(name, event.kind.as_str())).collect();
        sent.push(of_channel(name, "error"));
        operations.insert(format!("send{title}Events"), json!({
            "action": "send",
            "channel": channel,
            "title": format!("Events of a {name}"),
            "summary": format!("Sends the events of a {name} to its subscribers."),
            "description": "Every event after the snapshot or the resumed position, once and in order. An `error` ends \
                the subscription: the caller lost access, or the resource was deleted.",
            "tags": tags,
            "messages": sent,
        }));
    }
    let socket = json!({"$ref": "#/channels/socket"});
    operations.insert(
        "ping".to_owned(),
        json!({
            "action": "receive",
            "channel": socket,
            "title": "Ping",
            "summary": "Asks for a `pong`, to see that the connection is alive.",
            "description": "For browsers, whose scripts can't send WebSocket pings.",
            "tags": tags,
            "messages": [of_channel("socket", "ping")],
            "reply": {"channel": socket, "messages": [of_channel("socket", "pong")]},
        }),
    );
    operations.insert(
        "refuseFrame".to_owned(),
        json!({
            "action": "send",
            "channel": socket,
            "title": "Refusal of a frame",
            "summary": "Says why a frame can't be read, before the socket is closed with 1008.",
            "description": "A client that follows this document never receives it.",
            "tags": tags,
            "messages": [of_channel("socket", "error")],
        }),
    );
    operations
}

/// The kind of a topic in the names of operations.
const fn capitalized(kind: TopicKind) -> &'static str {
    match kind {
        TopicKind::Meeting => "Meeting",
        TopicKind::Run => "Run",
        TopicKind::Project => "Project",
    }
}

fn component(section: &str, name: &str) -> Value {
    json!({"$ref": format!("#/components/{section}/{name}")})
}

/// A frame with its `type` and the given properties; all are required but those named in `optional`.
fn frame(kind: &str, properties: Value, optional: &[&str]) -> Value {
    let mut all = Map::new();
    all.insert("type".to_owned(), json!({"type": "string", "const": kind}));
    if let Value::Object(properties) = properties {
        all.extend(properties);
    }
    let required: Vec<&String> = all.keys().filter(|name| !optional.contains(&name.as_str())).collect();
    json!({"type": "object", "required": required, "properties": all})
}

fn topic_name(kinds: &[TopicKind]) -> Value {
    let names: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
    json!({
        "type": "string",
        "pattern": format!("^({}):[0-9a-f]{{8}}(-[0-9a-f]{{4}}){{3}}-[0-9a-f]{{12}}$", names.join("|")),
        "description": "The topic that the frame belongs to.",
    })
}

fn position() -> Value {
    json!({
        "type": "object",
        "description": "A position in the events of a topic.",
        "required": ["epoch", "offset"],
        "properties": {
            "epoch": {"type": "string", "format": "uuid", "description": "The `epoch` of the former subscription."},
            "offset": {"type": "integer", "minimum": 0, "description": "The `offset` of the last frame that was received."},
        },
        "additionalProperties": false,
    })
}

fn offset(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": description})
}

/// A frame that clients send: other properties are refused.
fn sent(kind: &str, properties: Value, optional: &[&str]) -> Value {
    let mut frame = frame(kind, properties, optional);
    if let Some(fields) = frame.as_object_mut() {
        fields.insert("additionalProperties".to_owned(), json!(false));
    }
    frame
}

fn subscribe(kind: TopicKind) -> Value {
    let name = kind.as_str();
    json!({
        "name": "subscribe",
        "title": format!("Subscribe to a {name}"),
        "summary": "Subscribes to a topic, from now or from a former position.",
        "payload": sent("subscribe", json!({
            "topic": topic_name(&[kind]),
            "since": component("schemas", "Position"),
        }), &["since"]),
    })
}

fn unsubscribe(kind: TopicKind) -> Value {
    json!({
        "name": "unsubscribe",
        "title": format!("Unsubscribe from a {}", kind.as_str()),
        "summary": "Ends a subscription.",
        "payload": sent("unsubscribe", json!({"topic": topic_name(&[kind])}), &[]),
    })
}

fn ping() -> Value {
    json!({
        "name": "ping",
        "title": "Ping",
        "summary": "Asks for a pong.",
        "payload": sent("ping", json!({}), &[]),
    })
}

fn pong() -> Value {
    json!({
        "name": "pong",
        "title": "Pong",
        "summary": "The answer to a ping.",
        "payload": frame("pong", json!({}), &[]),
    })
}

fn subscribed(topic: &TopicDescription) -> Value {
    json!({
        "name": "subscribed",
        "title": format!("Subscribed to a {}", topic.kind.as_str()),
        "summary": "The subscription has begun: its snapshot, or the position from which it resumes.",
        "payload": frame("subscribed", json!({
            "topic": topic_name(&[topic.kind]),
            "epoch": {
                "type": "string", "format": "uuid",
                "description": "Identifies the numbering of the topic; offsets of another epoch mean nothing.",
            },
            "offset": offset("The events after this offset follow."),
            "recovered": {
                "type": "boolean",
                "description": "Whether the subscription resumes at `since`: then `snapshot` is null.",
            },
            "snapshot": {"oneOf": [{"type": "null"}, topic.snapshot.reference()]},
        }), &[]),
    })
}

fn message_of_event(event: &EventDescription) -> Value {
    let data = match &event.data {
        Some(data) => data.reference(),
        None => json!({"type": "object", "maxProperties": 0}),
    };
    let name = event.kind.as_str();
    json!({
        "name": name,
        "title": name,
        "summary": event.summary,
        "payload": frame("event", json!({
            "topic": topic_name(event.kind.topics()),
            "offset": offset("One more than that of the topic's event before."),
            "event": {"type": "string", "const": name},
            "at": {"type": "string", "format": "date-time", "description": "When it happened."},
            "data": data,
            "requestId": {"type": "string", "description": "The id of the request that caused it."},
        }), &[]),
    })
}

fn error() -> Value {
    json!({
        "name": "error",
        "title": "Error",
        "summary": "A subscription is refused or has ended, or a frame can't be read.",
        "payload": frame("error", json!({
            "topic": {"type": "string", "description": "The topic as the client named it; absent if it named none."},
            "code": component("schemas", "ErrorCode"),
            "message": {"type": "string", "description": "What happened, for people."},
        }), &["topic"]),
    })
}
