//! The kinds of items of a project that have codes: a project counts them, and the areas above work on them.

use crate::http::enumeration::wire_enum;

wire_enum! {
    /// The kind of item that a proposal is about.
    #[schema(as = ProposalTarget)]
    pub enum ItemKind {
        Requirement,
        UserStory,
    }
}

impl ItemKind {
    /// Returns the code of the item of this kind with this number.
    #[must_use]
    pub fn code(self, number: i64) -> String {
        match self {
            Self::Requirement => format!("REQ-{number:03}"),
            Self::UserStory => format!("US-{number:03}"),
        }
    }
}
