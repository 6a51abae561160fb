//! Validates what sockets and event streams receive against the AsyncAPI document, so that every story which opens one
//! holds the document to what is really sent.

use std::sync::LazyLock;

use serde_json::Value;

use super::schemas::Validators;

static DOCUMENT: LazyLock<Value> = LazyLock::new(document);
static VALIDATORS: LazyLock<Validators> = LazyLock::new(validators);

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
    VALIDATORS.check(pointer, value)
}

/// Compiles the schemas of all messages.
fn validators() -> Validators {
    let messages = DOCUMENT["components"]["messages"].as_object().unwrap();
    let parts = |(name, message): (&String, &Value)| {
        let there = ["/payload", "/payload/properties/data"].into_iter().filter(|part| message.pointer(part).is_some());
        there.map(|part| format!("/components/messages/{name}{part}")).collect::<Vec<_>>()
    };
    Validators::of(&DOCUMENT["components"], messages.iter().flat_map(parts))
}
