//! The state of a run, and what each command does to it.

use std::iter::repeat;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use uuid::Uuid;

use super::command::{Command, Refusal};
use super::event::Event;
use super::node::Node;
use crate::ids::{AiJob, Document, Id, Project, User};
use crate::language::Language;
use crate::live::{Change, Live, Topic, TopicKind};
use crate::meeting::Meeting;
use crate::time::Time;
use crate::wire_enum;

/// The maximum progress of a run that has not succeeded yet, in percent.
const NOT_YET: u8 = 99;
/// How often the work of one attempt may be begun. After so many begins without an end it is not begun again: whatever
/// kills it may kill everything else in the process too.
pub const MAX_BEGINS: u32 = 5;

/// An analysis of some sources of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: Id<Run>,
    pub project_id: Id<Project>,
    pub created_by: Id<User>,
    pub document_ids: Vec<Id<Document>>,
    /// The versions of the documents, in their order.
    pub document_versions: Vec<i64>,
    pub meeting_id: Option<Id<Meeting>>,
    pub analysis_type: AnalysisType,
    pub language: Language,
    pub engine: String,
    /// New for each attempt.
    pub ai_job_id: Id<AiJob>,
    /// From 1.
    pub attempt: u32,
    /// How often the work of this attempt was begun.
    pub taken_up: u32,
    /// In percent.
    pub progress: u8,
    /// The message shown to users; never empty.
    pub message: String,
    pub warnings: Vec<RunWarning>,
    /// Hash of the sources and settings: two runs with the same hash are the same work.
    pub input_hash: String,
    pub state: State,
    /// The number of events so far. 1 for a run that was just queued.
    pub revision: u64,
    pub created_at: Time,
    pub updated_at: Time,
}

/// The life-cycle state of a run, with its data. `node` is the current node, or the one at which the work stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    Queued,
    Processing {
        started_at: Time,
        node: Node,
    },
    Completed {
        started_at: Time,
        completed_at: Time,
    },
    Partial {
        started_at: Time,
        completed_at: Time,
    },
    Rejected {
        started_at: Time,
        completed_at: Time,
        node: Node,
        reason: String,
    },
    Failed {
        started_at: Time,
        completed_at: Time,
        node: Node,
        error_message: String,
    },
    /// `started_at` is `None` if it never began.
    Cancelled {
        started_at: Option<Time>,
        completed_at: Time,
        node: Node,
    },
}

wire_enum! {
    /// The lifecycle status of a run.
    pub enum AiRunStatus {
        Queued,
        Processing,
        Completed,
        Partial,
        Rejected,
        Failed,
        Cancelled,
    }
}

wire_enum! {
    /// The kinds of results that an analysis produces.
    pub enum AnalysisType {
        /// Everything.
        Full,
        /// Requirements, risks and open questions.
        Requirements,
        /// Requirements and the stories made from them.
        UserStories,
        /// Action items, decisions, open questions and risks.
        MeetingMinutes,
    }
}

impl AnalysisType {
    #[must_use]
    pub fn wants_requirements(self) -> bool {
        self != Self::MeetingMinutes
    }

    #[must_use]
    pub fn wants_stories(self) -> bool {
        matches!(self, Self::Full | Self::UserStories)
    }

    #[must_use]
    pub fn wants_risks(self) -> bool {
        self != Self::UserStories
    }

    #[must_use]
    pub fn wants_minutes(self) -> bool {
        matches!(self, Self::Full | Self::MeetingMinutes)
    }
}

/// A warning about a result, shown to users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RunWarning {
    /// Why there is a warning: `SourceFailed` for a source that yielded nothing, and others.
    #[schema(example = "SourceFailed")]
    pub code: String,
    /// The warning in a sentence for people.
    pub message: String,
    /// The document or recording that it is about, or the meeting whose recordings it is about.
    #[schema(required)]
    pub source_id: Option<Uuid>,
}

