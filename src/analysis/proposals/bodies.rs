//! The query of the list of proposals.

use actors::ids::Id;
use actors::run::Run;

use super::model::{ProposalKind, ProposalStatus};
use crate::http::input::Query;
use crate::projects::item_kind::ItemKind;

/// The filter of the list of proposals.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only proposals with this status.
    pub status: Option<ProposalStatus>,
    /// Return only proposals of this kind.
    pub kind: Option<ProposalKind>,
    /// Return only proposals about this kind of items.
    #[query(rename = "targetType")]
    pub target: Option<ItemKind>,
    /// Return only proposals of this run.
    pub run_id: Option<Id<Run>>,
    /// Return only proposals of this import.
    pub import_id: Option<Id<()>>,
}
