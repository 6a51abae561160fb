//! Runs the pipeline in a child process, so that no document can take the server down, whatever it does to an engine.
//!
//! ```text
//!  Analyser (parent) ──starts── `colloquy analyse` (child; limits itself before it reads a byte)
//!    Start, Text, Text …              ──────►  pipeline::run; its `CheckpointStore` and `ProgressSink`
//!    Found, Missing, Done,                     send messages to the parent
//!    Stop, Unavailable                ◄─────►  Load, Save, Progress
//!    Done, Pending, Answered          ◄─────►  Ask, Await: questions to a language model
//!                                     ◄──────  End: the outcome
//! ```
//! The child sends one message at a time and waits for the answer; meanwhile the other of its two threads executes
//! nodes. It has no access to a database or a network, and exits when its parent does, because nothing answers any
//! more. The parent sends the texts one by one, as they are stored, so that it never holds more than one of them.
//!
//! An engine that asks a language model asks the parent ([`ModelAccess`]), which alone knows its address and its key. The
//! child hands over some questions and then asks for the answers again and again, so that progress and cancellation get
//! in between. Only the child of a run whose engine asks a model may ask, and no more than the run's budget allows.
//!
//! The child's limits on itself bound its memory, its CPU time and the processes it may start; the parent bounds how
//! long it runs; and the maximum length of each [`frame`] bounds what it sends. A compromised child can only waste its
//! own time.

mod child;
mod frame;
mod model;
mod parent;

use actors::language::Language;
use actors::run::{AnalysisType, Node};
use serde::{Deserialize, Serialize};

pub use child::child_main;
pub use model::{ModelAccess, ModelBudget};
pub use parent::{Analyser, ChildLimits, Lost, Ports};

use super::engine::EngineChoice;
use super::glossary::GlossaryEntry;
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
    #[serde(default)]
    pub engine: EngineChoice,
    /// How the project names things.
    #[serde(default)]
    pub glossary: Vec<GlossaryEntry>,
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
    /// The body is a list of `Chat`s. The next message about them is `Await`.
    Ask,
    /// Asks for the answers to the chats.
    Await,
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
    /// Some chats are not answered yet.
    Pending,
    /// The body is the list of `ChatAnswer`s, in the order of the chats.
    Answered,
}

/// Longest output of a node that is stored, in bytes. A resumed run executes a node with a longer output again.
const CHECKPOINT_BYTES: usize = 32 * 1024 * 1024;
/// Total bytes of the outputs stored for one child: they are deleted in one transaction.
const STORED_BYTES: usize = 96 * 1024 * 1024;
/// Longest outcome that a child may send, in bytes; a longer one is replaced by a failure.
pub const RESULT_BYTES: usize = 64 * 1024 * 1024;
/// Longest text that is sent to a child, in bytes. The readers bound stored texts to less than this.
const TEXT_BYTES: usize = 512 * 1024 * 1024;

/// The most chats that are asked together, and the length of their frame and of that of the answers, in bytes.
const CHATS: usize = 16;
const CHATS_BYTES: usize = 4 * 1024 * 1024;
const ANSWERS_BYTES: usize = 16 * 1024 * 1024;

impl frame::Header for FromChild {
    fn body_bytes(&self) -> usize {
        match self {
            Self::Save { .. } => CHECKPOINT_BYTES,
            Self::End => RESULT_BYTES,
            Self::Ask => CHATS_BYTES,
            Self::Load { .. } | Self::Progress { .. } | Self::Await => 0,
        }
    }
}

impl frame::Header for ToChild {
    fn body_bytes(&self) -> usize {
        match self {
            Self::Start | Self::Text => TEXT_BYTES,
            Self::Found => CHECKPOINT_BYTES,
            Self::Answered => ANSWERS_BYTES,
            Self::Missing | Self::Done | Self::Stop | Self::Unavailable | Self::Pending => 0,
        }
    }
}

#[cfg(test)]
mod model_tests;
#[cfg(test)]
mod tests;