impl RunWarning {
    /// This source contributed nothing to the result.
    pub const SOURCE_FAILED: &'static str = "SourceFailed";
    /// Only the beginning of this source was analysed, or nothing: it exceeds what one run processes.
    pub const SOURCE_TOO_LONG: &'static str = "SourceTooLong";
    /// More items were found than one run stores.
    pub const TOO_MANY_ITEMS: &'static str = "TooManyItems";
    /// A language model did not answer for some parts of the sources, so they were not analysed, or otherwise than asked.
    pub const MODEL_UNAVAILABLE: &'static str = "ModelUnavailable";
    /// Answers of a language model ended in the middle.
    pub const MODEL_ANSWER_CUT: &'static str = "ModelAnswerCut";

    /// Returns whether a run with this warning is PARTIAL: something in its sources is missing from the result.
    #[must_use]
    pub fn reports_gap(&self) -> bool {
        let gaps = [
            Self::SOURCE_FAILED,
            Self::SOURCE_TOO_LONG,
            Self::TOO_MANY_ITEMS,
            Self::MODEL_UNAVAILABLE,
            Self::MODEL_ANSWER_CUT,
        ];
        gaps.contains(&self.code.as_str())
    }
}

/// Documents with the versions that a run reads of them. A run of before there were versions names none.
pub fn documents<'a>(ids: &'a [Id<Document>], versions: &'a [i64]) -> impl Iterator<Item = (Id<Document>, i64)> + 'a {
    ids.iter().copied().zip(versions.iter().copied().chain(repeat(1)))
}

/// The data of a new run. Its ids are generated by the caller, which may have to repeat the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDraft {
    pub id: Id<Run>,
    pub project_id: Id<Project>,
    pub created_by: Id<User>,
    pub document_ids: Vec<Id<Document>>,
    /// The versions of the documents, in their order.
    pub document_versions: Vec<i64>,
    pub meeting_id: Option<Id<Meeting>>,
    pub analysis_type: AnalysisType,
    pub language: Language,
    pub engine: String,
    pub ai_job_id: Id<AiJob>,
    pub input_hash: String,
}

impl Run {
    /// Creates a run: QUEUED, attempt 1, with its first event.
    #[must_use]
    pub fn queue(draft: RunDraft, now: Time) -> Change<Self> {
        let queued = Self {
            id: draft.id,
            project_id: draft.project_id,
            created_by: draft.created_by,
            document_ids: draft.document_ids,
            document_versions: draft.document_versions,
            meeting_id: draft.meeting_id,
            analysis_type: draft.analysis_type,
            language: draft.language,
            engine: draft.engine,
            ai_job_id: draft.ai_job_id,
            attempt: 1,
            taken_up: 0,
            progress: Node::Queued.progress(),
            message: Node::Queued.label().to_owned(),
            warnings: Vec::new(),
            input_hash: draft.input_hash,
            state: State::Queued,
            revision: 0,
            created_at: now,
            updated_at: now,
        };
        queued.changed(Event::Queued, now)
    }

