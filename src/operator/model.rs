//! Response types of the operations for operators.

use actors::time::Time;
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::enumeration::{Enumeration, wire_enum};
use crate::jobs::model::{JobQueue, JobState};

impl Enumeration for JobState {}

/// The state of the installation.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OperatorOverview {
    /// The version of the server.
    #[schema(example = "0.1.0")]
    pub version: &'static str,
    /// When this server started.
    pub started_at: Time,
    /// Seconds since this server started.
    #[schema(minimum = 0)]
    pub uptime_seconds: u64,
    /// Sockets that clients have open.
    #[schema(minimum = 0)]
    pub open_sockets: usize,
    /// Event streams that clients have open.
    #[schema(minimum = 0)]
    pub open_streams: usize,
    /// HTTP connections, those of sockets and streams among them.
    #[schema(minimum = 0)]
    pub connections: usize,
    /// Queries and writes that wait for the database.
    #[schema(minimum = 0)]
    pub database_waiting: usize,
    /// Runs that are queued or in progress.
    #[schema(minimum = 0)]
    pub unfinished_runs: i64,
    /// Jobs that failed for good, counted up to 10,000.
    #[schema(minimum = 0, maximum = 10000)]
    pub failed_jobs: i64,
    /// What is computed at most once a minute.
    pub figures: InstallationFigures,
}

/// What is too expensive for each call: computed at most once a minute.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstallationFigures {
    /// When the figures were computed.
    pub computed_at: Time,
    pub database: DatabaseFigures,
    /// One entry for each kind of file; absent for a store that did not answer.
    pub storage: Vec<StorageFigures>,
    /// Accounts that were not deleted.
    #[schema(minimum = 0)]
    pub accounts: i64,
    /// Projects in any status.
    #[schema(minimum = 0)]
    pub projects: i64,
    /// Meetings that are LIVE.
    #[schema(minimum = 0)]
    pub live_meetings: i64,
    /// The queues of jobs, one for each kind of which there are any.
    pub queues: Vec<JobQueue>,
    /// When the oldest of all waiting jobs was created; null if none waits.
    #[schema(required)]
    pub oldest_waiting_job_at: Option<Time>,
    /// One entry for each service that this server needs or can use.
    pub dependencies: Vec<Dependency>,
    pub space: SpaceFigures,
}

/// How much may be stored. Below the reserve uploads are refused.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SpaceFigures {
    /// Bytes that all projects have stored: what counts for quotas.
    #[schema(minimum = 0)]
    pub used_bytes: i64,
    /// How many they may store together; null without a limit.
    #[schema(required)]
    pub limit_bytes: Option<i64>,
    /// Bytes that are free on the disk of the data folder; null if that can't be told.
    #[schema(required)]
    pub free_bytes: Option<i64>,
    /// Bytes that are kept free.
    #[schema(minimum = 0)]
    pub reserve_bytes: i64,
}

/// The database of the installation.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DatabaseFigures {
    pub kind: DatabaseKind,
    /// Its size, with indices and free pages.
    #[schema(minimum = 0)]
    pub bytes: i64,
}

/// The database that the server uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DatabaseKind {
    Sqlite,
    Postgresql,
}

/// The files of one kind. A content that is there twice is stored once.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct StorageFigures {
    pub kind: StorageKind,
    /// Number of files.
    #[schema(minimum = 0)]
    pub count: i64,
    /// Their size in bytes.
    #[schema(minimum = 0)]
    pub bytes: i64,
}

wire_enum! {
    /// What stored files are for.
    pub enum StorageKind {
        Documents,
        Recordings,
        Exports,
        Avatars,
    }
}

/// A service that this server needs or can use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Dependency {
    pub name: DependencyName,
    pub status: DependencyStatus,
    /// In words: what is used, why it is unavailable, or what to do.
    pub detail: String,
}

/// A service that this server needs or can use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DependencyName {
    Database,
    MediaServer,
    Speech,
    Pipeline,
    Mail,
}

/// READY: it answered, or nothing speaks against it. NOT_CONFIGURED: this server works without it. UNAVAILABLE: what needs
/// it waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DependencyStatus {
    Ready,
    NotConfigured,
    Unavailable,
}

/// How many jobs were requeued.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RetriedJobs {
    /// How many jobs were queued again.
    #[schema(minimum = 0)]
    pub requeued: usize,
}
