//! The job that assembles a recording: its chunks become one file, which is hashed, probed for its duration and stored.
//!
//! Idempotent: what is read is the row, so that a job that runs again after a kill finds the recording still FINALIZING,
//! or has nothing left to do. An error of the store is retried until it is over; nothing is lost meanwhile.

use std::io;
use std::time::Duration;

use actors::ids::{self, Id};
use actors::live::{EventRecord, RequestId};
use actors::meeting::{
    Command, Digest, FailureReason, Meeting, Recording, RecordingCommand, RecordingContent, RecordingStatus,
};
use actors::shell::CommandError;
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use speech::media::{Prober, Unprobed};

use super::container::{DECISIVE_BYTES, agrees};
use super::files;
use crate::clients::files::Received;
use crate::db::{Conn, DbError};
use crate::http::error::ApiError;
use crate::http::form::StoragePermit;
use crate::jobs::{self, Handler, Job, JobError, JobOutcome, JobPayload, RetryPolicy, Turns};
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as store;
use crate::quotas::model::{Payer, UploadPurpose};

/// How many chunks one query reads.
const SOME: i64 = 500;

/// Assembles a recording.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssembleRecording {
    recording_id: Id<ids::Recording>,
    /// The job was given up: all that is left is to tell the meeting.
    #[serde(default)]
    is_given_up: bool,
}

impl JobPayload for AssembleRecording {
    const KIND: &'static str = "assemble-recording";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues the assembly of a recording. Projects take turns.
///
/// # Errors
/// Only database errors.
pub async fn enqueue(
    conn: &mut Conn,
    meeting: &Meeting,
    recording_id: Id<ids::Recording>,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let (project, job) = (meeting.project_id.to_string(), AssembleRecording { recording_id, is_given_up: false });
    jobs::enqueue_in_turn(conn, &project, &job, now, request).await.map(|_| ())
}

/// Runs [`AssembleRecording`].
pub struct AssembleRecordingHandler {
    pub state: Meetings,
    pub prober: Prober,
}

#[async_trait]
impl Handler for AssembleRecordingHandler {
    type Payload = AssembleRecording;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// Assembling is bound by the disk.
    fn concurrency(&self) -> usize {
        2
    }

    /// The largest recording, 4 GiB, is copied and hashed within minutes, also through a slow bucket.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(120 * 60)
    }

    async fn run(&self, job: &Job, payload: AssembleRecording) -> Result<(), JobError> {
        let id = payload.recording_id;
        let read = self.state.db.read(move |conn| Box::pin(store::find(conn, id))).await;
        let found = read?;
        let Some((meeting_id, recording)) = found else { return Ok(()) };
        if recording.status() != RecordingStatus::Finalizing {
            return Ok(());
        }
        let outcome = match payload.is_given_up {
            true => Err(FailureReason::Abandoned),
            false => match self.assemble(&recording).await {
                Ok(content) => Ok(content),
                Err(Unassembled::Failed(reason)) => Err(reason),
                Err(Unassembled::Again(why)) => return Err(JobError::Unavailable(why)),
            },
        };
        let limits = self.state.recording_limits();
        let command = RecordingCommand::Finish { outcome };
        let command = Command::Recording { recording: id, command, limits };
        match self.state.registry.ask(meeting_id, command, job.request.clone()).await {
            Ok(_) | Err(CommandError::Missing | CommandError::Refused(_)) => Ok(()),
            Err(failure) => Err(JobError::Again(format!("the recording could not be completed: {failure:?}"))),
        }
    }

    /// Has the meeting told that the recording failed: its actor can't be asked within a transaction.
    async fn ended(
        &self,
        conn: &mut Conn,
        job: &Job,
        payload: Option<AssembleRecording>,
        outcome: JobOutcome<'_>,
        now: Time,
    ) -> Result<Vec<EventRecord>, DbError> {
        if let (Some(payload), JobOutcome::Failed(_)) = (payload, outcome)
            && !payload.is_given_up
        {
            let told = AssembleRecording { is_given_up: true, ..payload };
            jobs::enqueue_in_turn(conn, job.fair_key(), &told, now, &job.request).await?;
        }
        Ok(Vec::new())
    }
}

