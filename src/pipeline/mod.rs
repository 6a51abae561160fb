//! The AI pipeline: sources in, traced requirements out. It knows no meeting, project, user, HTTP or database.
//!
//! ```text
//!  Request ──► prepare_sources ─► transcribe_recordings ─► build_source_index ─► extract_requirements ─► classify_requirements
//!                                                                                                              │
//!  Outcome ◄── finalize ◄── summarize ◄── quality_checks ◄── generate_user_stories ◄── evidence_grounding ◄────┘
//!      each arrow: catch_unwind on a bounded blocking pool · output kept by `Checkpoints` · progress told to `Watcher`
//! ```
//!
//! What judges (rules now, models later) is an [`Engine`]; what holds in any case is in the nodes: an item without a quote that
//! stands verbatim at its offsets does not leave `evidence_grounding`. All offsets are Unicode scalar values, end exclusive.
//! Deliberately absent: ids and codes (the caller draws them; items carry stable keys), clocks, and any network.
//!
//! A server runs it in a child process (`process`), as many at once as it has places, given in turns (`fair`).
//!
//! Reading order: request · result · run · workers · nodes · engine · readers · process.

pub mod confined;
pub mod engine;
pub mod fair;
pub mod nodes;
pub mod pace;
pub mod ports;
pub mod process;
pub mod readers;
pub mod request;
pub mod result;
pub mod run;
pub mod workers;

#[cfg(test)]
mod ladder;
#[cfg(test)]
mod tests;

pub use engine::{Embedded, Engine};
pub use nodes::Node;
pub use ports::{Checkpoints, NoCheckpoints, NoWatcher, Stop, TextStore, Unavailable, Watcher};
pub use request::{AnalysisType, Bounds, CancelToken, Language, Request, Source, SourceKind, Unreadable};
pub use result::PipelineResult;
pub use run::{Outcome, run, run_with};
pub use workers::Workers;
