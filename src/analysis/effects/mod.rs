//! What runs did to the items of a project, and how that is told.

pub mod store;
pub mod telling;

use crate::http::enumeration::wire_enum;

wire_enum! {
    /// What a finding does to the specification.
    pub enum FindingEffect {
        /// It is new.
        Added,
        /// The item says it: the item rests on one more place.
        Confirmed,
        /// It says something else about what the item is about.
        Changed,
        /// The sources of the item do not say it any more.
        Gone,
    }
}
