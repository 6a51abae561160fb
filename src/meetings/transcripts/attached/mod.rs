//! Transcripts that another program made: a VTT or SRT file that a host attaches to a meeting.
//!
//! ```text
//! file ──sniffed, read──> stored ──> the meeting: a recording without sound, READY ──job──> version 1 of its transcript
//! file ──sniffed, read──> another version of the transcript of a recording that the form names
//! ```
//! From then on it is a transcript as all others are: shown, corrected, searched, analysed, held back and deleted alike.

pub mod cues;
pub mod operations;
pub mod reading;
pub mod routes;
pub mod upload;
