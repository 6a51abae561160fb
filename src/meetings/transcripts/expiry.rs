//! Deletes transcripts that were kept as long as the settings say. What was found in them stays, with its quotes.
//!
//! A version that is due is FAILED first, so that nobody reads half of it. Its segments go page by page, then its meeting is
//! told, and its row goes last: a version whose deletion was cut off is still due.

use std::time::Duration;

use actors::live::RequestId;
use actors::meeting::{RecordingCommand, TranscriptStatus};

use super::model::{TranscriptVersion, overall};
use super::store::{self, TranscriptProgress};
use super::telling;
use crate::db::{DbError, sweep};
use crate::jobs::JobError;
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as stored_recordings;

const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How many versions one query returns; the rest follows at the next check.
const PAGE: i64 = 500;
const EXPIRED: &str = "The transcript has expired.";

/// Looks for versions that are due until the server stops; ends at once where transcripts are kept for good.
pub async fn watch(state: Meetings) {
    let Some(kept) = state.config.recordings.transcripts_kept() else { return };
    let stopping = state.tasks.stopping();
    loop {
        let before = state.now() - kept;
        match state.db.read(move |conn| Box::pin(store::finished_by(conn, before, PAGE))).await {
            Ok(due) => {
                for version in due.into_iter().take_while(|_| !stopping.is_cancelled()) {
                    let id = version.recording_id;
                    if let Err(failure) = delete(&state, version).await {
                        tracing::warn!(recording = %id, why = failure.why(), "an expired transcript could not be deleted; retrying later");
                    }
                }
            }
            Err(error) => tracing::warn!(%error, "expired transcripts could not be queried; retrying later"),
        }
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn delete(state: &Meetings, version: TranscriptVersion) -> Result<(), JobError> {
    let (id, recording_id) = (version.id, version.recording_id);
    let expired = TranscriptProgress {
        status: TranscriptStatus::Failed,
        error_message: Some(EXPIRED.to_owned()),
        ..TranscriptProgress::of(&version)
    };
    let is_ours = state.db.write(move |conn| Box::pin(async move { store::advance(conn, &version, &expired).await }));
    if !is_ours.await? {
        return Ok(());
    }
    let stopping = state.tasks.stopping();
    let pages =
        sweep::in_pages(&state.db, &stopping, move |conn| Box::pin(store::SEGMENTS.page(conn, id, sweep::PAGE)));
    pages.await?;
    let read = state.db.read(move |conn| {
        Box::pin(async move {
            let found = stored_recordings::find(conn, recording_id).await?;
            Ok::<_, DbError>((found, store::versions(conn, recording_id).await?))
        })
    });
    let (found, mut left) = read.await?;
    left.retain(|other| other.id != id);
    if let Some((meeting_id, _)) = found {
        let told = RecordingCommand::Transcribe { transcript: overall(&left) };
        telling::send(state, meeting_id, recording_id, told, RequestId::from("transcript-expired")).await?;
    }
    state.db.write(move |conn| Box::pin(store::delete(conn, id))).await?;
    Ok(())
}
