//! Hourly cleanup: deletes expired rows, prunes old events, and removes unreferenced files.

use std::time::Duration;

use crate::accounts::{self, profile};
use crate::analysis::state::Analysis;
use crate::db::sweep::{self, Retention};
use crate::db::{events, idempotency, rate_limits};
use crate::meetings::recordings;
use crate::projects::documents;
use crate::{analysis, api, jobs, meetings, projects, reviews, trackers};

const HOURLY: Duration = Duration::from_secs(3600);
/// The interval of the file sweep, which has to check every file.
const DAILY: Duration = Duration::from_secs(24 * 3600);

/// Returns the expiry rules of all tables whose rows expire by age.
#[must_use]
pub fn retentions() -> Vec<Retention> {
    let mut all = vec![
        idempotency::retention(api::idempotency::KEY_LIFETIME),
        rate_limits::RETENTION,
        accounts::codes::store::RETENTION,
        accounts::external::RETENTION,
        accounts::resets::RETENTION,
        accounts::store::RETENTION,
        jobs::RETENTION,
        projects::people::store::invitations::RETENTION,
        meetings::invitations::store::RETENTION,
        analysis::store::RETENTION,
        analysis::store::answers::RETENTION,
        analysis::exports::store::RETENTION,
        analysis::imports::store::RETENTION,
        trackers::connections::store::RETENTION,
    ];
    all.extend(accounts::sessions::store::RETENTION);
    all.extend(reviews::invitations::store::RETENTION);
    all
}

/// Runs the sweeps every hour until the server stops. Safe to repeat: a sweep that fails is retried an hour later and
/// does not hold up the others.
pub async fn hourly(state: Analysis) {
    let stopping = state.tasks.stopping();
    let mut files_at = state.now();
    loop {
        let now = state.now();
        sweep::all(&state.db, &retentions(), now, &stopping).await;
        if let Err(error) = events::prune(&state.db, now, &stopping).await {
            tracing::warn!(%error, "old events could not be pruned; retrying later");
        }
        if files_at <= now {
            files_at = now + DAILY;
            let swept = [
                documents::contents::sweep(&state.projects).await,
                profile::avatar::sweep(&state.projects.accounts).await,
                recordings::files::sweep(&state.meetings).await,
            ];
            swept.into_iter().for_each(log_files);
        }
        log_files(analysis::exports::files::sweep(&state).await);
        log_files(analysis::imports::files::sweep(&state).await);
        if let Err(error) = state.db.overwrite_deleted().await {
            tracing::debug!(%error, "deleted data is not overwritten yet");
        }
        tokio::select! {
            () = tokio::time::sleep(HOURLY) => {}
            () = stopping.cancelled() => return,
        }
    }
}

fn log_files(swept: Result<usize, String>) {
    match swept {
        Ok(0) => {}
        Ok(files) => tracing::info!(files, "unreferenced files were removed"),
        Err(error) => tracing::warn!(error, "unreferenced files could not be removed; retrying later"),
    }
}

#[cfg(test)]
mod tests;
