//! Node that turns recordings into transcripts. Recordings arrive with a transcript, so it passes them on unchanged;
//! speech recognition would be added here.

use actors::run::Node;
use serde::{Deserialize, Serialize};

use super::super::loop_control::Halted;
use super::super::request::ReadySource;
use super::{NodeContext, Step};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Transcribed {
    pub sources: Vec<ReadySource>,
}

pub(in super::super) struct TranscribeRecordings;

impl Step for TranscribeRecordings {
    const NODE: Node = Node::TranscribeRecordings;
    type Input = Transcribed;
    type Output = Transcribed;

    fn work(input: &Transcribed, context: &NodeContext) -> Result<Transcribed, Halted> {
        context.control.report(0, 1)?;
        Ok(input.clone())
    }
}
