//! Generates the OpenAPI 3.1 document from the operations, with an example for each response.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use utoipa::openapi::schema::{ArrayBuilder, ObjectBuilder, SchemaType, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::operation::Operation;
use crate::access::policy::Who;
use crate::http::code::Code;
use crate::http::error::FieldError;
use crate::http::fields::TEXT_PATTERN;
use crate::http::reason::Reason;
use crate::http::version;

/// Returns the document for `operations` as JSON.
#[must_use]
pub fn document(operations: &[Operation]) -> Value {
    let mut components: BTreeMap<String, RefOr<Schema>> = BTreeMap::new();
    components.insert("Error".to_owned(), FieldError::schema());
    let mut of_error = Vec::new();
    FieldError::schemas(&mut of_error);
    components.extend(of_error);
    components.insert("Failure".to_owned(), failure_schema().into());
    let bodies: Vec<&str> =
        operations.iter().filter_map(|operation| Some(operation.input.schema.as_ref()?.0.as_str())).collect();
    let mut paths: BTreeMap<&str, BTreeMap<String, Value>> = BTreeMap::new();
    let mut tags: Vec<&str> = Vec::new();
    for operation in operations {
        if !tags.contains(&operation.tag) {
            tags.push(operation.tag);
        }
        for (name, schema) in operation.input.components.iter().chain(&operation.answer.components) {
            components.insert(name.clone(), schema.clone());
        }
        for (name, schema) in operation.input.schema.iter().chain(&operation.answer.data) {
            components.insert(name.clone(), schema.clone());
        }
        let methods = paths.entry(operation.path).or_default();
        methods.insert(operation.method.as_str().to_ascii_lowercase(), described(operation));
    }
    tags.sort_unstable();
    let mut components = json!(components);
    let read = operations.iter().flat_map(|operation| operation.input.components.iter().chain(&operation.input.schema));
    for (name, _) in read {
        if let Some(schema) = components.get_mut(name.as_str()) {
            add_pattern(schema);
        }
    }
    for body in bodies {
        // Bodies are read field by field and reject every other key.
        if let Some(Value::Object(schema)) = components.get_mut(body) {
            schema.insert("additionalProperties".to_owned(), json!(false));
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Colloquy",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The backend that turns conversations into requirements. Every JSON answer is an envelope: \
                {isSuccess, data, message, statusCode, errors}.",
            "license": {"name": "Apache-2.0", "url": "https://www.apache.org/licenses/LICENSE-2.0"},
            "contact": {"name": "The makers of Colloquy"},
        },
        "servers": [{"url": "/"}],
        "tags": tags.iter().map(|tag| json!({"name": tag, "description": about(tag)})).collect::<Vec<_>>(),
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer", "bearerFormat": "JWT"},
                "ticket": {"type": "apiKey", "in": "query", "name": "ticket"},
                "serviceKey": {"type": "http", "scheme": "bearer"},
                "reviewToken": {"type": "apiKey", "in": "header", "name": "X-Review-Token"},
            },
        },
    })
}

/// Adds the pattern of texts to every string of a body whose schema has no format, pattern or enum of its own.
fn add_pattern(schema: &mut Value) {
    let Some(fields) = schema.as_object_mut() else { return };
    let is_text = match fields.get("type") {
        Some(Value::Array(types)) => types.contains(&json!("string")),
        Some(one) => *one == json!("string"),
        None => false,
    };
    if is_text && !["format", "pattern", "enum"].iter().any(|form| fields.contains_key(*form)) {
        fields.insert("pattern".to_owned(), json!(TEXT_PATTERN));
    }
    if let Some(items) = fields.get_mut("items") {
        add_pattern(items);
    }
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        properties.values_mut().for_each(add_pattern);
    }
}

fn failure_schema() -> ObjectBuilder {
    ObjectBuilder::new()
        .description(Some("The response to any failed request."))
        .property("isSuccess", ObjectBuilder::new().schema_type(Type::Boolean).enum_values(Some([false])))
        // Always null, but declared as a nullable object: client generators don't know a type that is only null.
        .property("data", ObjectBuilder::new().schema_type(SchemaType::from_iter([Type::Object, Type::Null])))
        .property("message", ObjectBuilder::new().schema_type(Type::String))
        .property("statusCode", ObjectBuilder::new().schema_type(Type::Integer))
        .property("errors", ArrayBuilder::new().items(Ref::from_schema_name("Error")))
        .required("isSuccess")
        .required("data")
        .required("message")
        .required("statusCode")
        .required("errors")
}

