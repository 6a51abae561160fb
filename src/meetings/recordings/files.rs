//! The files of recordings: where they are, and their deletion once no row needs them, even if the server was stopped
//! in between. Idempotent.

use std::collections::HashSet;
use std::time::{Duration, SystemTime};

use actors::ids::{self, Id};
use actors::live::RequestId;
use actors::meeting::{Chunk, Digest, Meeting, RecordingStatus};
use actors::time::Time;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};

use crate::clients::files::{FilePath, SETTLED};
use crate::db::{Conn, DbError, ROWS};
use crate::jobs::{self, Handler, Job, JobError, JobPayload, RetryPolicy, Turns};
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings::{self as store, StoredStatus};

/// How many chunks one query reads.
const SOME: i64 = 1000;
/// The folder of a recording's chunks, in that of the recording.
const CHUNKS: &str = "chunks";

/// Everything of a recording.
#[must_use]
pub fn folder(id: Id<ids::Recording>) -> FilePath {
    FilePath::of([id.to_string()])
}

/// All chunks of a recording.
#[must_use]
pub fn chunks(id: Id<ids::Recording>) -> FilePath {
    FilePath::of([id.to_string(), CHUNKS.to_owned()])
}

#[must_use]
pub fn chunk(id: Id<ids::Recording>, chunk: &Chunk) -> FilePath {
    FilePath::of([id.to_string(), CHUNKS.to_owned(), format!("{}-{}", chunk.file, chunk.sha256)])
}

/// The assembled content of a recording.
#[must_use]
pub fn content(id: Id<ids::Recording>, sha256: Digest) -> FilePath {
    FilePath::of([id.to_string(), sha256.to_string()])
}

/// Deletes the files of recordings that their rows no longer need.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DeleteRecordingFiles {
    recording_ids: Vec<Id<ids::Recording>>,
}

impl JobPayload for DeleteRecordingFiles {
    const KIND: &'static str = "delete-recording-files";
    const TURNS: Turns = Turns::InOrder("nobody waits for files that nothing names any more");
}

/// Enqueues the deletion of what is no longer needed once the transaction has committed.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_deletion(
    conn: &mut Conn,
    recording_ids: Vec<Id<ids::Recording>>,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    if recording_ids.is_empty() {
        return Ok(());
    }
    jobs::enqueue(conn, &DeleteRecordingFiles { recording_ids }, now, request).await.map(|_| ())
}

/// As [`enqueue_deletion`], for all recordings of a meeting that is deleted in the same transaction.
///
/// # Errors
/// Only database errors.
pub async fn enqueue_deletion_of_meeting(
    conn: &mut Conn,
    meeting_id: Id<Meeting>,
    now: Time,
    request: &RequestId,
) -> Result<(), DbError> {
    let all = store::ids_of(conn, meeting_id).await?;
    enqueue_deletion(conn, all, now, request).await
}

/// Runs [`DeleteRecordingFiles`].
pub struct DeleteRecordingFilesHandler {
    pub state: Meetings,
}

#[async_trait]
impl Handler for DeleteRecordingFilesHandler {
    type Payload = DeleteRecordingFiles;

    fn retry_policy(&self) -> RetryPolicy {
        RetryPolicy::UNTIL_DONE
    }

    /// It deletes the files of a few recordings, in a folder or in a bucket; those that are gone stay gone.
    fn time_limit(&self) -> Duration {
        Duration::from_secs(30 * 60)
    }

    async fn run(&self, _: &Job, payload: DeleteRecordingFiles) -> Result<(), JobError> {
        let deleted = delete_unneeded(&self.state, payload.recording_ids, Unknown::Deleted).await;
        deleted.map(|_| ()).map_err(JobError::Unavailable)
    }
}

