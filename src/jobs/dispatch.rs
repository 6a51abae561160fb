//! Dispatch of jobs of any kind: parses a payload and passes it to the handler of its kind.

use std::time::Duration;

use actors::live::EventRecord;
use actors::time::Time;
use async_trait::async_trait;

use super::{Handler, Job, JobError, JobOutcome, JobPayload, RetryPolicy, Turns};
use crate::db::{Conn, DbError};

/// A [`Handler`] without the type of its payload, so that the handlers of all kinds fit into one map.
#[async_trait]
pub trait AnyHandler: Send + Sync + 'static {
    fn retry_policy(&self) -> RetryPolicy;
    fn concurrency(&self) -> usize;
    fn time_limit(&self) -> Duration;
    fn turns(&self) -> Turns;
    async fn run(&self, job: &Job) -> Result<(), JobError>;
    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError>;
}

#[async_trait]
impl<H: Handler> AnyHandler for H {
    fn retry_policy(&self) -> RetryPolicy {
        Handler::retry_policy(self)
    }

    fn concurrency(&self) -> usize {
        Handler::concurrency(self)
    }

    fn time_limit(&self) -> Duration {
        Handler::time_limit(self)
    }

    fn turns(&self) -> Turns {
        H::Payload::TURNS
    }

    async fn run(&self, job: &Job) -> Result<(), JobError> {
        let payload = serde_json::from_str(&job.payload);
        let payload = payload.map_err(|error| JobError::Never(format!("the payload can't be parsed: {error}")))?;
        Handler::run(self, job, payload).await
    }

    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        Handler::ended(self, conn, job, serde_json::from_str(&job.payload).ok(), outcome, now).await
    }
}
