//! The responses of an operation: its success with headers, content and example, and its errors with their codes.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::components::{envelope_name, reference};
use super::examples::Examples;
use super::{errors, headers};
use crate::api::operation::Operation;
use crate::http::answer::{AnswerDescribed, FileSchema};
use crate::http::code::Code;

pub fn of(operation: &Operation, examples: &Examples<'_>) -> BTreeMap<String, Value> {
    let mut responses = failures(operation);
    let success = success(operation, examples);
    if operation.errors.contains(&206) {
        let mut part = success.clone();
        if let Some(part) = part.as_object_mut() {
            let names = success_headers(operation).chain(["Content-Range"]);
            part.insert("description".to_owned(), json!("The part of the file that `Range` asks for."));
            part.insert("headers".to_owned(), headers::references(names));
        }
        responses.insert("206".to_owned(), part);
    }
    if operation.errors.contains(&304) {
        let unchanged = json!({
            "description": "The resource still has the ETag in `If-None-Match`.",
            "headers": headers::references(["X-Request-Id", "ETag"]),
        });
        responses.insert("304".to_owned(), unchanged);
    }
    responses.insert(operation.success.to_string(), success);
    responses
}

fn success_headers(operation: &Operation) -> impl Iterator<Item = &'static str> {
    let etag = operation.errors.contains(&304) && !operation.answer.headers.contains(&"ETag");
    ["X-Request-Id"].into_iter().chain(operation.answer.headers.iter().copied()).chain(etag.then_some("ETag"))
}

fn success(operation: &Operation, examples: &Examples<'_>) -> Value {
    let description = match operation.message {
        "" => match operation.success {
            101 => "The connection is a WebSocket.",
            302 => "The browser is sent on.",
            _ => "The content.",
        },
        message => message,
    };
    let mut success = json!({"description": description, "headers": headers::references(success_headers(operation))});
    let content = content(operation, examples);
    if let (false, Some(success)) = (content.is_empty(), success.as_object_mut()) {
        success.insert("content".to_owned(), content.into());
    }
    success
}

fn content(operation: &Operation, examples: &Examples<'_>) -> Map<String, Value> {
    let answer = &operation.answer;
    let mut content = Map::new();
    if let Some((data, _)) = &answer.data {
        let told = examples.story.response(operation.id).cloned();
        let data_example = told.unwrap_or_else(|| examples.of(&reference(data)));
        let enveloped = json!({
            "schema": reference(&envelope_name(data)),
            "examples": {"success": {"value": {
                "isSuccess": true, "data": data_example, "message": operation.message, "statusCode": operation.success, "errors": [],
            }}},
        });
        content.insert("application/json".to_owned(), enveloped);
    }
    for media_type in &answer.files {
        // Without its parameters, such as the charset.
        let media_type = media_type.split(';').next().unwrap_or_default();
        content.insert(media_type.to_owned(), json!({"schema": file_schema(answer)}));
    }
    content
}

/// What a response without an envelope contains.
fn file_schema(answer: &AnswerDescribed) -> Value {
    match answer.file {
        FileSchema::Bytes => json!({"type": "string", "format": "binary"}),
        FileSchema::Text => json!({"type": "string"}),
        FileSchema::Object => json!({"type": "object"}),
        FileSchema::Events => {
            let event = answer.components.first().map(|(name, _)| reference(name));
            json!({"type": "string", "contentMediaType": "text/event-stream", "contentSchema": event})
        }
    }
}

/// The errors by status; one response has an example for each of its codes.
fn failures(operation: &Operation) -> BTreeMap<String, Value> {
    let mut by_status: BTreeMap<u16, Vec<errors::DocumentedError>> = BTreeMap::new();
    for error in errors::of(operation) {
        by_status.entry(error.code.status).or_default().push(error);
    }
    let failure =
        |(status, errors): (u16, Vec<errors::DocumentedError>)| (status.to_string(), failure(status, &errors));
    by_status.into_iter().map(failure).collect()
}

fn failure(status: u16, errors: &[errors::DocumentedError]) -> Value {
    let description = match errors {
        [error] => format!("`{}`: {}", error.code.name, error.when),
        several => several
            .iter()
            .map(|error| format!("- `{}`: {}", error.code.name, error.when))
            .collect::<Vec<_>>()
            .join("\n"),
    };
    let example = |error: &errors::DocumentedError| {
        (error.code.name.to_owned(), json!({"$ref": format!("#/components/examples/{}", error.code.name)}))
    };
    let examples: Map<String, Value> = errors.iter().map(example).collect();
    let may_wait =
        matches!(status, 429 | 502 | 503) || errors.iter().any(|error| error.code == Code::REQUEST_IN_PROGRESS);
    let names = [
        Some("X-Request-Id"),
        may_wait.then_some("Retry-After"),
        (status == 401).then_some("WWW-Authenticate"),
        (status == 416).then_some("Content-Range"),
        (status == 416).then_some("Accept-Ranges"),
    ];
    json!({
        "description": description,
        "headers": headers::references(names.into_iter().flatten()),
        "content": {"application/json": {"schema": reference("Failure"), "examples": examples}},
    })
}
