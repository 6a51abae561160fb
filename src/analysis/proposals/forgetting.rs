//! Deletes the drafts of proposals of a run that ended without a result, page by page: there may be many.

use std::time::Duration;

use actors::ids::Id;
use actors::live::RequestId;
use actors::run::Run;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use super::store::drafts::{forget_page, has_drafts};
use crate::analysis::state::Analysis;
use crate::analysis::store;
use crate::db::sweep::{PAGE, in_pages};
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobPayload, Turns};

/// Deletes the drafts of a run, unless it was retried: then they are those of the next attempt, which begins without any.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ForgetProposalDrafts {
    run_id: Id<Run>,
}

impl JobPayload for ForgetProposalDrafts {
    const KIND: &'static str = "forget-proposal-drafts";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues the job if the run has drafts. Returns whether it has.
///
/// # Errors
/// Only database errors.
pub async fn enqueue(conn: &mut Conn, run: &Run, now: Time, request: &RequestId) -> Result<bool, DbError> {
    if !has_drafts(conn, run.id).await? {
        return Ok(false);
    }
    let (project, job) = (run.project_id.to_string(), ForgetProposalDrafts { run_id: run.id });
    jobs::enqueue_in_turn(conn, &project, &job, now, request).await?;
    Ok(true)
}

/// Runs [`ForgetProposalDrafts`]. Idempotent.
pub struct ForgetProposalDraftsHandler {
    pub state: Analysis,
}

#[async_trait]
impl Handler for ForgetProposalDraftsHandler {
    type Payload = ForgetProposalDrafts;

    /// What is deleted stays deleted: the next attempt goes on with the other pages.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, _: &Job, ForgetProposalDrafts { run_id }: ForgetProposalDrafts) -> Result<(), JobError> {
        let stopping = self.state.tasks.stopping();
        let forgotten = in_pages(&self.state.db, &stopping, move |conn| {
            Box::pin(async move {
                if store::is_over(conn, run_id).await? { forget_page(conn, run_id, PAGE).await } else { Ok(0) }
            })
        });
        forgotten.await?;
        if stopping.is_cancelled() {
            return Err(JobError::Again("the server is stopping".to_owned()));
        }
        Ok(())
    }
}