/// Why a recording was not assembled.
enum Unassembled {
    /// The recording itself is the reason.
    Failed(FailureReason),
    Again(String),
}

impl From<io::Error> for Unassembled {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::InvalidData => Self::Failed(FailureReason::Damaged),
            _ => Self::Again(error.to_string()),
        }
    }
}

impl AssembleRecordingHandler {
    async fn assemble(&self, recording: &Recording) -> Result<RecordingContent, Unassembled> {
        let file = self.joined(recording).await?;
        let first = first_bytes(&file).await?;
        if agrees(recording.mime_type, &first) != Some(true) {
            return Err(Unassembled::Failed(FailureReason::WrongType));
        }
        let duration_ms = self.duration_ms(&file, recording.id).await?;
        let sha256: Digest =
            file.sha256.parse().map_err(|_| Unassembled::Again("a hash has no 64 digits".to_owned()))?;
        let content = RecordingContent { sha256, bytes: file.size, duration_ms };
        self.state.recordings.put(&files::content(recording.id, sha256), file).await?;
        Ok(content)
    }

    /// Copies the chunks, each of which must have the content that was acknowledged, into one file.
    async fn joined(&self, recording: &Recording) -> Result<Received, Unassembled> {
        let (id, end) = (recording.id, recording.received.next);
        // The chunks are counted, and go once this is stored. Until then it takes their space again.
        let bytes = Some(recording.received.bytes);
        let permit = self.state.quotas.begin(Payer::Installation, UploadPurpose::Live, bytes).await;
        let full = |full: ApiError| Unassembled::Again(full.to_string());
        let mut permit = permit.map_err(full)?;
        let receiving = self.state.recordings.receive().await;
        let mut incoming = receiving.map_err(|error| Unassembled::Again(error.to_string()))?;
        let mut next = 0;
        while next < end {
            let read = self.state.db.read(move |conn| Box::pin(store::chunks(conn, id, next, SOME))).await;
            let chunks = read.map_err(|error: DbError| Unassembled::Again(error.to_string()))?;
            let mut wanted = chunks.into_iter().filter(|chunk| chunk.index < end).peekable();
            if wanted.peek().is_none() {
                return Err(Unassembled::Failed(FailureReason::Damaged));
            }
            for chunk in wanted {
                if chunk.index != next {
                    return Err(Unassembled::Failed(FailureReason::Damaged));
                }
                permit.cover(incoming.size().saturating_add(chunk.bytes)).await.map_err(full)?;
                let sha256 = chunk.sha256.to_string();
                self.state.recordings.append(&files::chunk(id, &chunk), &sha256, &mut incoming).await.map_err(
                    |error| {
                        tracing::warn!(recording = %id, chunk = chunk.index, %error, "a chunk could not be read");
                        Unassembled::from(error)
                    },
                )?;
                next += 1;
            }
        }
        incoming.end().await.map_err(|error| Unassembled::Again(error.to_string()))
    }

    /// A recording whose duration can't be told is complete all the same: what the client said counts then.
    async fn duration_ms(&self, file: &Received, id: Id<ids::Recording>) -> Result<Option<u64>, Unassembled> {
        let opened = file.open().await.map_err(|error| Unassembled::Again(error.to_string()))?;
        match self.prober.duration_ms(opened.into_std().await).await {
            Ok(duration_ms) => Ok(duration_ms),
            Err(Unprobed::Unreadable(why)) => {
                tracing::warn!(recording = %id, why, "the duration of a recording can't be told");
                Ok(None)
            }
            Err(Unprobed::Interrupted(why)) => Err(Unassembled::Again(why)),
        }
    }
}

async fn first_bytes(file: &Received) -> io::Result<Vec<u8>> {
    use tokio::io::AsyncReadExt;
    let mut first = Vec::with_capacity(DECISIVE_BYTES);
    file.open().await?.take(DECISIVE_BYTES as u64).read_to_end(&mut first).await?;
    Ok(first)
}
