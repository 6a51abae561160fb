//! Tests of the dependency rules between modules and inside them, read from the sources: `use` lines and paths alike.
//!
//! An area is a file or folder of `src`. The rules here are those that a reader of `src/lib.rs` can rely on; code in
//! `#[cfg(test)]` is ignored. `cargo test --test architecture -- --nocapture` prints what they see.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests: what can't be is to end the test, loudly"
)]

mod areas;
mod bounds;
mod files;
mod graph;
mod layers;
mod rooms;
mod sources;
