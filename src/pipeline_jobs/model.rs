//! What is stored of a job.

use actors::ids::{AiJob, Id};
use actors::language::Language;
use actors::run::{AnalysisType, Node};
use actors::time::Time;
use pipeline::glossary::GlossaryEntry;
use pipeline::remote::{PipelineJob, PipelineProcessingStatus};
use pipeline::{SourceKind, UnreadableSource};
use serde::{Deserialize, Serialize};

/// How often the work of a job may be begun. After so many begins without an end it FAILED.
pub const MAX_BEGINS: u32 = 5;

/// What a job is to do. Its sources are files beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobRequest {
    pub analysis_type: AnalysisType,
    pub language: Language,
    /// How the caller's project names things.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub glossary: Vec<GlossaryEntry>,
    pub sources: Vec<JobSource>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobSource {
    pub id: String,
    pub kind: SourceKind,
    pub name: String,
    pub content: SourceContent,
}

/// What the file of a source holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum SourceContent {
    /// The text with its structure.
    Text,
    /// A document of this format, which is read when the job begins.
    Document { format: String },
    /// There is no file, for this reason.
    Unreadable(UnreadableSource),
}

/// Where a job stands. Progress within a node is not stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobRecord {
    /// SHA-256 over the request and its sources.
    pub digest: String,
    pub status: PipelineProcessingStatus,
    /// How often the work was begun.
    pub attempt: u32,
    pub node: Node,
    pub progress: u8,
    pub error_message: Option<String>,
    pub created_at: Time,
    pub ended_at: Option<Time>,
}

impl JobRecord {
    #[must_use]
    pub const fn new(digest: String, now: Time) -> Self {
        Self {
            digest,
            status: PipelineProcessingStatus::Queued,
            attempt: 0,
            node: Node::Queued,
            progress: 0,
            error_message: None,
            created_at: now,
            ended_at: None,
        }
    }

    /// The same job, ended. `why` is for whoever asked for it.
    #[must_use]
    pub fn ended(&self, status: PipelineProcessingStatus, why: Option<String>, now: Time) -> Self {
        let is_whole = matches!(status, PipelineProcessingStatus::Completed | PipelineProcessingStatus::Partial);
        let (node, progress) = if is_whole { (Node::Done, 100) } else { (self.node, self.progress) };
        Self { status, node, progress, error_message: why, ended_at: Some(now), ..self.clone() }
    }

    #[must_use]
    pub fn shown(&self, job_id: Id<AiJob>) -> PipelineJob {
        let message = match self.status {
            PipelineProcessingStatus::Completed => "Analysis completed",
            PipelineProcessingStatus::Partial => "Some sources could not be analysed",
            PipelineProcessingStatus::NeedsReview => "Analysis completed; review its results",
            PipelineProcessingStatus::Rejected => "There was nothing to analyse",
            PipelineProcessingStatus::Failed => "Analysis failed",
            PipelineProcessingStatus::Cancelled => "Analysis cancelled",
            PipelineProcessingStatus::Queued | PipelineProcessingStatus::Processing => self.node.label(),
        };
        PipelineJob {
            job_id,
            status: self.status,
            progress: self.progress,
            current_node: self.node,
            current_node_label: self.node.label().to_owned(),
            message: message.to_owned(),
            error_message: self.error_message.clone(),
            attempt: self.attempt,
        }
    }
}