    /// The documents with the versions that are read of them.
    pub fn documents(&self) -> impl Iterator<Item = (Id<Document>, i64)> + '_ {
        documents(&self.document_ids, &self.document_versions)
    }

    #[must_use]
    pub const fn status(&self) -> AiRunStatus {
        match self.state {
            State::Queued => AiRunStatus::Queued,
            State::Processing { .. } => AiRunStatus::Processing,
            State::Completed { .. } => AiRunStatus::Completed,
            State::Partial { .. } => AiRunStatus::Partial,
            State::Rejected { .. } => AiRunStatus::Rejected,
            State::Failed { .. } => AiRunStatus::Failed,
            State::Cancelled { .. } => AiRunStatus::Cancelled,
        }
    }

    /// Returns the node at which the work is, or was when it stopped.
    #[must_use]
    pub const fn node(&self) -> Node {
        match self.state {
            State::Queued => Node::Queued,
            State::Completed { .. } | State::Partial { .. } => Node::Done,
            State::Processing { node, .. }
            | State::Rejected { node, .. }
            | State::Failed { node, .. }
            | State::Cancelled { node, .. } => node,
        }
    }

    #[must_use]
    pub const fn started_at(&self) -> Option<Time> {
        match self.state {
            State::Queued => None,
            State::Processing { started_at, .. }
            | State::Completed { started_at, .. }
            | State::Partial { started_at, .. }
            | State::Rejected { started_at, .. }
            | State::Failed { started_at, .. } => Some(started_at),
            State::Cancelled { started_at, .. } => started_at,
        }
    }

    /// Returns when the attempt ended, in whichever state.
    #[must_use]
    pub const fn completed_at(&self) -> Option<Time> {
        match self.state {
            State::Queued | State::Processing { .. } => None,
            State::Completed { completed_at, .. }
            | State::Partial { completed_at, .. }
            | State::Rejected { completed_at, .. }
            | State::Failed { completed_at, .. }
            | State::Cancelled { completed_at, .. } => Some(completed_at),
        }
    }

    /// Returns why the run failed or was rejected.
    #[must_use]
    pub fn error_message(&self) -> Option<&str> {
        match &self.state {
            State::Failed { error_message, .. } => Some(error_message),
            State::Rejected { reason, .. } => Some(reason),
            State::Queued
            | State::Processing { .. }
            | State::Completed { .. }
            | State::Partial { .. }
            | State::Cancelled { .. } => None,
        }
    }

    /// Returns whether this attempt has ended.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        !matches!(self.state, State::Queued | State::Processing { .. })
    }

    /// Saved before the work begins, so that work which kills the process is counted too.
    fn begin(&self, attempt: u32, now: Time) -> Result<Change<Self>, Refusal> {
        self.must_be(attempt)?;
        let mut next = self.clone();
        match self.state {
            State::Queued => {
                let node = Node::PrepareSources;
                next.state = State::Processing { started_at: now, node };
                next.progress = node.progress();
                node.label().clone_into(&mut next.message);
            }
            State::Processing { .. } if self.taken_up >= MAX_BEGINS => {
                let often = "The analysis was started five times and never finished, so it is not started again.";
                return self.fail(attempt, often.to_owned(), now);
            }
            State::Processing { .. } => {}
            _ => return Err(self.invalid()),
        }
        next.taken_up += 1;
        Ok(next.changed(Event::Progressed, now))
    }

    fn progress(
        &self,
        attempt: u32,
        node: Node,
        progress: u8,
        message: String,
        now: Time,
    ) -> Result<Change<Self>, Refusal> {
        let (started_at, reached) = self.processing(attempt)?;
        // Done is not reached by progress, but by completing.
        let node = node.min(Node::Finalize);
        if node < reached {
            // A resumed attempt passes through its completed nodes again: nothing to publish.
            return Ok(self.unchanged());
        }
        let mut next = self.clone();
        next.state = State::Processing { started_at, node };
        next.progress = progress.max(node.progress()).min(NOT_YET).max(self.progress);
        next.message = text_or(message, node.label());
        if next == *self { Ok(self.unchanged()) } else { Ok(next.changed(Event::Progressed, now)) }
    }

    fn complete(&self, attempt: u32, warnings: Vec<RunWarning>, now: Time) -> Result<Change<Self>, Refusal> {
        let (started_at, _) = self.processing(attempt)?;
        let completed_at = now.max(started_at);
        let partial = warnings.iter().any(RunWarning::reports_gap);
        let mut next = self.clone();
        next.progress = Node::Done.progress();
        next.warnings = warnings;
        let event = if partial {
            next.state = State::Partial { started_at, completed_at };
            "Some sources could not be analysed".clone_into(&mut next.message);
            Event::Partial
        } else {
            next.state = State::Completed { started_at, completed_at };
            "Analysis completed".clone_into(&mut next.message);
            Event::Completed
        };
        Ok(next.changed(event, now))
    }

    fn reject(&self, attempt: u32, reason: String, now: Time) -> Result<Change<Self>, Refusal> {
        let (started_at, node) = self.processing(attempt)?;
        let reason = text_or(reason, "There was nothing to analyse");
        let mut next = self.clone();
        next.message.clone_from(&reason);
        next.state = State::Rejected { started_at, completed_at: now.max(started_at), node, reason };
        Ok(next.changed(Event::Rejected, now))
    }

    fn fail(&self, attempt: u32, message: String, now: Time) -> Result<Change<Self>, Refusal> {
        let (started_at, node) = self.processing(attempt)?;
        let error_message = text_or(message, "The analysis failed");
        let mut next = self.clone();
        "Analysis failed".clone_into(&mut next.message);
        next.state = State::Failed { started_at, completed_at: now.max(started_at), node, error_message };
        Ok(next.changed(Event::Failed, now))
    }

    fn cancel(&self, by: Id<User>, now: Time) -> Result<Change<Self>, Refusal> {
        let started_at = match self.state {
            State::Queued => None,
            State::Processing { started_at, .. } => Some(started_at),
            _ => return Err(self.invalid()),
        };
        let completed_at = started_at.map_or(now, |started_at| now.max(started_at));
        let mut next = self.clone();
        next.state = State::Cancelled { started_at, completed_at, node: self.node() };
        "Analysis cancelled".clone_into(&mut next.message);
        Ok(next.changed(Event::Cancelled { by }, now))
    }

    fn retry(&self, job_id: Id<AiJob>, now: Time) -> Result<Change<Self>, Refusal> {
        if job_id == self.ai_job_id {
            return Ok(self.unchanged());
        }
        match self.state {
            State::Failed { .. } | State::Cancelled { .. } | State::Partial { .. } => {
                let mut next = self.clone();
                next.state = State::Queued;
                next.ai_job_id = job_id;
                next.attempt += 1;
                next.taken_up = 0;
                next.progress = Node::Queued.progress();
                Node::Queued.label().clone_into(&mut next.message);
                next.warnings = Vec::new();
                Ok(next.changed(Event::Retried, now))
            }
            _ => Err(self.invalid()),
        }
    }

    /// Old attempts are refused first: their worker must learn that its attempt is old, whatever the state of the run.
    const fn must_be(&self, attempt: u32) -> Result<(), Refusal> {
        if attempt == self.attempt { Ok(()) } else { Err(Refusal::OldAttempt { current: self.attempt }) }
    }

    fn processing(&self, attempt: u32) -> Result<(Time, Node), Refusal> {
        self.must_be(attempt)?;
        match self.state {
            State::Processing { started_at, node } => Ok((started_at, node)),
            _ => Err(self.invalid()),
        }
    }

    fn changed(mut self, event: Event, now: Time) -> Change<Self> {
        self.revision += 1;
        self.updated_at = now.max(self.updated_at);
        Change { next: self, events: vec![event] }
    }

    fn unchanged(&self) -> Change<Self> {
        Change { next: self.clone(), events: Vec::new() }
    }

    const fn invalid(&self) -> Refusal {
        Refusal::InvalidState { status: self.status() }
    }
}

