//! The kinds of items of a project: each has codes of its own, and the areas above work on all of them.

use crate::http::enumeration::wire_enum;

wire_enum! {
    /// The kind of an item.
    #[schema(as = ProposalTarget)]
    pub enum ItemKind {
        Requirement,
        UserStory,
        Risk,
        OpenQuestion,
        ActionItem,
        Decision,
    }
}

impl ItemKind {
    /// Returns the code of the item of this kind with this number.
    #[must_use]
    pub fn code(self, number: i64) -> String {
        let prefix = match self {
            Self::Requirement => "REQ",
            Self::UserStory => "US",
            Self::Risk => "RISK",
            Self::OpenQuestion => "Q",
            Self::ActionItem => "ACT",
            Self::Decision => "DEC",
        };
        format!("{prefix}-{number:03}")
    }
}
