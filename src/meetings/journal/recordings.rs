//! What events of recordings change in other rows: chunks, and the jobs that assemble a recording,
//! transcribe it, read an attached transcript and delete files.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Meeting, Recording, RecordingEvent, TranscriptStatus};
use actors::time::Time;

use crate::db::{Conn, DbError};
use crate::meetings::recordings::{assembly, files};
use crate::meetings::store::recordings as store;
use crate::meetings::transcripts::{attached, making};

/// Writes what an event changes, in the transaction of the meeting. Returns whether a job was enqueued.
///
/// # Errors
/// `Violated(Unique)` when another chunk with this index is stored; otherwise any database error.
pub async fn follow(
    conn: &mut Conn,
    meeting: &Meeting,
    id: Id<ids::Recording>,
    what: RecordingEvent,
    now: Time,
    request: &RequestId,
) -> Result<bool, DbError> {
    let recording = meeting.recordings.get(&id);
    match what {
        RecordingEvent::ChunkStored(chunk) => {
            store::insert_chunk(conn, meeting.id, id, &chunk, now).await?;
            Ok(false)
        }
        RecordingEvent::FileRewound => {
            let parts = recording.map_or(0, |recording| recording.received.next);
            store::delete_chunks(conn, id, parts).await?;
            Ok(false)
        }
        RecordingEvent::Finalizing => {
            assembly::enqueue(conn, meeting, id, now, request).await?;
            Ok(true)
        }
        RecordingEvent::Ready => {
            if recording.is_some_and(|recording| recording.transcript == TranscriptStatus::Queued) {
                making::enqueue(conn, meeting.project_id, id, 1, now, request).await?;
            }
            files::enqueue_deletion(conn, vec![id], now, request).await?;
            Ok(true)
        }
        RecordingEvent::Attached => {
            attached::reading::enqueue(conn, meeting.project_id, id, now, request).await?;
            Ok(true)
        }
        RecordingEvent::Expired => {
            files::enqueue_deletion(conn, vec![id], now, request).await?;
            Ok(true)
        }
        RecordingEvent::Failed => {
            let is_repairable = recording.is_some_and(Recording::is_repairable);
            if !is_repairable {
                files::enqueue_deletion(conn, vec![id], now, request).await?;
            }
            Ok(!is_repairable)
        }
        RecordingEvent::Deleted => {
            store::delete(conn, id).await?;
            files::enqueue_deletion(conn, vec![id], now, request).await?;
            Ok(true)
        }
        RecordingEvent::Started
        | RecordingEvent::Stopped
        | RecordingEvent::Paused
        | RecordingEvent::WaitsForOthers
        | RecordingEvent::Resumed
        | RecordingEvent::Transcript
        | RecordingEvent::TranscriptChanged => Ok(false),
    }
}