/// Reads all chunks of a recording that are stored, page by page: at most [`MAX_CHUNKS`](actors::meeting::MAX_CHUNKS).
///
/// # Errors
/// Only database errors.
pub async fn all_chunks(state: &Meetings, id: Id<ids::Recording>) -> Result<Vec<Chunk>, DbError> {
    let (mut all, mut from) = (Vec::new(), Some(0));
    while let Some(first) = from {
        let page = state.db.read(move |conn| Box::pin(store::chunks(conn, id, first, SOME))).await?;
        from = page.last().map(|chunk| chunk.index.saturating_add(1));
        all.extend(page);
    }
    Ok(all)
}

/// What a recording without a row is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unknown {
    /// It was deleted.
    Deleted,
    /// It was deleted, or it is on its way: the file of a transcript is stored before its row.
    Unsettled,
}

/// Deletes those files of these recordings that their rows do not need; returns the number of recordings with any such.
async fn delete_unneeded(state: &Meetings, ids: Vec<Id<ids::Recording>>, unknown: Unknown) -> Result<usize, String> {
    let before = SystemTime::from((state.now() - SETTLED).utc());
    let wanted = ids.clone();
    let read = state.db.read(move |conn| Box::pin(store::statuses(conn, wanted))).await;
    let statuses = read?;
    let mut deleted = 0;
    for id in ids {
        let unneeded = match statuses.get(&id) {
            None if unknown == Unknown::Unsettled && is_young(state, id, before).await? => continue,
            None => folder(id),
            Some(StoredStatus { status: RecordingStatus::Ready, .. }) => chunks(id),
            Some(StoredStatus { status: RecordingStatus::Expired, .. })
            | Some(StoredStatus { status: RecordingStatus::Failed, repairable: false }) => folder(id),
            Some(_) => {
                deleted += usize::from(delete_unnamed(state, id, before).await?);
                continue;
            }
        };
        state.recordings.delete_all(&unneeded).await.map_err(|error| format!("recording {id}: {error}"))?;
        deleted += 1;
    }
    Ok(deleted)
}

/// Whether a file of a recording was stored since a given time.
async fn is_young(state: &Meetings, id: Id<ids::Recording>, since: SystemTime) -> Result<bool, String> {
    let newest = state.recordings.newest(&folder(id)).await.map_err(|error| format!("recording {id}: {error}"))?;
    Ok(newest.is_some_and(|newest| newest >= since))
}

/// Deletes the files of a recording's chunks that no row names and that were stored before a given time: a chunk that has no row
/// by then never will have one. Returns whether there was any such.
async fn delete_unnamed(state: &Meetings, id: Id<ids::Recording>, before: SystemTime) -> Result<bool, String> {
    let failed = |error: std::io::Error| format!("recording {id}: {error}");
    let old = state.recordings.stored_before(&chunks(id), before).await.map_err(failed)?;
    if old.is_empty() {
        return Ok(false);
    }
    // Read after the files: what is named meanwhile is among them.
    let named = all_chunks(state, id).await?;
    let named: HashSet<FilePath> = named.iter().map(|named| chunk(id, named)).collect();
    let mut is_any = false;
    for path in old.into_iter().filter(|path| !named.contains(path)) {
        state.recordings.delete(&path).await.map_err(failed)?;
        is_any = true;
    }
    Ok(is_any)
}

/// Compares all folders with the rows, and deletes what no row needs: files of a chunk or a recording that a killed
/// server left behind, and those of an upload that was taken back just then. Returns the number of recordings with any such.
///
/// # Errors
/// Returns the reason why some files were not deleted.
pub async fn sweep(state: &Meetings) -> Result<usize, String> {
    let names = state.recordings.names().await.map_err(|error| error.to_string())?;
    let all: Vec<Id<ids::Recording>> = names.iter().filter_map(|name| name.parse().ok()).collect();
    let mut deleted = 0;
    for some in all.chunks(ROWS) {
        if state.tasks.stopping().is_cancelled() {
            break;
        }
        deleted += delete_unneeded(state, some.to_vec(), Unknown::Unsettled).await?;
    }
    Ok(deleted)
}
