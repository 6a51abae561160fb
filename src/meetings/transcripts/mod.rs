//! Transcripts of recordings: made by a background job, or attached as a file, read by who may listen, corrected by analysts.
//!
//! ```text
//! recording READY ──> version 1, job ──> Transcriber ──batch──> segments + how far, one transaction ──> READY
//! asked for anew ───> version 2 …                                 the newest READY version is current
//! VTT, SRT ─────────> recording without sound, job ──reader──> version 1, READY; or another version of a recording
//! ```
//! A batch that is stored is never transcribed again: a job that was killed goes on behind the last one. What the meeting
//! knows (`transcriptStatus`) follows the versions.

pub mod attached;
pub mod bodies;
pub mod expiry;
pub mod formats;
pub mod grounding;
pub mod making;
pub mod model;
pub mod operations;
pub mod routes;
pub mod sources;
pub mod speakers;
pub mod store;
pub mod telling;
pub mod voices;
pub mod waiting;
pub mod weaving;
