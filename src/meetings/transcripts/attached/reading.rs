//! The job that reads an attached transcript into version 1 of the transcript of its recording.
//!
//! Idempotent: a recording that has a version is left alone, but for telling its meeting.

use std::io;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::meeting::{Meeting, Recording, RecordingMimeType, RecordingStatus, TranscriptStatus};
use actors::time::Time;
use async_trait::async_trait;
use readers::Format;
use serde::{Deserialize, Serialize};

use super::cues::{self, AttachedBy, AttachedText, UnreadTranscript};
use crate::db::{Conn, DbError};
use crate::jobs::{self, Handler, Job, JobError, JobOutcome, JobPayload, RetryPolicy, Turns};
use crate::meetings;
use crate::meetings::recordings::files;
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as stored_recordings;
use crate::meetings::transcripts::model::TranscriptVersion;
use crate::meetings::transcripts::store;
use crate::meetings::transcripts::telling::report_transcript_status;

const GONE: &str = "The file has expired before it was read.";
const CHANGED: &str = "The stored file was changed after it was attached. Attach the transcript again.";
const GIVEN_UP: &str = "The reading was stopped for a reason that is not the transcript's own.";

/// Reads the file of a recording that is an attached transcript.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReadTranscript {
    recording_id: Id<ids::Recording>,
}

impl JobPayload for ReadTranscript {
    const KIND: &'static str = "read-transcript";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues the reading, once the transaction has committed. Projects take turns.
///
/// # Errors
/// Only database errors.
pub async fn enqueue(
    conn: &mut Conn,
    project_id: Id<ids::Project>,
    recording_id: Id<ids::Recording>,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let (project, job) = (project_id.to_string(), ReadTranscript { recording_id });
    jobs::enqueue_in_turn(conn, &project, &job, now, request).await.map(|_| ())
}

/// Runs [`ReadTranscript`].
pub struct ReadTranscriptHandler {
    pub state: Meetings,
}

#[async_trait]
impl Handler for ReadTranscriptHandler {
    type Payload = ReadTranscript;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// As many as there are processes that read.
    fn concurrency(&self) -> usize {
        2
    }

    /// The process that reads has limits of its own, and a text is saved in seconds.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, job: &Job, payload: ReadTranscript) -> Result<(), JobError> {
        let id = payload.recording_id;
        let read = self.state.db.read(move |conn| {
            Box::pin(async move {
                let found = stored_recordings::find(conn, id).await?;
                Ok::<_, DbError>((found, store::versions(conn, id).await?.is_empty()))
            })
        });
        let (found, is_unread) = read.await?;
        let Some((meeting_id, recording)) = found else { return Ok(()) };
        if is_unread {
            let text = self.text(&recording).await?;
            self.save(meeting_id, &recording, text).await?;
        }
        report_transcript_status(&self.state, meeting_id, id, job.request.clone()).await
    }

    /// Fails the transcript of a job that was given up: nothing would go on with it. The job that follows tells the meeting,
    /// whose actor can't be asked within a transaction.
    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        payload: Option<ReadTranscript>,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        let (Some(payload), JobOutcome::Failed(_)) = (payload, outcome) else { return Ok(Vec::new()) };
        let id = payload.recording_id;
        let Some((_, recording)) = stored_recordings::find(conn, id).await? else { return Ok(Vec::new()) };
        if store::versions(conn, id).await?.is_empty() {
            store::insert(conn, &failed(&recording, GIVEN_UP.to_owned(), now)).await?;
            jobs::enqueue_in_turn(conn, job.fair_key(), &payload, now, &job.request).await?;
        }
        Ok(Vec::new())
    }
}

impl ReadTranscriptHandler {
    /// Reads the file. The inner error is a sentence for users; the outer one is a fault of the server.
    async fn text(&self, recording: &Recording) -> Result<Result<AttachedText, String>, JobError> {
        let content = recording.content().filter(|_| recording.status() == RecordingStatus::Ready);
        let Some(content) = content else { return Ok(Err(GONE.to_owned())) };
        let path = files::content(recording.id, content.sha256);
        let opened = self.state.recordings.file(&path, &content.sha256.to_string()).await;
        let (file, copy) = match opened {
            Ok(opened) => opened,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::InvalidData) => {
                tracing::error!(recording = %recording.id, %error, "a stored transcript was changed or lost");
                return Ok(Err(CHANGED.to_owned()));
            }
            Err(error) => return Err(JobError::Again(format!("the transcript can't be read: {error}"))),
        };
        let read = cues::read(&self.state.transcript_reader, format(recording), file).await;
        drop(copy);
        match read {
            Ok(text) => Ok(Ok(text)),
            Err(UnreadTranscript::Invalid(why)) => Ok(Err(why)),
            Err(UnreadTranscript::Interrupted(why)) => Err(JobError::Again(why)),
        }
    }

    /// Stores version 1, unless there is one by now.
    async fn save(
        &self,
        meeting_id: Id<Meeting>,
        recording: &Recording,
        text: Result<AttachedText, String>,
    ) -> Result<(), JobError> {
        let (recording, now) = (recording.clone(), self.state.now());
        let written = self.state.db.write(move |conn| {
            Box::pin(async move {
                let Some(meeting) = meetings::store::find(conn, meeting_id).await? else { return Ok(()) };
                if meeting.recordings.get(&recording.id).is_none() {
                    return Ok(());
                }
                let by = AttachedBy { user_id: recording.started_by, at: now };
                let inserted = match text {
                    Ok(text) => {
                        let version = text.version(Id::generate(), recording.id, 1, by);
                        text.insert(conn, &meeting, &version).await
                    }
                    Err(why) => store::insert(conn, &failed(&recording, why, now)).await,
                };
                match inserted {
                    Err(taken) if taken.is_taken() => Ok(()),
                    done => done,
                }
            })
        });
        Ok(written.await?)
    }
}

/// The format that the file was stored as.
const fn format(recording: &Recording) -> Format {
    match recording.mime_type {
        RecordingMimeType::Subrip => Format::Srt,
        _ => Format::Vtt,
    }
}

/// Version 1 of a transcript that could not be read.
fn failed(recording: &Recording, why: String, now: Time) -> TranscriptVersion {
    let none = AttachedText { format: format(recording), segments: Vec::new(), duration_ms: 0, language: None };
    let by = AttachedBy { user_id: recording.started_by, at: now };
    TranscriptVersion {
        status: TranscriptStatus::Failed,
        error_message: Some(why),
        ..none.version(Id::generate(), recording.id, 1, by)
    }
}
