//! The errors of an operation: those that follow from its caller, path, input and answer, and those that its text names.

use std::borrow::Cow;
use std::collections::BTreeSet;

use utoipa::openapi::path::ParameterIn;

use super::texts;
use crate::access::policy::Who;
use crate::api::operation::Operation;
use crate::http::code::Code;

/// An error that an operation may respond with.
#[derive(Debug)]
pub struct DocumentedError {
    pub code: Code,
    /// When it does, if that can be said more exactly than the code's own sentence does.
    pub when: Cow<'static, str>,
}

/// Returns the errors of an operation, ordered by status, the more exact codes of a status first.
#[must_use]
pub fn of(operation: &Operation) -> Vec<DocumentedError> {
    let mut errors: Vec<DocumentedError> = texts::of(operation)
        .unwrap_or_default()
        .errors
        .into_iter()
        .map(|(code, when)| DocumentedError { code, when: when.into() })
        .collect();
    for (code, when) in usual(operation) {
        if !errors.iter().any(|error| error.code == code) {
            errors.push(DocumentedError { code, when: when.into() });
        }
    }
    let covered: BTreeSet<u16> = errors.iter().map(|error| error.code.status).collect();
    for status in operation.errors.iter().filter(|status| **status >= 400 && !covered.contains(status)) {
        let code = Code::of_status(*status);
        errors.push(DocumentedError { code, when: code.sentence.into() });
    }
    errors.sort_by_key(|error| error.code.status);
    errors
}

/// The errors that follow from what the operation is.
fn usual(operation: &Operation) -> Vec<(Code, &'static str)> {
    let mut usual = Vec::new();
    let has_body = operation.input.schema.is_some();
    let has_query = operation.input.parameters.iter().any(|parameter| parameter.parameter_in == ParameterIn::Query);
    let is_service = operation.tag == "Service";
    let is_keyed = operation.who == Who::Service;
    let has_id = operation.path.split('{').skip(1).any(|rest| !rest.to_ascii_lowercase().starts_with("token"));
    if operation.who != Who::Public {
        usual.push((Code::UNAUTHORIZED, unauthorized(operation.who)));
    }
    let is_conditional = operation.errors.contains(&412);
    if has_id {
        let malformed = if is_conditional {
            "An id in the path is not a UUID, or `If-Match` is malformed."
        } else {
            "An id in the path is not a UUID."
        };
        usual.push((Code::BAD_REQUEST, malformed));
        usual.extend(missing(operation));
    }
    if has_id && !is_keyed {
        usual.push((Code::FORBIDDEN, "The resource exists, but the caller lacks the permission."));
    } else if operation.who == Who::Operator {
        usual.push((Code::FORBIDDEN, "The caller is no operator."));
    } else if operation.who == Who::User {
        usual.push((Code::FORBIDDEN, "The caller is a guest of a meeting, whose token is good for nothing else."));
    }
    if has_body {
        let malformed = if is_conditional {
            "An id in the path is not a UUID, or `If-Match` or the body is malformed."
        } else if has_id {
            "An id in the path is not a UUID, or the body is malformed."
        } else {
            "The body is malformed, or of another content type."
        };
        usual.retain(|(code, _)| *code != Code::BAD_REQUEST);
        usual.push((Code::BAD_REQUEST, malformed));
        usual.push((Code::REQUEST_TIMEOUT, "The body arrived too slowly."));
        usual.push((Code::PAYLOAD_TOO_LARGE, "The body is larger than is allowed here."));
    }
    if has_body || has_query {
        usual.push((Code::VALIDATION_ERROR, "A value breaks a rule; `field` and `reason` say which."));
    } else if operation.keyed {
        usual.push((Code::VALIDATION_ERROR, "The Idempotency-Key is malformed; `field` and `reason` say how."));
    }
    if operation.keyed {
        usual.push((
            Code::REQUEST_IN_PROGRESS,
            "The first request with this Idempotency-Key has not been answered yet.",
        ));
        usual.push((Code::IDEMPOTENCY_KEY_REUSED, "The Idempotency-Key was used with another body."));
    }
    if operation.errors.contains(&507) {
        if has_id {
            usual.push((
                Code::QUOTA_EXCEEDED,
                "The project, the account that owns it or the installation has stored as much as it may; `field` says which.",
            ));
        }
        usual.push((Code::STORAGE_FULL, "The server's disk is nearly full, so that nothing is uploaded."));
    }
    if is_conditional {
        usual.push((
            Code::PRECONDITION_FAILED,
            "The resource is no longer in the version of `If-Match`. Nothing was changed.",
        ));
    }
    // Whoever has the service key is not counted.
    if !is_service && !is_keyed {
        usual.push((
            Code::TOO_MANY_REQUESTS,
            "The caller made too many requests; `Retry-After` says when to try again.",
        ));
    }
    if !is_service {
        usual.push((
            Code::INTERNAL_SERVER_ERROR,
            "A fault of the server. The cause is in its log under the request id.",
        ));
        usual.push((
            Code::SERVICE_UNAVAILABLE,
            "The server is overloaded or stopping; `Retry-After` says when to try again.",
        ));
    }
    usual
}

fn unauthorized(who: Who) -> &'static str {
    match who {
        Who::Service => "The service key is missing or wrong.",
        Who::Reviewer => "The review token is missing or unknown.",
        Who::Signed => "The signature is missing or wrong.",
        Who::Internal => "Not from this server: from a proxy before its internal address, if one asks for a key.",
        Who::Ticket => "The ticket or the access token is missing, used, invalid or expired.",
        _ => "The access token is missing, invalid or expired.",
    }
}

fn missing(operation: &Operation) -> Vec<(Code, &'static str)> {
    let names: Vec<&str> = operation.path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect();
    let meeting = (Code::MEETING_NOT_FOUND, "There is no such meeting.");
    match names.as_slice() {
        ["meetingId"] => vec![meeting],
        ["meetingId", ..] => vec![meeting, (Code::NOT_FOUND, "The meeting has no such resource.")],
        [_] => vec![(Code::NOT_FOUND, "There is no such resource.")],
        _ => vec![(Code::NOT_FOUND, "There is no such resource, or it belongs to another one than the path says.")],
    }
}
