//! Runs the pipeline in a child process, so that no document can take the server down, whatever it does to an engine.
//!
//! ```text
//!  Analyser (parent) ──starts── `colloquy analyse` (child; limits itself before it reads a byte)
//!    Start, Text, Text …              ──────►  pipeline::run; its `CheckpointStore` and `ProgressSink`
//!    Found, Missing, Done,                     send messages to the parent
//!    Stop, Unavailable                ◄─────►  Load, Save, Progress
//!                                     ◄──────  End: the outcome
//! ```
//! The child sends one message at a time and waits for the answer; meanwhile the other of its two threads executes
//! nodes. It has no access to a database or a network, and exits when its parent does, because nothing answers any
//! more. The parent sends the texts one by one, as they are stored, so that it never holds more than one of them.
//!
//! The child's limits on itself bound its memory, its CPU time and the processes it may start; the parent bounds how
//! long it runs; and the maximum length of each [`frame`] bounds what it sends. A compromised child can only waste its
//! own time.

mod child;
mod frame;
mod parent;

use actors::language::Language;
use actors::run::{AnalysisType, Node};
use serde::{Deserialize, Serialize};

pub use child::child_main;
pub use parent::{Analyser, ChildLimits, Lost, Ports};

use super::request::{Bounds, SourceKind, UnreadableSource};

/// The name of the hidden subcommand.
pub const VERB: &str = "analyse";

/// A request without its texts, which are sent one by one.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RequestOutline {
    pub job_id: String,
    pub attempt: u32,
    pub analysis_type: AnalysisType,
    pub language: Language,
    pub bounds: Bounds,
    /// The order of the sources decides ties.
    pub sources: Vec<OutlinedSource>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct OutlinedSource {
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
    /// The reason why there is no text.
    pub unreadable: Option<UnreadableSource>,
}

/// A message from the child.
#[derive(Debug, Serialize, Deserialize)]
enum FromChild {
    Load {
        node: Node,
        input_hash: String,
        engine_version: String,
    },
    /// The body is the node's output.
    Save {
        node: Node,
        input_hash: String,
        engine_version: String,
    },
    Progress {
        node: Node,
        progress: u8,
    },
    /// The body is the outcome. It is the last message.
    End,
}

/// A message from the parent.
#[derive(Debug, Serialize, Deserialize)]
enum ToChild {
    /// The body is the outline; one `Text` follows for each source that has a text.
    Start,
    /// The body is a `SourceText`.
    Text,
    /// The body is the stored checkpoint.
    Found,
    Missing,
    Done,
    Stop,
    Unavailable,
}

/// Longest output of a node that is stored, in bytes. A resumed run executes a node with a longer output again.
const CHECKPOINT_BYTES: usize = 32 * 1024 * 1024;
/// Total bytes of the outputs stored for one child: they are deleted in one transaction.
const STORED_BYTES: usize = 96 * 1024 * 1024;
/// Longest outcome that a child may send, in bytes; a longer one is replaced by a failure.
pub const RESULT_BYTES: usize = 64 * 1024 * 1024;
/// Longest text that is sent to a child, in bytes. The readers bound stored texts to less than this.
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
