//! The bodies and queries of requests about AI analysis runs.

use actors::ids::{Document, Id};
use actors::language::Language;
use actors::meeting::Meeting;
use actors::run::{AiRunStatus, AnalysisType};
use utoipa::ToSchema;

use super::model::EngineName;
use crate::http::enumeration::wire_enum;
use crate::http::input::{Body, Query};

wire_enum! {
    /// Which of a project's documents a run reads that names none.
    pub enum DocumentScope {
        /// Those that no run has read for the same kinds of results; all, if there are none.
        Unread,
        All,
    }
}

/// What to analyse, and how. Without a body: the READY documents of the project that no run has read.
#[derive(ToSchema, Body)]
#[schema(rename_all = "camelCase")]
#[body(optional)]
pub struct StartAiAnalysisRun {
    /// Omit it to analyse what `documentScope` says; with `meetingId`, to analyse the meeting alone.
    #[schema(max_items = 100)]
    pub document_ids: Option<Vec<Id<Document>>>,
    /// Which READY documents a run reads that names none. Of more than 100 it reads the 100 oldest. Default: UNREAD.
    pub document_scope: Option<DocumentScope>,
    /// The meeting whose transcribed recordings are analysed.
    pub meeting_id: Option<Id<Meeting>>,
    /// What is produced. Default: FULL.
    pub analysis_type: Option<AnalysisType>,
    /// The language of the results. Default: the project's; AUTO is the language of the sources.
    pub language: Option<Language>,
    /// One of the project's `analysisEngines`. Default: the first of them. With llm and fallback, texts of the sources are sent
    /// to the language model that the operator chose.
    pub engine: Option<EngineName>,
}

/// The filter of the list of runs.
#[derive(Debug, Clone, Query)]
pub struct Filter {
    /// Return only runs with this status.
    pub status: Option<AiRunStatus>,
}