/// Returns the error statuses that an operation documents: its own, and the usual ones where they can occur.
#[must_use]
pub fn statuses(operation: &Operation) -> Vec<u16> {
    let mut statuses = operation.errors.to_vec();
    let open = operation.who == Who::Public;
    let has_body = operation.input.schema.is_some();
    let is_service = operation.tag == "Service";
    let is_keyed = operation.who == Who::Service;
    let has_id = operation.path.split('{').skip(1).any(|rest| !rest.to_ascii_lowercase().starts_with("token"));
    if !open {
        statuses.push(401);
    }
    if has_id {
        statuses.extend([400, 404]);
    }
    if (has_id && !is_keyed) || operation.who == Who::Operator {
        statuses.push(403);
    }
    if has_body {
        statuses.extend([400, 413, 422]);
    }
    if !operation.input.parameters.is_empty() || operation.keyed {
        statuses.push(422);
    }
    if operation.keyed {
        statuses.push(409);
    }
    if !is_service {
        statuses.extend([500, 503]);
    }
    // Whoever has the service key is not counted.
    if !is_service && !is_keyed {
        statuses.push(429);
    }
    statuses.sort_unstable();
    statuses.dedup();
    statuses
}

fn described(operation: &Operation) -> Value {
    let mut described = json!({
        "tags": [operation.tag],
        "operationId": operation.id,
        "summary": operation.summary,
        "description": format!("Access: {}.", who(operation.who)),
        "parameters": parameters(operation),
        "responses": responses(operation),
        "security": match operation.who {
            Who::Public | Who::Signed | Who::Internal => json!([]),
            Who::Ticket => json!([{"ticket": []}, {"bearer": []}]),
            Who::Service => json!([{"serviceKey": []}]),
            Who::Reviewer => json!([{"reviewToken": []}]),
            _ => json!([{"bearer": []}]),
        },
    });
    if let (Some((name, _)), Some(object)) = (&operation.input.schema, described.as_object_mut()) {
        let content = json!({operation.input.content_type: {"schema": reference(name)}});
        object.insert("requestBody".to_owned(), json!({"required": !operation.input.optional, "content": content}));
    }
    described
}

fn about(tag: &str) -> &'static str {
    match tag {
        "Auth" => "Registration, sign-in and sessions.",
        "Project" => "Projects, which contain documents, meetings and requirements.",
        "Document" => "Uploaded documents and their extracted text.",
        "Results" => "The requirements and user stories of a project.",
        "Project Lookup" => "Members, invitations and stakeholders of a project.",
        "Profile" => "The caller's account, and avatars.",
        "Meetings" => "Scheduling of meetings, and credentials for their media rooms.",
        "Invitations" => "Invitations of project members and guests to a meeting.",
        "Participants" => "Attendance of a meeting and recording consent.",
        "Recordings" => "Recordings of meetings: upload, status, content.",
        "Lifecycle" => "Start and end of a meeting.",
        "AI Runs" => "AI analysis runs over the sources of a project, their progress, and what they propose to change.",
        "AI Results Dashboard" => "The results of a run in one response.",
        "Imports" => "Files of items that were changed elsewhere come back as proposals.",
        "AI Pipeline Internal" => {
            "The AI pipeline as a service of its own (`colloquy pipeline`), on an address of its own."
        }
        "HITL Approval and Regeneration" => "Approval of requirements and user stories, and stories written anew.",
        "Baselines" => "Copies of a project's requirements and user stories as they stood, and what has changed since.",
        "Tracker Integration" => {
            "The issue tracker that a project is connected to, and where its user stories go there."
        }
        "Tracker Exports" => "Approved user stories become issues of the connected tracker, each exactly once.",
        "Trace and search" => "From requirements to their sources, stories and issues.",
        "Operator" => "The whole installation, for its operators: state, storage, runs, jobs.",
        "Glossary" => "The terms of a project, which speech recognition spells as the project does.",
        "Stakeholder" => {
            "Reviews by people outside of the project: invitations, what reviewers see, and feedback on results."
        }
        "Event description" => "The AsyncAPI document of the socket: its frames and every event.",
        "Real time" => "Events over sockets, and webhooks of the media server.",
        _ => "Health, metrics and this document.",
    }
}

fn who(who: Who) -> &'static str {
    match who {
        Who::Public => "anyone",
        Who::User => "any signed-in account",
        Who::UserOrGuest => "any signed-in account, or a guest of a meeting",
        Who::Member => "any member of the project",
        Who::Analyst => "project role ANALYST, MANAGER or OWNER",
        Who::Manager => "project role MANAGER or OWNER",
        Who::Owner => "project role OWNER",
        Who::Host => "the meeting's host or a co-host, or a MANAGER or OWNER of its project",
        Who::Attendee => "a member of the meeting's project, or a person who accepted an invitation to it",
        Who::Listener => {
            "an ANALYST, MANAGER or OWNER of the project, the meeting's host, or a project member who joined it"
        }
        Who::Participant => "a current or former participant of the meeting",
        Who::Ticket => "the bearer of a socket ticket, or of an access token",
        Who::Signed => "the media server, authenticated by the signature in the header Authorization",
        Who::Internal => "internal clients, on the internal address",
        Who::Service => "another part of the system, by the service key, at the address of the pipeline service",
        Who::Operator => "an operator: an account with isOperator",
        Who::Reviewer => {
            "a reviewer: whoever accepted an invitation to review the project's results, by the token in X-Review-Token"
        }
    }
}

