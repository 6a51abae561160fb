//! A run's facts, and what each command does to them.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::command::{Command, Refusal};
use super::event::Event;
use super::node::Node;
use crate::ids::{AiJob, Document, Id, Project, User};
use crate::live::{Change, Live, Topic, TopicKind};
use crate::meeting::Meeting;
use crate::time::Time;
use crate::words::words;

/// Most that a run shows before it has succeeded, in percent.
const NOT_YET: u8 = 99;

/// An analysis of some sources of a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    pub id: Id<Run>,
    pub project_id: Id<Project>,
    pub created_by: Id<User>,
    pub document_ids: Vec<Id<Document>>,
    pub meeting_id: Option<Id<Meeting>>,
    pub analysis_type: AnalysisType,
    pub language: String,
    pub engine: String,
    /// Anew for each attempt.
    pub ai_job_id: Id<AiJob>,
    /// From 1.
    pub attempt: u32,
    /// In percent.
    pub progress: u8,
    /// For people; never empty.
    pub message: String,
    pub warnings: Vec<Warning>,
    /// Of the sources and settings: two runs with the same are the same work.
    pub input_hash: String,
    pub state: State,
    /// Events so far. 1: just queued.
    pub revision: u64,
    pub created_at: Time,
    pub updated_at: Time,
}

/// Where a run is in its life, with the facts of that place. `node` is where the work was when it stopped.
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

words! {
    /// [`State`] as clients know it.
    Status {
        Queued = "QUEUED",
        Processing = "PROCESSING",
        Completed = "COMPLETED",
        Partial = "PARTIAL",
        Rejected = "REJECTED",
        Failed = "FAILED",
        Cancelled = "CANCELLED",
    }
}
words! {
    /// What is looked for.
    AnalysisType {
        Full = "FULL",
        Requirements = "REQUIREMENTS",
        UserStories = "USER_STORIES",
        MeetingMinutes = "MEETING_MINUTES",
    }
}

/// Something that people should know about a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Warning {
    pub code: String,
    pub message: String,
    /// The document or recording that it is about.
    pub source_id: Option<Uuid>,
}

impl Warning {
    /// This source gave nothing to the result.
    pub const SOURCE_FAILED: &'static str = "SourceFailed";
    /// Of this source only the beginning was analysed, or nothing: it goes past what one run takes in.
    pub const SOURCE_TOO_LONG: &'static str = "SourceTooLong";
    /// More was found than one run keeps.
    pub const TOO_MANY_ITEMS: &'static str = "TooManyItems";

    /// Whether a run with this warning is PARTIAL: something of its sources is not in the result.
    #[must_use]
    pub fn tells_of_a_gap(&self) -> bool {
        [Self::SOURCE_FAILED, Self::SOURCE_TOO_LONG, Self::TOO_MANY_ITEMS].contains(&self.code.as_str())
    }
}

/// What a new run is made of; its ids are drawn by the caller, who may have to repeat the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub id: Id<Run>,
    pub project_id: Id<Project>,
    pub created_by: Id<User>,
    pub document_ids: Vec<Id<Document>>,
    pub meeting_id: Option<Id<Meeting>>,
    pub analysis_type: AnalysisType,
    pub language: String,
    pub engine: String,
    pub ai_job_id: Id<AiJob>,
    pub input_hash: String,
}

impl Run {
    /// A new run: QUEUED, attempt 1, with its first event.
    #[must_use]
    pub fn queue(draft: Draft, now: Time) -> Change<Self> {
        let queued = Self {
            id: draft.id,
            project_id: draft.project_id,
            created_by: draft.created_by,
            document_ids: draft.document_ids,
            meeting_id: draft.meeting_id,
            analysis_type: draft.analysis_type,
            language: draft.language,
            engine: draft.engine,
            ai_job_id: draft.ai_job_id,
            attempt: 1,
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

    #[must_use]
    pub const fn status(&self) -> Status {
        match self.state {
            State::Queued => Status::Queued,
            State::Processing { .. } => Status::Processing,
            State::Completed { .. } => Status::Completed,
            State::Partial { .. } => Status::Partial,
            State::Rejected { .. } => Status::Rejected,
            State::Failed { .. } => Status::Failed,
            State::Cancelled { .. } => Status::Cancelled,
        }
    }

    /// Where the work is, or was when it stopped.
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

    /// When the attempt came to its end, whichever that was.
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

    /// Why the run failed or was rejected.
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

    /// Whether nothing more comes of this attempt.
    #[must_use]
    pub const fn is_over(&self) -> bool {
        !matches!(self.state, State::Queued | State::Processing { .. })
    }

    fn begin(&self, attempt: u32, now: Time) -> Result<Change<Self>, Refusal> {
        self.must_be(attempt)?;
        match self.state {
            State::Queued => {
                let node = Node::PrepareSources;
                let mut next = self.clone();
                next.state = State::Processing { started_at: now, node };
                next.progress = node.progress();
                node.label().clone_into(&mut next.message);
                Ok(next.changed(Event::Progressed, now))
            }
            State::Processing { .. } => Ok(self.unchanged()),
            _ => Err(self.invalid()),
        }
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
            // A resumed attempt passes its kept nodes again: nothing to tell.
            return Ok(self.unchanged());
        }
        let mut next = self.clone();
        next.state = State::Processing { started_at, node };
        next.progress = progress.max(node.progress()).min(NOT_YET).max(self.progress);
        next.message = spoken(message, node.label());
        if next == *self { Ok(self.unchanged()) } else { Ok(next.changed(Event::Progressed, now)) }
    }

    fn complete(&self, attempt: u32, warnings: Vec<Warning>, now: Time) -> Result<Change<Self>, Refusal> {
        let (started_at, _) = self.processing(attempt)?;
        let completed_at = now.max(started_at);
        let partial = warnings.iter().any(Warning::tells_of_a_gap);
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
        let reason = spoken(reason, "There was nothing to analyse");
        let mut next = self.clone();
        next.message.clone_from(&reason);
        next.state = State::Rejected { started_at, completed_at: now.max(started_at), node, reason };
        Ok(next.changed(Event::Rejected, now))
    }

    fn fail(&self, attempt: u32, message: String, now: Time) -> Result<Change<Self>, Refusal> {
        let (started_at, node) = self.processing(attempt)?;
        let error_message = spoken(message, "The analysis failed");
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
                next.progress = Node::Queued.progress();
                Node::Queued.label().clone_into(&mut next.message);
                next.warnings = Vec::new();
                Ok(next.changed(Event::Retried, now))
            }
            _ => Err(self.invalid()),
        }
    }

    /// Old attempts first: whoever works on one must learn that, whatever became of the run.
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

/// The text, or what is said where there is none.
fn spoken(text: String, silence: &str) -> String {
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
