//! Request and response types of proposals.

use actors::ids::Id;
use actors::run::Run;
use actors::time::Time;
use serde::Serialize;
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::items::project_item::ProjectItem;
use crate::http::enumeration::wire_enum;
use crate::projects::item_kind::ItemKind;

wire_enum! {
    /// What is proposed for an item.
    pub enum ProposalKind {
        /// To add it.
        New,
        /// To replace its content.
        Changed,
        /// To reject it.
        Gone,
    }
}

wire_enum! {
    /// Why a finding is about an item.
    pub enum FindingReason {
        /// The same words.
        SameWords,
        /// The same words in another order.
        OtherOrder,
        /// The same words, of another type, priority or title.
        OtherContent,
        /// The same subject, with another figure.
        OtherFigure,
        /// Other words at the same place of a source.
        SamePlace,
        /// Nearly the same words.
        NearlySameWords,
        /// All its sources were read, and none says it any more.
        NotFound,
    }
}

wire_enum! {
    /// The status of a proposal.
    pub enum ProposalStatus {
        Open,
        Accepted,
        Dismissed,
        /// A later run had a say about the same item, or a later import if an import proposed it.
        Superseded,
    }
}

/// A change of a project's items that a run or an import proposes.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Proposal {
    pub id: Id<Proposal>,
    /// The run that proposes it; of an import, the newest one before it.
    pub run_id: Id<Run>,
    /// The import that proposes it; null if the run does.
    #[schema(required)]
    pub import_id: Option<Uuid>,
    pub target_type: ItemKind,
    /// The item; null for a NEW one that is not accepted. Its id would be that of `after`.
    #[schema(required)]
    pub target_id: Option<Uuid>,
    pub kind: ProposalKind,
    /// The item when this was proposed; once it is accepted, what was replaced. Null for a NEW one.
    #[schema(required)]
    pub before: Option<ProjectItem>,
    /// The item as it would be; once it is accepted, as it became. A NEW one has no code before. It may refer to requirements
    /// that are proposed too. Null for a GONE one.
    #[schema(required)]
    pub after: Option<ProjectItem>,
    pub status: ProposalStatus,
    pub created_at: Time,
    /// Why the run takes what it found to be about the item; null if an import proposes it, and for a NEW one.
    #[schema(required)]
    pub reason: Option<FindingReason>,
}
