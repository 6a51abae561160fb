//! The bodies and the query of pairs.

use actors::ids::Id;
use actors::run::Run;
use serde_json::Value;
use utoipa::ToSchema;

use super::model::{ItemPair, PairKind, PairSettlement, PairStatus, PairStrength};
use crate::http::fields::{Field, Fields, InvalidValue, text};
use crate::http::input::{Body, Query};
use crate::http::patch::Patch;
use crate::http::reason::Reason;

/// The filter of the list of pairs.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only pairs with this status.
    pub status: Option<PairStatus>,
    /// Return only pairs of this kind.
    pub kind: Option<PairKind>,
    /// Return only pairs of this strength.
    pub strength: Option<PairStrength>,
    /// Return only pairs whose later requirement was added by this run.
    pub run_id: Option<Id<Run>>,
    /// Return only pairs of this requirement.
    pub item_id: Option<Id<()>>,
}

/// 1–5,000 characters.
#[derive(Debug, Clone, PartialEq, Eq, ToSchema)]
#[schema(min_length = 1, max_length = 5000, example = "The shorter one is what we agreed on.")]
pub struct SettlementComment(pub String);

impl Field for SettlementComment {
    fn parse(value: &Value) -> Result<Self, InvalidValue> {
        text(value, 1, 5000).map(Self)
    }
}

/// A pair to be settled.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
pub struct PairToSettle {
    pub id: Id<ItemPair>,
    /// The requirement that stays. Required with MERGED and REJECTED_ONE, and with nothing else.
    pub kept_id: Option<Id<()>>,
}

/// What people made of some pairs.
#[derive(Debug, ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(check = Self::check)]
pub struct SettleItemPairs {
    /// The pairs, each settled by itself.
    #[schema(min_items = 1, max_items = 100)]
    #[body(objects)]
    pub pairs: Vec<PairToSettle>,
    /// Null takes a settlement back: the pairs are open again.
    #[schema(required, value_type = Option<PairSettlement>)]
    pub settlement: Patch<PairSettlement>,
    /// Why a requirement is rejected; with MERGED and REJECTED_ONE only. Absent: a sentence that names the other one.
    pub comment: Option<SettlementComment>,
}

impl SettleItemPairs {
    fn check(&self, fields: &mut Fields) {
        if self.settlement.is_keep() {
            fields.fault("settlement", Reason::Required, "This says what became of the pairs; null opens them again.");
        }
        let rejects = matches!(self.settlement, Patch::Set(PairSettlement::Merged | PairSettlement::RejectedOne));
        for (at, pair) in self.pairs.iter().enumerate() {
            let name = format!("pairs[{at}].keptId");
            match &pair.kept_id {
                None if rejects => {
                    fields.fault(&name, Reason::Required, "This says which of the two stays.");
                }
                Some(_) if !rejects => {
                    fields.fault(&name, Reason::InvalidValue, "This goes with MERGED and REJECTED_ONE only.");
                }
                _ => {}
            }
        }
        if self.comment.is_some() && !rejects {
            fields.fault("comment", Reason::InvalidValue, "This goes with MERGED and REJECTED_ONE only.");
        }
    }
}
