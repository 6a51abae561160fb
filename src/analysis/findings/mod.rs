//! What a run found, on its way into the project: as a draft until the run is complete, then as items, or as proposals where
//! people have begun to review.

pub mod draft;
mod drafted;
pub mod grounding;
mod items;
pub mod store;
