//! Tests of the AsyncAPI document. That it describes the frames which are really sent is held by every story that opens
//! a socket: see `support::frames`.

use std::collections::BTreeSet;

use actors::event_kind::EventKind;
use colloquy::routes;
use serde_json::{Value, json};
use strum::VariantArray;

use crate::support::{World, frames};

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(fields.get("$ref").and_then(Value::as_str).map(str::to_owned));
            fields.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        _ => {}
    }
}

on_sqlite! {
    async fn the_server_serves_the_document_to_everybody(world: World) {
        let answer = world.nobody.get("/api/asyncapi.json").await.is(200);
        assert_eq!(answer.body, frames::document());
        assert_eq!(answer.body["asyncapi"], "3.0.0");
    }
}

#[test]
fn the_program_prints_the_asyncapi_document() {
    let printed = std::process::Command::new(env!("CARGO_BIN_EXE_colloquy")).arg("asyncapi").output().unwrap();
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    assert_eq!(printed, frames::document());
}

#[test]
fn every_reference_of_the_asyncapi_document_resolves_and_everything_is_used() {
    let document = frames::document();
    let mut used = BTreeSet::new();
    references(&document, &mut used);
    for reference in &used {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("{reference} is elsewhere"));
        assert!(document.pointer(pointer).is_some(), "{reference} leads nowhere");
    }
    for section in ["schemas", "messages", "securitySchemes"] {
        for name in document["components"][section].as_object().unwrap().keys() {
            assert!(used.contains(&format!("#/components/{section}/{name}")), "{section}/{name} is used nowhere");
        }
    }
    for (channel, content) in document["channels"].as_object().unwrap() {
        for message in content["messages"].as_object().unwrap().keys() {
            let is_sent = used.contains(&format!("#/channels/{channel}/messages/{message}"));
            assert!(is_sent, "no operation has the message {message} of {channel}");
        }
    }
}

#[test]
fn the_messages_of_an_operation_are_of_its_channel() {
    let document = frames::document();
    for (name, operation) in document["operations"].as_object().unwrap() {
        let mut places = vec![operation];
        places.extend(operation.get("reply"));
        for place in places {
            let channel = place["channel"]["$ref"].as_str().unwrap();
            for message in place["messages"].as_array().unwrap() {
                let message = message["$ref"].as_str().unwrap();
                assert!(message.starts_with(&format!("{channel}/messages/")), "{name}: {message} is not of {channel}");
            }
        }
    }
}

/// One resource has one schema, whether it comes in an answer or in an event.
#[test]
fn both_documents_describe_a_resource_alike() {
    let (events, operations) = (frames::document(), colloquy::api::openapi::document(&routes::all()));
    let of_operations = operations["components"]["schemas"].as_object().unwrap();
    let shared: Vec<&str> = events["components"]["schemas"]
        .as_object()
        .unwrap()
        .iter()
        .filter_map(|(name, schema)| {
            let other = of_operations.get(name)?;
            assert_eq!(schema, other, "{name}");
            Some(name.as_str())
        })
        .collect();
    for name in ["AiAnalysisRun", "Document", "Meeting", "Recording", "TrackerExport", "DashboardExport"] {
        assert!(shared.contains(&name), "{name} is not in both: {shared:?}");
    }
}

#[test]
fn every_kind_of_event_is_on_the_channels_of_its_topics_and_on_no_other() {
    let document = frames::document();
    for kind in EventKind::VARIANTS {
        let on: Vec<&str> = ["meeting", "project", "run", "socket"]
            .into_iter()
            .filter(|channel| document["channels"][channel]["messages"].get(kind.as_str()).is_some())
            .collect();
        let mut topics: Vec<&str> = kind.topics().iter().map(|topic| topic.as_str()).collect();
        topics.sort_unstable();
        assert_eq!(on, topics, "{kind}");
    }
}

/// Frames that the document does not describe fail a story, so the stories can't pass by a check that takes anything.
#[test]
fn a_frame_that_is_not_described_is_a_fault() {
    let topic = "project:0189a0f0-0000-7000-8000-000000000000";
    let member = json!({
        "id": "0189a0f0-0000-7000-8000-000000000001", "userId": "0189a0f0-0000-7000-8000-000000000002", "role": null,
    });
    let good = json!({
        "type": "event", "topic": topic, "offset": 3, "event": "member.changed", "at": "2026-01-31T09:00:00.000Z",
        "data": member, "requestId": "r",
    });
    assert_eq!(frames::fault(&good), Ok(()));
    let with = |change: fn(&mut Value)| {
        let mut frame = good.clone();
        change(&mut frame);
        frames::fault(&frame)
    };
    let bad: [fn(&mut Value); 9] = [
        |frame| frame["event"] = json!("member.vanished"),
        |frame| frame["event"] = json!("meeting.started"),
        |frame| frame["topic"] = json!("run:0189a0f0-0000-7000-8000-000000000000"),
        |frame| frame["topic"] = json!("project:1"),
        |frame| frame["data"]["role"] = json!("KING"),
        |frame| frame["data"]["userId"] = json!("nobody"),
        |frame| frame["data"]["name"] = json!("Ada"),
        |frame| drop(frame.as_object_mut().unwrap().remove("at")),
        |frame| frame["extra"] = json!(1),
    ];
    for (number, change) in bad.into_iter().enumerate() {
        assert!(with(change).is_err(), "change {number} is described");
    }
    let refused = |code: &str| frames::fault(&json!({"type": "error", "topic": topic, "code": code, "message": "No."}));
    assert_eq!(refused("Forbidden"), Ok(()));
    assert!(refused("Banana").is_err(), "a code that is none is described");
}
