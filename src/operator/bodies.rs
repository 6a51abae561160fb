//! The bodies and queries of requests by operators.

use utoipa::ToSchema;

use crate::http::fields::{Field, Fields, InvalidValue, text};
use crate::http::input::{Body, Query};
use crate::http::reason::Reason;
use crate::jobs::model::JobState;

/// The kind of a job: 1–100 characters.
#[derive(Debug, Clone, ToSchema)]
#[schema(value_type = String, min_length = 1, max_length = 100, example = "mail")]
pub struct JobKind(pub String);

impl Field for JobKind {
    fn parse(value: &serde_json::Value) -> Result<Self, InvalidValue> {
        text(value, 1, 100).map(Self)
    }
}

/// Which jobs are listed.
#[derive(Debug, Query)]
pub struct JobFilter {
    /// Return only jobs in this state; FAILED if absent.
    #[query(default = JobState::Failed)]
    pub state: JobState,
    /// Return only jobs of this kind, such as mail.
    pub kind: Option<JobKind>,
}

/// Which failed jobs to queue again.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(check = Self::check)]
pub struct RetryFailedJobs {
    /// The kind of the jobs that are retried.
    kind: Option<JobKind>,
    /// True, in place of a kind, to retry all failed jobs.
    all: Option<bool>,
}

impl RetryFailedJobs {
    fn check(&self, fields: &mut Fields) {
        if self.kind.is_some() == self.all.unwrap_or(false) {
            fields.fault("kind", Reason::InvalidValue, "Name a kind, or set all to true: one of both.");
        }
    }

    /// The kind of the jobs; all without one.
    #[must_use]
    pub fn kind(self) -> Option<String> {
        self.kind.filter(|_| self.all != Some(true)).map(|kind| kind.0)
    }
}
