//! The parameters of requests: ids in the path, queries, and the headers that many operations share.

use serde_json::{Map, Value, json};
use utoipa::openapi::path::ParameterIn;

use super::examples::Examples;
use crate::access::one_time;
use crate::api::operation::Operation;
use crate::http::version;

/// Returns the parameters of an operation.
pub fn of(operation: &Operation, examples: &Examples<'_>) -> Vec<Value> {
    let in_path = operation
        .path
        .split('{')
        .skip(1)
        .filter_map(|rest| rest.split('}').next())
        .map(|name| in_path(operation, name, examples));
    let own = operation.input.parameters.iter().filter_map(|parameter| {
        let mut parameter = serde_json::to_value(parameter).ok()?;
        examples.components.name_enumerations(parameter.get_mut("schema")?);
        Some(parameter)
    });
    let mut parameters: Vec<Value> = in_path.chain(own).collect();
    let mut shared = vec!["XRequestId"];
    if operation.keyed {
        shared.push("IdempotencyKey");
    }
    if operation.errors.contains(&412) {
        shared.push("IfMatch");
    }
    if operation.errors.contains(&304) {
        shared.push("IfNoneMatch");
    }
    parameters.extend(shared.iter().map(|name| json!({"$ref": format!("#/components/parameters/{name}")})));
    parameters
}

/// The headers that many operations share.
pub fn components() -> Map<String, Value> {
    let headers = [
        (
            "XRequestId",
            "X-Request-Id",
            json!({"type": "string"}),
            "Identifies the request in the response, in the log and in what it causes: 1–128 visible ASCII characters. Anything \
             else is replaced; absent, an id is generated.",
        ),
        (
            "IdempotencyKey",
            "Idempotency-Key",
            json!({"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"}),
            "Makes the request safe to repeat: with the same key and body it takes effect once within 24 hours, and each \
             repetition gets the first response. A key belongs to the caller and the path.",
        ),
        (
            "IfMatch",
            "If-Match",
            json!({"type": "string", "pattern": version::PATTERN}),
            "The ETag of the version that the change applies to; a newer version is a 412 and nothing is changed. Without it, or \
             with `*`, the change applies to the newest version.",
        ),
        (
            "IfNoneMatch",
            "If-None-Match",
            json!({"type": "string"}),
            "The ETag of the version that the client has. While it is the newest, the response is a 304 without content.",
        ),
    ];
    let component = |(component, name, schema, description)| {
        let parameter = json!({
            "name": name, "in": ParameterIn::Header, "required": false, "schema": schema, "description": description,
        });
        (String::from(component), parameter)
    };
    headers.into_iter().map(component).collect()
}

fn in_path(operation: &Operation, name: &str, examples: &Examples<'_>) -> Value {
    let schema = match name {
        "token" => json!({"type": "string", "pattern": one_time::PATTERN}),
        "chunkIndex" => json!({"type": "integer", "minimum": 0, "maximum": 65535}),
        "segmentIndex" => json!({"type": "integer", "minimum": 0, "maximum": 4_294_967_295_u64}),
        "version" => json!({"type": "integer", "minimum": 1, "maximum": 4_294_967_295_u64}),
        "trackerProjectId" => json!({"type": "string", "minLength": 1, "maxLength": 300}),
        _ => json!({"type": "string", "format": "uuid"}),
    };
    let mut parameter =
        json!({"name": name, "in": "path", "required": true, "schema": schema, "description": about(name)});
    if let (Some(example), Some(parameter)) = (examples.story.in_path(operation.id, name), parameter.as_object_mut()) {
        parameter.insert("example".to_owned(), example.clone());
    }
    parameter
}

fn about(name: &str) -> &'static str {
    match name {
        "projectId" => "Id of the project.",
        "meetingId" => "Id of the meeting.",
        "documentId" => "Id of a document of this project.",
        "sessionId" => "Id of one of the caller's sessions, from `listSessions`.",
        "userId" => "Id of the account, not of a membership.",
        "memberId" => "Id of the membership in this project, from `listProjectMembers`; not the id of the account.",
        "invitationId" => {
            "Id of an invitation to the resource that the path begins with. The token in the mailed link is another one."
        }
        "participantId" => {
            "Id of a participant of this meeting, from `listMeetingParticipants`; not the id of the account."
        }
        "recordingId" => "Id of the recording.",
        "chunkIndex" => {
            "Place of the chunk in the recording, from 0 and without a gap. Chunks may arrive in any order."
        }
        "version" => "The number of a version, from `listDocumentVersions`.",
        "segmentIndex" => "The `index` of the segment in the transcript, from 0.",
        "runId" => "Id of an AI analysis run of this project.",
        "proposalId" => "Id of a proposal of this project, from `listProposals`.",
        "exportId" => "Id of an export of this project.",
        "importId" => "Id of an import of this project.",
        "requirementId" => "Id of a requirement of this project; not its code such as `REQ-001`.",
        "userStoryId" => "Id of a user story of this project; not its code such as `US-001`.",
        "feedbackId" => "Id of a feedback of this project.",
        "baselineId" => "Id of a baseline of this project.",
        "trackerProjectId" => "Id of the project at the issue tracker, from `listTrackerProjects`.",
        "jobId" => "Id of the job.",
        "token" => "The secret in the link that was mailed to the invited person.",
        _ => "",
    }
}
