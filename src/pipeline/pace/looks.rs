//! How long a thread goes without a look at the cancel token.

use std::cell::Cell;
use std::time::Duration;

use super::super::ladder::{counted_time, processor_time};

thread_local! {
    /// When this thread looked at the cancel token last, and the longest time that it did not.
    static LOOKS: Cell<Option<(Duration, Duration)>> = const { Cell::new(None) };
}

/// Called at each look.
pub fn looked() {
    if let Some((last, longest)) = LOOKS.get() {
        let now = counted_time();
        LOOKS.set(Some((now, longest.max(now.saturating_sub(last)))));
    }
}

/// How long the work takes, and the longest time in it without a look.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration, Duration) {
    let before = processor_time();
    LOOKS.set(Some((before, Duration::ZERO)));
    let made = work();
    looked();
    let stretch = LOOKS.take().map_or(Duration::ZERO, |(_, longest)| longest);
    (made, processor_time().saturating_sub(before), stretch)
}
