//! Waiting for something that no event tells a test of.

use std::time::{Duration, Instant};

/// The longest pause between two looks.
const MAX_PAUSE: Duration = Duration::from_millis(100);
/// The shortest.
const MIN_PAUSE: Duration = Duration::from_millis(2);

/// How long a test looks again and again. It waits a tenth of the time that it has waited already, so that it notices what
/// comes soon at once, and what takes seconds is not slowed down by a hundred looks in each of them.
pub struct Patience {
    began: Instant,
    limit: Duration,
}

impl Patience {
    pub fn of_seconds(limit: u64) -> Self {
        Self { began: Instant::now(), limit: Duration::from_secs(limit) }
    }

    /// Waits until the next look. Panics with what `missing` says once the limit has passed.
    pub async fn pause(&self, missing: impl FnOnce() -> String) {
        let waited = self.began.elapsed();
        assert!(waited < self.limit, "after {} s: {}", self.limit.as_secs(), missing());
        tokio::time::sleep((waited / 10).clamp(MIN_PAUSE, MAX_PAUSE)).await;
    }
}
