//! Jobs as an operator sees them: plain types, without what the jobs work on.

use actors::ids::Id;
use actors::time::Time;
use actors::wire_enum;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use super::Job;
use super::mail::EmailKind;

wire_enum! {
    /// WAITING: due now or later. RUNNING: at work. FAILED: given up, with its last error.
    pub enum JobState {
        Waiting,
        Running,
        Failed,
    }
}

/// A job as an operator sees it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorJob {
    pub id: Id<Job>,
    /// What the job is for, such as `mail`.
    #[schema(example = "mail")]
    pub kind: String,
    pub state: JobState,
    /// How often it was tried since it was created or retried.
    #[schema(minimum = 0)]
    pub attempts: i64,
    pub created_at: Time,
    /// When it is due.
    pub run_at: Time,
    /// When it was given up; null unless it is FAILED.
    #[schema(required)]
    pub failed_at: Option<Time>,
    /// Why its last attempt failed, with e-mail addresses masked.
    #[schema(required)]
    pub last_error: Option<String>,
    /// The e-mail that a job of the kind `mail` sends; null for other kinds, and when it can't be decrypted any more.
    #[schema(required)]
    pub email: Option<EmailSummary>,
}

/// A queued e-mail: neither its address nor its subject nor its text, in which there may be a code or a token.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EmailSummary {
    pub kind: EmailKind,
    /// The first letter and the domain of the address.
    #[schema(example = "a…@example.org")]
    pub recipient: String,
}

/// A page of the jobs in a state, newest first.
#[derive(Debug, Clone)]
pub struct JobQuery {
    pub state: JobState,
    /// Of any kind without one.
    pub kind: Option<String>,
    /// The exclusive upper bound of the ids.
    pub before: Uuid,
    pub limit: i64,
}

impl JobQuery {
    pub(super) const fn before(&self) -> Uuid {
        self.before
    }
}

/// How many jobs of a kind there are in each state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobQueue {
    /// What the jobs are for, such as `mail`.
    #[schema(example = "mail")]
    pub kind: String,
    /// Jobs that are due now or later.
    #[schema(minimum = 0)]
    pub waiting: i64,
    /// Jobs that are at work.
    #[schema(minimum = 0)]
    pub running: i64,
    /// Jobs that were given up.
    #[schema(minimum = 0)]
    pub failed: i64,
    /// When the oldest waiting job was created; null if none waits.
    #[schema(required)]
    pub oldest_waiting_at: Option<Time>,
}
