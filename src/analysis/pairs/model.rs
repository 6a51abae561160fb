//! Types of pairs of requirements.

use actors::ids::{self, Id};
use actors::run::Run;
use actors::time::Time;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use crate::analysis::items::model::{Requirement, SourceReference};
use crate::http::enumeration::wire_enum;
use crate::projects::documents::versions::model::TextSpan;

wire_enum! {
    /// What two requirements may be to each other.
    pub enum PairKind {
        /// Both say the same.
        Duplicate,
        /// No product could satisfy both.
        Conflict,
    }
}

wire_enum! {
    /// How sure the analysis is of a pair.
    pub enum PairStrength {
        /// At least four of five such pairs hold.
        High,
        /// Fewer hold: for whoever asks for it.
        Low,
    }
}

wire_enum! {
    /// Whether a pair waits for people.
    pub enum PairStatus {
        Open,
        Settled,
    }
}

wire_enum! {
    /// What people made of a pair.
    pub enum PairSettlement {
        /// It is none: the two neither repeat nor contradict each other.
        NotOne,
        /// One took over the sources and the stories of the other, which was rejected.
        Merged,
        /// Both stay as they are.
        KeptBoth,
        /// One of them was rejected.
        RejectedOne,
        /// One of them was edited.
        Edited,
    }
}

/// Two requirements that may repeat or contradict each other: a claim to be checked.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ItemPair {
    pub id: Id<Self>,
    pub kind: PairKind,
    /// Both, as they are now, in the order of their codes.
    #[schema(min_items = 2, max_items = 2)]
    pub items: Vec<Requirement>,
    /// Why they may be a pair, in a sentence.
    #[schema(example = "One says 2 seconds, the other 5 seconds.")]
    pub reason: String,
    /// For each of both the places in its `statement` that the claim rests on, in Unicode scalar values, ascending; empty where its
    /// words have changed since.
    #[schema(min_items = 2, max_items = 2)]
    pub spans: Vec<Vec<TextSpan>>,
    pub strength: PairStrength,
    /// The share of such pairs that hold, 0–1, two decimals: by it, pairs of one strength are ordered.
    #[schema(minimum = 0, maximum = 1)]
    pub confidence: f64,
    pub status: PairStatus,
    /// Null while it is open.
    #[schema(required)]
    pub settlement: Option<PairSettlement>,
    /// Who settled it; null while it is open, and where the edit of a requirement settled it.
    #[schema(required)]
    pub settled_by_id: Option<Id<ids::User>>,
    /// When it was settled; null while it is open.
    #[schema(required)]
    pub settled_at: Option<Time>,
    /// The run that added the later one of both.
    pub run_id: Id<Run>,
    pub created_at: Time,
}

/// What became of one pair of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettledPair {
    pub id: Id<ItemPair>,
    /// Whether this pair was settled, or is open again.
    pub ok: bool,
    /// Why the pair stays as it was: NotFound (also if `keptId` is neither of both), PreconditionFailed (the words of one have
    /// changed since they were compared) or InvalidState.
    #[schema(required)]
    pub error_code: Option<String>,
}

/// What became of each pair, in the order of the request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SettledPairs {
    /// The pairs in the order of the request, each with what became of it.
    pub pairs: Vec<SettledPair>,
}

/// Which of both was kept when the other one was rejected, and what a merge moved to it, so that it can be taken back.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MovedParts {
    pub kept_id: Uuid,
    pub sources: Vec<SourceReference>,
    /// Stories that covered the other one.
    pub stories: Vec<Uuid>,
    /// Those of them that did not cover the one that was kept.
    pub newly_covering: Vec<Uuid>,
}

/// The data of an event `pairs.changed`.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PairsChanged {
    pub project_id: Id<ids::Project>,
}