/// Returns the text, or `silence` if the text is blank.
fn text_or(text: String, silence: &str) -> String {
    if text.trim().is_empty() { silence.to_owned() } else { text }
}

impl Live for Run {
    const KIND: &'static str = "run";
    type Key = Id<Run>;
    type Command = Command;
    type Event = Event;
    type Refusal = Refusal;

    fn key(&self) -> Self::Key {
        self.id
    }

    fn revision(&self) -> u64 {
        self.revision
    }

    fn stays_awake(&self) -> bool {
        !self.is_over()
    }

    fn weight(&self) -> usize {
        4
    }

    fn topics(&self) -> Vec<Topic> {
        vec![
            Topic { kind: TopicKind::Run, id: self.id.uuid() },
            Topic { kind: TopicKind::Project, id: self.project_id.uuid() },
        ]
    }

    fn decide(&self, command: Command, now: Time) -> Result<Change<Self>, Refusal> {
        match command {
            Command::Begin { attempt } => self.begin(attempt, now),
            Command::Progress { attempt, node, progress, message } => {
                self.progress(attempt, node, progress, message, now)
            }
            Command::Complete { attempt, warnings } => self.complete(attempt, warnings, now),
            Command::Reject { attempt, reason } => self.reject(attempt, reason, now),
            Command::Fail { attempt, message } => self.fail(attempt, message, now),
            Command::Cancel { by } => self.cancel(by, now),
            Command::Retry { job_id } => self.retry(job_id, now),
        }
    }
}
