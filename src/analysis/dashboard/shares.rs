//! What a run contributes to the specification beside its items.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use pipeline::result::{Metrics, Summary};
use uuid::Uuid;

/// The short parts of the result of a run.
#[derive(Debug, Clone)]
pub struct RunShare {
    pub run_id: Id<Run>,
    pub ended_at: Time,
    pub documents: Vec<Uuid>,
    pub summary: Summary,
    pub metrics: Metrics,
}
