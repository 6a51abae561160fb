//! Test helper that measures how long a thread goes without checking the cancel token.

use std::cell::Cell;
use std::time::Duration;

use complexity::{counted_time, processor_time};

thread_local! {
    /// The time of this thread's last check of the cancel token, and the longest time without one.
    static CHECKS: Cell<Option<(Duration, Duration)>> = const { Cell::new(None) };
}

/// Records a check. Called at each check of the cancel token.
pub fn record_check() {
    if let Some((last, longest)) = CHECKS.get() {
        let now = counted_time();
        CHECKS.set(Some((now, longest.max(now.saturating_sub(last)))));
    }
}

/// Runs `work` and returns its result, its CPU time, and the longest time in it without a check of the cancel token.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration, Duration) {
    let before = processor_time();
    CHECKS.set(Some((before, Duration::ZERO)));
    let result = work();
    record_check();
    let interval = CHECKS.take().map_or(Duration::ZERO, |(_, longest)| longest);
    (result, processor_time().saturating_sub(before), interval)
}
