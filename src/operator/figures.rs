//! The figures that are expensive to compute: at most once a minute, whoever asks and however often.

use std::time::Duration;

use actors::live::RequestId;
use actors::time::Time;

use super::model::{InstallationFigures, SpaceFigures, StorageFigures, StorageKind};
use super::state::Operators;
use super::{probes, store};
use crate::db::number;
use crate::http::error::ApiError;
use crate::jobs;

/// How long figures are given out before they are computed again.
const AGE: Duration = Duration::from_secs(60);
/// How long the listing of stored avatars may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Returns figures that are at most a minute old.
///
/// # Errors
/// Returns the database error.
pub async fn figures(state: &Operators, request: &RequestId) -> Result<InstallationFigures, ApiError> {
    let mut latest = state.figures.0.lock().await;
    let now = state.now();
    let is_fresh = |figures: &&InstallationFigures| is_within(figures.computed_at, now);
    if let Some(figures) = latest.as_ref().filter(is_fresh) {
        return Ok(figures.clone());
    }
    let computed = computed(state, now, request).await?;
    *latest = Some(computed.clone());
    Ok(computed)
}

/// Whether a time is at most a minute ago; a time in the future is from a clock that was set back since.
fn is_within(computed_at: Time, now: Time) -> bool {
    computed_at <= now && now.since(computed_at) < AGE
}

async fn computed(state: &Operators, now: Time, request: &RequestId) -> Result<InstallationFigures, ApiError> {
    // One after the other, so that no query is long.
    let database = state.db.read(|conn| Box::pin(store::database(conn))).await?;
    let counts = state.db.read(|conn| Box::pin(store::counts(conn))).await?;
    let mut storage = state.db.read(|conn| Box::pin(store::storage(conn))).await?;
    storage.extend(avatars(state).await);
    let queues = jobs::operator::queues(&state.db).await?;
    Ok(InstallationFigures {
        computed_at: now,
        database,
        storage,
        accounts: counts.accounts,
        projects: counts.projects,
        live_meetings: counts.live_meetings,
        oldest_waiting_job_at: queues.iter().filter_map(|queue| queue.oldest_waiting_at).min(),
        queues,
        dependencies: probes::all(state, request).await,
        space: space(state).await?,
    })
}

async fn space(state: &Operators) -> Result<SpaceFigures, ApiError> {
    let quotas = &state.quotas;
    Ok(SpaceFigures {
        used_bytes: number(quotas.stored_bytes().await?),
        limit_bytes: quotas.installation_limit().map(number),
        free_bytes: quotas.free_space.free().await.map(number),
        reserve_bytes: number(quotas.free_space.reserve()),
    })
}

/// How much the stored avatars are; `None` where their store does not answer in time, since the rest is worth the more then.
async fn avatars(state: &Operators) -> Option<StorageFigures> {
    let usage = match tokio::time::timeout(PATIENCE, state.analysis.projects.accounts.avatars.usage()).await {
        Ok(Ok(usage)) => usage,
        Ok(Err(error)) => {
            tracing::warn!(%error, "the stored avatars could not be counted");
            return None;
        }
        Err(_) => {
            tracing::warn!("the stored avatars could not be counted in time");
            return None;
        }
    };
    Some(StorageFigures { kind: StorageKind::Avatars, count: number(usage.count), bytes: number(usage.bytes) })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use actors::time::Time;

    use super::is_within;

    #[test]
    fn figures_are_computed_again_after_a_minute_and_after_the_clock_was_set_back() {
        let now = Time::from_millis(1_764_000_000_000).unwrap();
        assert!(is_within(now, now) && is_within(now, now + Duration::from_millis(59_999)));
        assert!(!is_within(now, now + Duration::from_secs(60)));
        assert!(!is_within(now + Duration::from_secs(1), now));
    }
}
