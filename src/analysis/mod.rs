//! AI runs, their results, and the dashboard.
//!
//! ```text
//! start --> QUEUED --runner--> attempt --> pipeline (a child process) --draft--> items, dashboard
//!              |                   |
//!              `---- the run's actor: progress, outcome, cancel, retry ----> events
//! ```
//! A run is an actor (`actors::run`); the runner works at unfinished ones and tells the actor how far it is. What a run
//! found is kept as it was found (`run_results`); requirements and stories also become the project's items, under codes that
//! never change. Both come to be in the transaction that completes the run: of a run that ends in any other way nothing stays.

mod attempt;
pub mod audience;
pub mod dashboard;
pub mod model;
pub mod operations;
pub mod operator;
pub mod results;
pub mod routes;
pub mod run_loop;
pub mod runner;
pub mod state;
pub mod store;

use std::sync::Arc;

use actors::ids::{self, Id};
use actors::shell::Snapshot;

use crate::access::caller::Caller;
use crate::access::guard::{Found, Guarded, PathIds};
use crate::access::role::Standing;
use crate::analysis::state::Analysis;
use crate::http::code::Code;
use crate::http::failure::Failure;
use crate::projects;

/// A run of a project that somebody may see: as it was last saved.
pub type Run = Arc<Snapshot<actors::run::Run>>;

impl Guarded for Run {
    type State = Analysis;
    type Ids = (Id<ids::Project>, Id<actors::run::Run>);

    fn ids(path: &PathIds<'_>) -> Result<Self::Ids, Failure> {
        Ok((path.id("projectId")?, path.id("runId")?))
    }

    async fn find(state: &Analysis, (project_id, run_id): Self::Ids, caller: Caller) -> Result<Found<Self>, Failure> {
        let run = state.registry.snapshot(run_id).await.map_err(|away| Failure::unavailable(away.0))?;
        let run = run.filter(|run| run.state.project_id == project_id);
        if run.is_none() {
            // Without the run it is not yet known that there is such a project.
            let project = state.db.read(move |conn| Box::pin(projects::store::find(conn, project_id))).await;
            project.map_err(Failure::from)?.ok_or_else(|| Failure::of(Code::NOT_FOUND))?;
        }
        let role = state.roles.of(&state.db, project_id, caller.user_id).await?;
        let thing = run.ok_or_else(|| Failure::of(Code::NOT_FOUND));
        Ok(Found { standing: Standing { role, ..Standing::default() }, thing })
    }
}
