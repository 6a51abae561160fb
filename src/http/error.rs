//! The error type of the HTTP layer: a code from the table, a message, the invalid fields, and a cause for the log.

use std::time::Duration;
use std::{fmt, io};

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use actors::live::Unsaved;
use actors::shell::CommandError;
use serde::Serialize;

use super::code::Code;
use super::ready::{self, PreparedAnswer};
use super::reason::Reason;
use crate::db::DbError;

/// The most items of `errors` in one response, and the longest texts in characters. Both are limited because they can
/// come from what the client sent.
pub const MAX_FAULTS: usize = 20;
const MAX_MESSAGE_LENGTH: usize = 500;
const MAX_PATH_LENGTH: usize = 200;

/// An error response, and what is logged about it.
#[derive(Debug, Clone)]
pub struct ApiError {
    pub code: Code,
    pub message: String,
    pub faults: Vec<FieldError>,
    pub retry_after: Option<Duration>,
    /// Logged, never sent to the client.
    pub cause: Option<Box<str>>,
}

/// An item of the envelope's `errors`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = Error)]
pub struct FieldError {
    /// What went wrong. `ValidationError` if a value breaks a rule.
    #[schema(value_type = Code)]
    code: &'static str,
    /// A sentence for people, in English. Programs go by the code.
    message: String,
    /// The value at fault, as a JSON path such as `invitees[2].email`; null if the error concerns no single value.
    #[schema(required)]
    field: Option<String>,
    /// The rule that the value breaks; null unless the code is `ValidationError`.
    #[schema(required)]
    reason: Option<Reason>,
}

impl FieldError {
    /// An error with a code of its own.
    #[must_use]
    pub fn of(code: Code, field: Option<String>, message: impl Into<String>) -> Self {
        Self { code: code.name, message: message.into(), field, reason: None }
    }

    /// A value that breaks a rule.
    #[must_use]
    pub fn value(reason: Reason, field: Option<String>, message: impl Into<String>) -> Self {
        Self { code: Code::VALIDATION_ERROR.name, message: message.into(), field, reason: Some(reason) }
    }

    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Prefixes the field's path with the path of its container: `email` in `invitees[2]` becomes `invitees[2].email`.
    #[must_use]
    pub fn within(self, container: &str) -> Self {
        let field = self.field.map_or_else(|| container.to_owned(), |field| format!("{container}.{field}"));
        Self { field: Some(field), ..self }
    }
}

impl ApiError {
    #[must_use]
    pub fn of(code: Code) -> Self {
        Self { code, message: code.sentence.to_owned(), faults: Vec::new(), retry_after: None, cause: None }
    }

    #[must_use]
    pub fn with_message(code: Code, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::of(code) }
    }

    /// 422 with all invalid fields.
    #[must_use]
    pub fn invalid(faults: Vec<FieldError>) -> Self {
        Self { faults, ..Self::of(Code::VALIDATION_ERROR) }
    }

    /// 422 for one field that breaks a rule.
    #[must_use]
    pub fn field(field: &str, reason: Reason, message: impl Into<String>) -> Self {
        Self::invalid(vec![FieldError::value(reason, Some(field.to_owned()), message)])
    }

    /// 422 for a broken rule that concerns no single field.
    #[must_use]
    pub fn invalid_request(reason: Reason, message: impl Into<String>) -> Self {
        let message = message.into();
        let faults = vec![FieldError::value(reason, None, message.clone())];
        Self { message, ..Self::invalid(faults) }
    }

    /// An error with a code of its own that concerns one field.
    #[must_use]
    pub fn at(field: &str, code: Code, message: impl Into<String>) -> Self {
        let message = message.into();
        let faults = vec![FieldError::of(code, Some(field.to_owned()), message.clone())];
        Self { message, faults, ..Self::of(code) }
    }

    /// 500. The cause is logged and not sent to the client.
    #[must_use]
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self { cause: Some(cause.to_string().into()), ..Self::of(Code::INTERNAL_SERVER_ERROR) }
    }

    /// 503 with `Retry-After: 1`.
    #[must_use]
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        Self {
            cause: Some(cause.to_string().into()),
            retry_after: Some(Duration::from_secs(1)),
            ..Self::of(Code::SERVICE_UNAVAILABLE)
        }
    }

    /// The error for a stored file that can't be opened: 500 if it is missing or was changed, else 503.
    #[must_use]
    pub fn of_stored_file(error: &io::Error) -> Self {
        let changed = "The stored file was changed after it was stored, so it is not given out.";
        match error.kind() {
            io::ErrorKind::NotFound => Self::internal(error),
            io::ErrorKind::InvalidData => Self { message: changed.to_owned(), ..Self::internal(error) },
            _ => Self::unavailable(error),
        }
    }

    /// The error for a file that can't be written: 507 if the disk is full, else 503.
    #[must_use]
    pub fn of_write(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                Self { cause: Some(error.to_string().into()), ..Self::of(Code::STORAGE_FULL) }
            }
            _ => Self::unavailable(error),
        }
    }

    /// 429 with Retry-After.
    #[must_use]
    pub fn too_many(retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..Self::of(Code::TOO_MANY_REQUESTS) }
    }
}

