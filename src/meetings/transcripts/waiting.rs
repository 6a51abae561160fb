//! Wakes transcripts that wait for a model once it is installed.

use std::time::Duration;

use actors::live::RequestId;
use actors::meeting::TranscriptStatus;

use super::model::TranscriptVersion;
use super::store::TranscriptProgress;
use super::{making, store};
use crate::db::DbError;
use crate::meetings::state::Meetings;
use crate::meetings::store::recordings as stored_recordings;
use crate::models;

const CHECK_INTERVAL: Duration = Duration::from_secs(5);
/// How many versions one query returns; the rest follows at the next check.
const PAGE: i64 = 500;

/// Looks for installed models until the server stops.
pub async fn watch(state: Meetings) {
    let stopping = state.tasks.stopping();
    loop {
        if let Err(error) = once(&state).await {
            tracing::warn!(%error, "transcripts that wait for a model could not be queried; retrying later");
        }
        tokio::select! {
            () = tokio::time::sleep(CHECK_INTERVAL) => {}
            () = stopping.cancelled() => return,
        }
    }
}

async fn once(state: &Meetings) -> Result<(), DbError> {
    let waiting = state.db.read(move |conn| Box::pin(store::waiting(conn, PAGE))).await?;
    if waiting.is_empty() {
        return Ok(());
    }
    let (folder, is_embedded) = (state.config.models_folder(), state.config.speech.is_embedded());
    let looked = tokio::task::spawn_blocking(move || {
        let is_there =
            |version: &TranscriptVersion| !is_embedded || models::installed(&folder, &version.model).is_some();
        waiting.into_iter().filter(is_there).collect::<Vec<_>>()
    });
    for version in looked.await.unwrap_or_default() {
        let recording = version.recording_id;
        // The others do not wait for one that fails.
        if let Err(error) = wake(state, version).await {
            tracing::warn!(%recording, %error, "a transcript that waits for a model could not be woken; retrying later");
        }
    }
    Ok(())
}

async fn wake(state: &Meetings, version: TranscriptVersion) -> Result<(), DbError> {
    let id = version.recording_id;
    let found = state.db.read(move |conn| Box::pin(stored_recordings::find(conn, id))).await?;
    let Some((meeting_id, _)) = found else { return Ok(()) };
    let Ok(Some(meeting)) = state.registry.snapshot(meeting_id).await else { return Ok(()) };
    let (project_id, now) = (meeting.state.project_id, state.now());
    let written = state.db.write(move |conn| {
        Box::pin(async move {
            let queued = TranscriptProgress { status: TranscriptStatus::Queued, ..TranscriptProgress::of(&version) };
            if store::advance(conn, &version, &queued).await? {
                let request = RequestId::from("model-installed");
                making::enqueue(conn, project_id, id, version.number, now, &request).await?;
            }
            Ok::<_, DbError>(())
        })
    });
    written.await?;
    state.jobs.wake();
    Ok(())
}
