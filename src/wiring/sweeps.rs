//! Hourly cleanup: deletes expired rows, prunes old events, and removes unreferenced files.

use std::time::Duration;

use crate::accounts::{self, profile};
use crate::db::sweep::{self, Over};
use crate::db::{events, idempotency, rate_limits};
use crate::projects::documents;
use crate::projects::state::Projects;
use crate::{analysis, api, jobs, meetings, projects};

const HOURLY: Duration = Duration::from_secs(3600);
/// The interval of the file sweep, which has to check every file.
const DAILY: Duration = Duration::from_secs(24 * 3600);

/// Returns the expiry rules of all tables whose rows expire by age.
#[must_use]
pub fn over() -> Vec<Over> {
    let mut all = vec![
        idempotency::over(api::idempotency::KEPT),
        rate_limits::OVER,
        accounts::codes::store::OVER,
        accounts::external::OVER,
        accounts::resets::OVER,
        accounts::store::OVER,
        jobs::OVER,
        projects::people::store::invitations::OVER,
        meetings::invitations::store::OVER,
        analysis::store::OVER,
    ];
    all.extend(accounts::sessions::store::OVER);
    all
}

/// Runs the sweeps every hour until the server stops. Safe to repeat: a sweep that fails is retried an hour later and
/// does not hold up the others.
pub async fn hourly(state: Projects) {
    let stopping = state.tasks.stopping();
    let mut files_at = state.now();
    loop {
        let now = state.now();
        sweep::all(&state.db, &over(), now, &stopping).await;
        if let Err(error) = events::prune(&state.db, now, &stopping).await {
            tracing::warn!(%error, "events could not be pruned; it comes again");
        }
        if files_at <= now {
            files_at = now + DAILY;
            for swept in [documents::contents::sweep(&state).await, profile::avatar::sweep(&state).await] {
                match swept {
                    Ok(0) => {}
                    Ok(files) => tracing::info!(files, "files that nothing named were removed"),
                    Err(error) => tracing::warn!(error, "files could not be swept; it comes again"),
                }
            }
        }
        if let Err(error) = state.db.overwrite_deleted().await {
            tracing::debug!(%error, "what was deleted is not overwritten yet");
        }
        tokio::select! {
            () = tokio::time::sleep(HOURLY) => {}
            () = stopping.cancelled() => return,
        }
    }
}

#[cfg(test)]
mod tests;
