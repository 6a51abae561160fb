//! The AI pipeline: sources in, traced requirements out. It knows no meeting, project, user, HTTP or database.
//!
//! ```text
//!  Request ─► prepare_sources ─► transcribe_recordings ─► build_source_index ─► extract_requirements ─┐
//!      ┌──────────────────────────────────────────────────────────────────────────────────────────────┘
//!      └─► classify_requirements ─► evidence_grounding ─► generate_user_stories ─► quality_checks ─┐
//!      ┌───────────────────────────────────────────────────────────────────────────────────────────┘
//!      └─► summarize ─► finalize ─► PipelineOutcome
//!  each node: catch_unwind on a bounded blocking pool · output to `CheckpointStore` · progress to `ProgressSink`
//! ```
//!
//! The judgement (rules now, models later) is in an [`Engine`]. The guarantees that hold for every engine are in the
//! nodes: an item without a quote that stands verbatim at its offsets does not leave `evidence_grounding`. All offsets
//! count Unicode scalar values, end exclusive. Deliberately absent: ids and codes (the caller generates them; items
//! carry stable keys), clocks, and any network: an engine that asks a language model does it through a port (`Completions`).
//!
//! A server runs the pipeline in child processes (`process`), limited in number and shared fairly between callers
//! (`fair`).
//!
//! Sources come as text, from the crate `readers`. Reading order: request · glossary · result · run · workers · nodes · engine ·
//! chat · process · remote.

pub mod chat;
pub mod engine;
pub mod fair;
pub mod glossary;
pub mod loop_control;
pub mod nodes;
pub mod ports;
pub mod process;
pub mod regeneration;
pub mod remote;
pub mod request;
pub mod result;
pub mod run;
pub mod workers;

#[cfg(test)]
mod glossary_tests;
#[cfg(test)]
mod left_out_tests;
#[cfg(test)]
mod tests;

pub use engine::{Embedded, Engine, EngineChoice, EngineKind, ModelUse};
pub use ports::{
    CheckpointStore, Completions, NoCheckpoints, NoProgressSink, PortUnavailable, ProgressSink, StopRequested,
    TextStore,
};
pub use request::{Bounds, CancelToken, Request, Source, SourceKind, UnreadableSource};
pub use result::PipelineResult;
pub use run::{PipelineOutcome, run, run_with};
pub use workers::Workers;