fn reference(name: &str) -> Value {
    json!({"$ref": format!("#/components/schemas/{name}")})
}

fn parameters(operation: &Operation) -> Vec<Value> {
    let path_parameters = operation.path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).map(|name| {
        let schema = match name {
            "token" => json!({"type": "string", "pattern": crate::access::one_time::PATTERN}),
            "chunkIndex" => json!({"type": "integer", "minimum": 0, "maximum": 65535}),
            "segmentIndex" => json!({"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u64}),
            _ => json!({"type": "string", "format": "uuid"}),
        };
        json!({"name": name, "in": "path", "required": true, "schema": schema, "description": format!("The {name}.")})
    });
    let queries = operation.input.parameters.iter().filter_map(|parameter| serde_json::to_value(parameter).ok());
    let request_id = json!({
        "name": "X-Request-Id", "in": "header", "required": false, "schema": {"type": "string"},
        "description": "Identifies the request in the response and the log: 1 to 128 visible ASCII characters. Generated if absent.",
    });
    let key = json!({
        "name": "Idempotency-Key", "in": "header", "required": false,
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
        "description": "Makes the request safe to retry: repeated with the same key and body within 24 hours, it takes effect once and returns the same response.",
    });
    let if_match = json!({
        "name": "If-Match", "in": "header", "required": false, "schema": {"type": "string", "pattern": version::PATTERN},
        "description": "The ETag of the version to change. The response is 412 if the resource has changed since.",
    });
    let mut all: Vec<Value> = path_parameters.chain(queries).chain([request_id]).collect();
    if operation.keyed {
        all.push(key);
    }
    if operation.errors.contains(&412) {
        all.push(if_match);
    }
    all
}

fn responses(operation: &Operation) -> BTreeMap<String, Value> {
    let mut responses: BTreeMap<String, Value> =
        statuses(operation).into_iter().map(|status| (status.to_string(), error(operation, status))).collect();
    let mut success = json!({
        "description": "Success.",
        "headers": {"X-Request-Id": {"schema": {"type": "string"}, "description": "The request id."}},
    });
    let mut content = match (&operation.answer.content_type, &operation.answer.data) {
        (Some(content_type), Some((name, _))) => json!({*content_type: {
            "schema": {
                "type": "object",
                "required": ["isSuccess", "data", "message", "statusCode", "errors"],
                "properties": {
                    "isSuccess": {"type": "boolean", "enum": [true]},
                    "data": reference(name),
                    "message": {"type": "string"},
                    "statusCode": {"type": "integer"},
                    "errors": {"type": "array", "items": reference("Error"), "maxItems": 0},
                },
            },
            "examples": {"success": {"value": {
                "isSuccess": true,
                "data": crate::http::example::of(operation.answer.data.as_ref(), &operation.answer.components),
                "message": operation.message, "statusCode": operation.success, "errors": [],
            }}},
        }}),
        (Some("application/json"), None) => json!({"application/json": {"schema": {"type": "object"}}}),
        (Some(content_type), None) => json!({*content_type: {"schema": {"type": "string"}}}),
        (None, _) => Value::Null,
    };
    if let Some(content) = content.as_object_mut() {
        let file = || json!({"schema": {"type": "string"}});
        content.extend(operation.answer.files.iter().map(|file_type| ((*file_type).to_owned(), file())));
    }
    if let (false, Some(object)) = (content.is_null(), success.as_object_mut()) {
        object.insert("content".to_owned(), content);
    }
    if operation.errors.contains(&206) {
        let mut part = success.clone();
        if let Some(object) = part.as_object_mut() {
            object.insert("description".to_owned(), json!("The part of the file that Range asks for."));
        }
        responses.insert("206".to_owned(), part);
    }
    responses.insert(operation.success.to_string(), success);
    if operation.errors.contains(&304) {
        responses.insert("304".to_owned(), json!({"description": "The resource still has the ETag in If-None-Match."}));
    }
    responses
}

fn error(operation: &Operation, status: u16) -> Value {
    let is_meeting = operation.path.contains("{meetingId}");
    let code = match status {
        404 if is_meeting => Code::MEETING_NOT_FOUND,
        _ => Code::of_status(status),
    };
    let at_fault = match code {
        Code::VALIDATION_ERROR => {
            let reason = Reason::TooLong;
            json!({"code": code.name, "message": reason.sentence(), "field": "title", "reason": reason})
        }
        _ => json!({"code": code.name, "message": code.sentence, "field": null, "reason": null}),
    };
    let example = json!({
        "isSuccess": false, "data": null, "message": code.sentence, "statusCode": status, "errors": [at_fault],
    });
    json!({
        "description": code.sentence,
        "content": {"application/json": {"schema": reference("Failure"), "examples": {code.name: {"value": example}}}},
    })
}
