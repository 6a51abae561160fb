//! An error on its way to the client: a code from the table, a sentence, the fields at fault, and a cause for the log.

use std::fmt;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;

use super::code::Code;
use super::envelope;
use crate::db::Failed;

/// How many things at fault one answer names, and how much it says: both come from what was sent.
pub const MOST_FAULTS: usize = 20;
const MOST_SAID: usize = 500;
const MOST_OF_A_PATH: usize = 200;

/// What the client is told, and what the log keeps.
#[derive(Debug, Clone)]
pub struct Failure {
    pub code: Code,
    pub message: String,
    pub faults: Vec<Fault>,
    pub retry_after: Option<Duration>,
    /// For the log alone.
    pub cause: Option<Box<str>>,
}

/// One thing that is wrong, as an item of the envelope's `errors`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, utoipa::ToSchema)]
#[schema(as = Error)]
pub struct Fault {
    /// A name from the table of codes.
    pub code: &'static str,
    pub message: String,
    /// A JSON path such as `invitees[2].email`.
    #[schema(required)]
    pub field: Option<String>,
}

impl Failure {
    #[must_use]
    pub fn of(code: Code) -> Self {
        Self { code, message: code.sentence.to_owned(), faults: Vec::new(), retry_after: None, cause: None }
    }

    #[must_use]
    pub fn saying(code: Code, message: impl Into<String>) -> Self {
        Self { message: message.into(), ..Self::of(code) }
    }

    /// 422 with every field at fault.
    #[must_use]
    pub fn invalid(faults: Vec<Fault>) -> Self {
        Self { faults, ..Self::of(Code::VALIDATION_ERROR) }
    }

    /// 422 for one field.
    #[must_use]
    pub fn field(field: &str, code: Code, message: impl Into<String>) -> Self {
        Self::invalid(vec![Fault { code: code.name, message: message.into(), field: Some(field.to_owned()) }])
    }

    /// 500; the client learns nothing of the cause.
    #[must_use]
    pub fn internal(cause: impl fmt::Display) -> Self {
        Self { cause: Some(cause.to_string().into()), ..Self::of(Code::INTERNAL_SERVER_ERROR) }
    }

    /// 503 with Retry-After.
    #[must_use]
    pub fn unavailable(cause: impl fmt::Display) -> Self {
        Self {
            cause: Some(cause.to_string().into()),
            retry_after: Some(Duration::from_secs(1)),
            ..Self::of(Code::SERVICE_UNAVAILABLE)
        }
    }

    /// 429 with Retry-After.
    #[must_use]
    pub fn too_many(retry_after: Duration) -> Self {
        Self { retry_after: Some(retry_after), ..Self::of(Code::TOO_MANY_REQUESTS) }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code.name, self.cause.as_deref().unwrap_or(&self.message))
    }
}

impl ResponseError for Failure {
    fn status_code(&self) -> StatusCode {
        StatusCode::from_u16(self.code.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    fn error_response(&self) -> HttpResponse {
        match &self.cause {
            Some(cause) if self.code.status >= 500 => tracing::error!(code = self.code.name, cause, "request failed"),
            Some(cause) => tracing::info!(code = self.code.name, cause, "request refused"),
            None => tracing::debug!(code = self.code.name, message = self.message, "request refused"),
        }
        let message = cut(&self.message, MOST_SAID);
        let own = || vec![Fault { code: self.code.name, message: message.clone(), field: None }];
        let faults: Vec<Fault> = self.faults.iter().take(MOST_FAULTS).map(Fault::cut).collect();
        let errors = if faults.is_empty() { own() } else { faults };
        let mut response = HttpResponse::build(self.status_code());
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            response.insert_header((header::RETRY_AFTER, seconds.max(1).to_string()));
        }
        if self.code.status == 401 {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        response.content_type(envelope::JSON).body(envelope::failure(self.code.status, &message, &errors))
    }
}

impl Fault {
    /// As long as it may be in an answer: nobody gets what they sent back at its length.
    fn cut(&self) -> Self {
        let field = self.field.as_deref().map(|field| cut(field, MOST_OF_A_PATH));
        Self { message: cut(&self.message, MOST_SAID), field, ..self.clone() }
    }
}

/// The beginning of a text that is longer than `most` characters.
#[must_use]
pub fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// What the database couldn't do, as clients see it: 503 where it may work later, 500 where it is our mistake.
impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Busy | Failed::Unavailable(_) | Failed::Unknown(_) => Self::unavailable(failed),
            Failed::Violated(..) | Failed::Broken(_) => Self::internal(failed),
        }
    }
}

#[cfg(test)]
mod tests {
    use actix_web::ResponseError;
    use actix_web::body::MessageBody;

    use super::{Code, Failure, Fault, cut};

    #[test]
    fn an_answer_says_little_whatever_was_at_fault() {
        let fault = Fault { code: "InvalidValue", message: "ä".repeat(1 << 20), field: Some("€".repeat(1 << 20)) };
        let failures = [
            Failure::invalid(vec![fault; 1000]),
            Failure::saying(Code::BAD_REQUEST, "\u{1}".repeat(1 << 20)),
            Failure::field(&"x".repeat(1 << 20), Code::REQUIRED, "y".repeat(1 << 20)),
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
