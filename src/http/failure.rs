//! An error on its way to the client: a code from the table, a sentence, the fields at fault, and a cause for the log.

use std::fmt;
use std::time::Duration;

use actix_web::http::{StatusCode, header};
use actix_web::{HttpResponse, ResponseError};
use serde::Serialize;

use super::code::Code;
use super::envelope;
use crate::db::Failed;

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
        let own = [Fault { code: self.code.name, message: self.message.clone(), field: None }];
        let errors = if self.faults.is_empty() { own.as_slice() } else { self.faults.as_slice() };
        let mut response = HttpResponse::build(self.status_code());
        if let Some(wait) = self.retry_after {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            response.insert_header((header::RETRY_AFTER, seconds.max(1).to_string()));
        }
        if self.code.status == 401 {
            response.insert_header((header::WWW_AUTHENTICATE, "Bearer"));
        }
        response.content_type(envelope::JSON).body(envelope::failure(self.code.status, &self.message, errors))
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
