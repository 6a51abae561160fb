//! Response types of what a run found.

use actors::ids::Id;
use actors::run::{Run, RunWarning};
use actors::time::Time;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::proposals::model::{FindingReason, Proposal};
use crate::projects::item_kind::ItemKind;

/// An item that a run had a say about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunFinding {
    pub target_type: ItemKind,
    pub id: Uuid,
    #[schema(example = "REQ-001")]
    pub code: String,
    /// Null for an item that the run added.
    #[schema(required)]
    pub reason: Option<FindingReason>,
    /// The proposal about the item; null where there is nothing to decide.
    #[schema(required)]
    pub proposal_id: Option<Id<Proposal>>,
}

/// A run that was undone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct UndoneRun {
    pub run_id: Id<Run>,
    /// When it was undone.
    pub undone_at: Time,
    /// Items that the run added, which are gone, and that it changed, which are as they were.
    pub taken_back: Vec<RunFinding>,
    /// Items that stay as they are: somebody, or a later run, has changed them since, or something that stays refers to them.
    pub kept: Vec<RunFinding>,
}

/// What a run did to the specification.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunFindings {
    pub run_id: Id<Run>,
    /// All of it in a sentence or two for people.
    #[schema(example = "Added 6 requirements and 2 decisions. Proposes a change of REQ-012.")]
    pub summary: String,
    /// Items that it added, to be reviewed.
    pub added: Vec<RunFinding>,
    /// Items that it found again: they rest on its sources too, and keep their versions.
    pub confirmed: Vec<RunFinding>,
    /// Items about which it found something else. Those with a proposal stay as they are until it is accepted; those without one
    /// had not been reviewed by anybody, and have the new content.
    pub changed: Vec<RunFinding>,
    /// Items that their sources do not say any more; each has a proposal.
    pub gone: Vec<RunFinding>,
    /// What the run could not use, or is unsure of.
    pub warnings: Vec<RunWarning>,
    /// Until when the run can be undone; null if it was undone.
    #[schema(required)]
    pub undoable_until: Option<Time>,
    /// When the run was undone; null if it was not.
    #[schema(required)]
    pub undone_at: Option<Time>,
}
