//! What an operator sees and steers over HTTP: the state of the whole installation, the runs of all projects, and jobs.
//!
//! ```text
//! colloquy admin set-operator ── users.is_operator ── looked up at each call ── here
//! ```
//! A flag that was revoked counts at the next call. Nothing here shows what a project contains but its name. What the
//! commands of `colloquy admin` do on the machine is done by the same code: `accounts::operator`, `analysis::operator` and
//! `jobs::operator`.

pub mod bodies;
mod figures;
pub mod model;
pub mod operations;
mod probes;
pub mod routes;
pub mod state;
mod store;

use actors::ids::Id;
use actors::run::Run;

use self::state::Operators;
use crate::access::policy::{Loaded, PathIds, Resource};
use crate::access::principal::Caller;
use crate::access::role::Relation;
use crate::accounts;
use crate::analysis::operator::model::OperatorRun;
use crate::http::code::Code;
use crate::http::error::ApiError;
use crate::jobs::Job;
use crate::jobs::model::OperatorJob;

/// The installation as a whole.
#[derive(Debug)]
pub struct WholeInstallation;

async fn relation(state: &Operators, caller: Caller) -> Result<Relation, ApiError> {
    let operates = accounts::operator::is_operator(&state.db, caller.user_id).await?;
    Ok(Relation { operates, ..Relation::default() })
}

/// Loads what is for operators alone: for others it is not even looked up.
async fn loaded<T>(
    state: &Operators,
    caller: Caller,
    find: impl Future<Output = Result<Option<T>, ApiError>>,
) -> Result<Loaded<T>, ApiError> {
    let relation = relation(state, caller).await?;
    let found = if relation.operates { find.await? } else { None };
    Ok(Loaded { relation, resource: found.ok_or_else(|| ApiError::of(Code::NOT_FOUND)) })
}

impl Resource for WholeInstallation {
    type State = Operators;
    type Ids = ();

    fn ids(_: &PathIds<'_>) -> Result<(), ApiError> {
        Ok(())
    }

    async fn find(state: &Operators, (): (), caller: Caller) -> Result<Loaded<Self>, ApiError> {
        Ok(Loaded { relation: relation(state, caller).await?, resource: Ok(Self) })
    }
}

impl Resource for OperatorRun {
    type State = Operators;
    type Ids = Id<Run>;

    fn ids(path: &PathIds<'_>) -> Result<Id<Run>, ApiError> {
        path.id("runId")
    }

    async fn find(state: &Operators, id: Id<Run>, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        loaded(state, caller, operations::run(state, id)).await
    }
}

impl Resource for OperatorJob {
    type State = Operators;
    type Ids = Id<Job>;

    fn ids(path: &PathIds<'_>) -> Result<Id<Job>, ApiError> {
        path.id("jobId")
    }

    async fn find(state: &Operators, id: Id<Job>, caller: Caller) -> Result<Loaded<Self>, ApiError> {
        loaded(state, caller, operations::job(state, id)).await
    }
}
