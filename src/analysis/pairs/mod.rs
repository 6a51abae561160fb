//! Pairs of requirements that may repeat or contradict each other: claims of the analysis, which people settle.
//!
//! ```text
//! a requirement was added, has other words, was rejected or stands again
//!   └──> job compare-requirements ──> all that stand are compared ──> pairs: OPEN, HIGH or LOW ──> links of the requirements
//! OPEN ──not one · kept both · edited──────> SETTLED (nothing else changes)
//!      ──merged · rejected one ────────────> SETTLED (the other one is REJECTED)
//! SETTLED ──taken back · other words ──────> OPEN
//! ```
//! The pairs are those of the whole specification, whatever runs found its requirements. Approving a requirement settles nothing,
//! and settling approves nothing. HIGH pairs are those of which at least four in five hold; `duplicateOf`, `conflictsWith` and the
//! issue CONFLICT of requirements follow the HIGH ones that are open.

pub mod bodies;
pub mod claimed;
pub mod comparing;
pub mod links;
pub mod merging;
pub mod model;
pub mod operations;
pub mod routes;
pub mod store;
