//! AI analysis runs, their results, the dashboard, and its exports as files.
//!
//! ```text
//! start --> QUEUED --runner--> attempt --> pipeline (a child process, or the pipeline service) --draft--> items, dashboard
//!              |                   |
//!              `---- the run's actor: progress, outcome, cancel, retry ----> events
//! ```
//! A run is an actor (`actors::run`); the runner executes unfinished runs and reports their progress to the actor. What it
//! found is reconciled with the items of the project ([`findings`]): together they are the specification, under codes that
//! never change. What each run found stays beside it (`run_results`). All is published in the transaction that completes the
//! run: a run that ends in any other way leaves nothing behind.

mod attempt;
pub mod audience;
pub mod backend;
pub mod bodies;
pub mod changes;
pub mod dashboard;
pub mod effects;
pub mod ends;
pub mod exports;
pub mod findings;
pub mod imports;
pub mod items;
pub mod journal;
pub mod large_reads;
pub mod model;
pub mod operations;
pub mod operator;
pub mod pairs;
pub mod proposals;
pub mod routes;
pub mod run_loop;
pub mod state;
pub mod store;
pub mod supervisor;
pub mod trail;

use std::sync::Arc;

use actors::ids::{self, Id};
use actors::shell::Snapshot;

use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::access::role::Relation;
use crate::analysis::state::Analysis;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::projects;

/// A run, as the snapshot of its last saved state.
pub type RunSnapshot = Arc<Snapshot<actors::run::Run>>;

impl Resource for RunSnapshot {
    type State = Analysis;
    type Ids = (Id<ids::Project>, Id<actors::run::Run>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, ApiError> {
        Ok((path.id("projectId")?, path.id("runId")?))
    }

    async fn find(state: &Analysis, (project_id, run_id): Self::Ids, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        let run = state.registry.snapshot(run_id).await.map_err(|away| ApiError::unavailable(away.0))?;
        let run = run.filter(|run| run.state.project_id == project_id);
        if run.is_none() {
            // The run is missing, so it is not yet known whether the project exists.
            let project = state.db.read(move |conn| Box::pin(projects::store::find(conn, project_id))).await;
            project.map_err(ApiError::from)?.ok_or_else(|| ApiError::of(Code::NOT_FOUND))?;
        }
        let role = state.projects.roles.of(&state.db, project_id, caller.user_id).await?;
        let resource = run.ok_or_else(|| ApiError::of(Code::NOT_FOUND));
        Ok(Loaded { relation: Relation { role, ..Relation::default() }, resource })
    }
}
