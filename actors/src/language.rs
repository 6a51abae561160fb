//! The languages of users, documents and results.

use crate::wire_enum;

wire_enum! {
    /// A language of users, documents or results. AUTO: to be detected.
    pub enum Language {
        Auto,
        En,
        Ar,
        De,
        Es,
        Fr,
        It,
        Nl,
        Pt,
        Tr,
        Zh,
        Ja,
        Ko,
        Hi,
        Ru,
    }
}