impl fmt::Display for ApiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name, self.cause.as_deref().unwrap_or(&self.message))
    }
}

impl ResponseError for ApiError {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        self.ready().response()
    }
}

impl ApiError {
    /// Builds the response and logs the cause.
    #[must_use]
    pub fn ready(&self) -> PreparedAnswer {
        match &self.cause {
            Some(cause) if self.code.status >= 500 => tracing::error!(code = self.code.name, cause, "request failed"),
            Some(cause) => tracing::info!(code = self.code.name, cause, "request refused"),
            None => tracing::debug!(code = self.code.name, message = self.message, "request refused"),
        }
        let message = cut(&self.message, MAX_MESSAGE_LENGTH);
        let own = [match self.code {
            Code::VALIDATION_ERROR => FieldError::value(Reason::InvalidValue, None, message.clone()),
            code => FieldError::of(code, None, message.clone()),
        }];
        let faults: Vec<FieldError> = self.faults.iter().take(MAX_FAULTS).map(FieldError::cut).collect();
        let errors = if faults.is_empty() { own.as_slice() } else { faults.as_slice() };
        let ready = PreparedAnswer::json(self.status_code(), ready::failure_bytes(self.code.status, &message, errors));
        let ready = match self.retry_after {
            Some(wait) => {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                ready.with(header::RETRY_AFTER, seconds.max(1).to_string())
            }
            None => ready,
        };
        if self.code.status == 401 { ready.with(header::WWW_AUTHENTICATE, "Bearer") } else { ready }
    }
}

impl FieldError {
    /// Truncates the texts to what a response may contain, so that clients don't get back what they sent in full
    /// length.
    fn cut(&self) -> Self {
        let field = self.field.as_deref().map(|field| cut(field, MAX_PATH_LENGTH));
        Self { message: cut(&self.message, MAX_MESSAGE_LENGTH), field, ..self.clone() }
    }
}

/// Truncates a text to `most` characters and marks the cut with `…`.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

impl ApiError {
    /// A command that an actor did not carry out: a refusal as `refused` maps it; `missing` for an unknown key; 503
    /// where a retry may succeed; 500 for a defect of the server.
    #[must_use]
    pub fn of_command<R>(failure: CommandError<R>, missing: Code, refused: impl FnOnce(R) -> Self) -> Self {
        match failure {
            CommandError::Refused(refusal) => refused(refusal),
            CommandError::Missing => Self::of(missing),
            CommandError::Busy => Self::unavailable("too many commands wait for it"),
            CommandError::Unsaved(Unsaved::Conflict) => Self::unavailable("another writer was first"),
            CommandError::Unsaved(Unsaved::Failed(why) | Unsaved::Unknown(why)) => Self::unavailable(why),
            CommandError::Broken => Self::internal("deciding panicked"),
        }
    }
}

/// Database errors as clients see them: 503 if a retry may succeed, 500 if the server is at fault.
impl From<DbError> for ApiError {
    fn from(failed: DbError) -> Self {
        match failed {
            DbError::Busy | DbError::Unavailable(_) | DbError::Unknown(_) => Self::unavailable(failed),
            DbError::Violated(..) | DbError::Broken(_) => Self::internal(failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::ResponseError;
    use actix_web::body::MessageBody;

    use super::{ApiError, Code, FieldError, Reason, cut};

    #[test]
    fn an_answer_says_little_whatever_was_at_fault() {
        let fault = FieldError::value(Reason::InvalidValue, Some("€".repeat(1 << 20)), "ä".repeat(1 << 20));
        let failures = [
            ApiError::invalid(vec![fault; 1000]),
            ApiError::with_message(Code::BAD_REQUEST, "\u{1}".repeat(1 << 20)),
            ApiError::field(&"x".repeat(1 << 20), Reason::Required, "y".repeat(1 << 20)),
        ];
        for failure in failures {
            let body = failure.error_response().into_body().try_into_bytes().unwrap();
            assert!(body.len() < 48 * 1024, "{}", body.len());
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            assert!(body["errors"].as_array().unwrap().len() <= 20);
        }
        assert_eq!((cut("äöü", 3), cut("äöü", 2)), ("äöü".to_owned(), "äö…".to_owned()));
    }
}
