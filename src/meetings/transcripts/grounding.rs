//! What rests on a transcript is looked at again when the transcript changes, or may no longer be analysed.

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Meeting, TranscriptStatus};
use actors::time::Time;
use serde::{Deserialize, Serialize};

use super::sources;
use crate::db::{Conn, DbError};
use crate::jobs::{self, JobPayload, Turns};
use crate::meetings;

/// Looks again at all items of a project that quote a recording.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroundItemsAgain {
    pub project_id: Id<ids::Project>,
    pub recording_id: Id<ids::Recording>,
}

impl JobPayload for GroundItemsAgain {
    const KIND: &'static str = "ground-items-again";
    const TURNS: Turns = Turns::Fair;
}

/// Enqueues that the items that quote a recording are looked at again. Projects take turns.
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
    let (project, job) = (project_id.to_string(), GroundItemsAgain { project_id, recording_id });
    jobs::enqueue_in_turn(conn, &project, &job, now, request).await.map(|_| ())
}

/// After somebody's consent changed: enqueues it for each transcript that may not be analysed now. Returns whether there
/// is one.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_withheld(
    conn: &mut Conn,
    meeting: &Meeting,
    now: Time,
    request: &RequestId,
) -> Result<bool, DbError> {
    let mut is_any = false;
    for recording in meeting.recordings.values() {
        if recording.transcript == TranscriptStatus::Ready && !sources::may_be_analysed(meeting, recording) {
            enqueue(conn, meeting.project_id, recording.id, now, request).await?;
            is_any = true;
        }
    }
    Ok(is_any)
}

/// Enqueues it for each transcript of a meeting.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_of_meeting(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let Some(meeting) = meetings::store::find(conn, meeting_id).await? else { return Ok(()) };
    for recording in meeting.recordings.values() {
        if recording.transcript == TranscriptStatus::Ready {
            enqueue(conn, meeting.project_id, recording.id, now, request).await?;
        }
    }
    Ok(())
}
