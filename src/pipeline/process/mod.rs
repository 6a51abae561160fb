//! A run in a process of its own, so that no document can take the server along, whatever it does to an engine.
//!
//! ```text
//!  Analyser (parent) ──starts── `colloquy analyse` (child; limits itself before it reads a byte)
//!    Start, Text, Text …  ─────►  pipeline::run, its `Checkpoints` and its `Watcher` being questions to the parent
//!    Found, Missing, Done, Stop ◄────► Load, Save, Progress
//!                         ◄─────  End: the outcome
//! ```
//! The child asks and waits, one question at a time; its nodes work on meanwhile, on the other of its two threads. It knows no
//! database and no network, and ends when its parent does: nobody answers any more. The parent gives the texts one by one, as
//! they are stored, so that it never holds more than one of them.
//!
//! What the child takes is bounded by limits on itself (memory, processor time, no processes), how long it goes on by the parent,
//! and what it says by the length of each [`frame`]: a child that was taken over can waste its own time.

mod child;
mod frame;
mod parent;

use serde::{Deserialize, Serialize};

pub use child::child_main;
pub use parent::{Analyser, Limits, Lost, Ports};

use super::nodes::Node;
use super::request::{AnalysisType, Bounds, Language, SourceKind, Unreadable};

/// The hidden subcommand.
pub const VERB: &str = "analyse";

/// A request without its texts: those come one by one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Outline {
    pub job_id: String,
    pub attempt: u32,
    pub analysis_type: AnalysisType,
    pub language: Language,
    pub bounds: Bounds,
    /// In the order in which the caller wants ties to be settled.
    pub sources: Vec<OutlinedSource>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OutlinedSource {
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
    /// Why it has no text.
    pub unreadable: Option<Unreadable>,
}

/// What a child says.
#[derive(Debug, Serialize, Deserialize)]
enum FromChild {
    Load {
        node: Node,
        input_hash: String,
        engine_version: String,
    },
    /// The body is the output.
    Save {
        node: Node,
        input_hash: String,
        engine_version: String,
    },
    Progress {
        node: Node,
        progress: u8,
    },
    /// The body is the outcome. It is the last word.
    End,
}

/// What a parent says.
#[derive(Debug, Serialize, Deserialize)]
enum ToChild {
    /// The body is the outline; as many texts follow as there are sources that have one.
    Start,
    /// The body is a `SourceText`.
    Text,
    /// The body is what was kept.
    Found,
    Missing,
    Done,
    Stop,
    Unavailable,
}

/// An output of a node that is longer is not kept: where the run is resumed, that node works again.
const CHECKPOINT_BYTES: usize = 32 * 1024 * 1024;
/// Of all outputs of one child: they are forgotten in one transaction.
const KEPT_BYTES: usize = 96 * 1024 * 1024;
/// A result that is longer is not given.
const RESULT_BYTES: usize = 64 * 1024 * 1024;
/// Stored texts are bounded by the readers; this is more than they give.
const TEXT_BYTES: usize = 512 * 1024 * 1024;

impl frame::Header for FromChild {
    fn body_bytes(&self) -> usize {
        match self {
            Self::Save { .. } => CHECKPOINT_BYTES,
            Self::End => RESULT_BYTES,
            Self::Load { .. } | Self::Progress { .. } => 0,
        }
    }
}

impl frame::Header for ToChild {
    fn body_bytes(&self) -> usize {
        match self {
            Self::Start | Self::Text => TEXT_BYTES,
            Self::Found => CHECKPOINT_BYTES,
            Self::Missing | Self::Done | Self::Stop | Self::Unavailable => 0,
        }
    }
}

#[cfg(test)]
mod tests;
