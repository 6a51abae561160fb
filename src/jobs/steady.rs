//! A clock for jobs that never goes back: it follows the machine's clock, and where that is set back it continues from
//! the latest time by itself.
//!
//! So nothing that is due becomes due later: neither a waiting job nor a pause. A clock that is set forward is
//! followed, since new jobs carry its times from then on.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use actors::time::{Clock, Time};

pub struct Steady {
    clock: Arc<dyn Clock>,
    /// The latest time that the clock showed, and when it did.
    latest: Mutex<(Time, Instant)>,
}

impl Steady {
    pub fn by(clock: Arc<dyn Clock>) -> Self {
        let latest = Mutex::new((clock.now(), Instant::now()));
        Self { clock, latest }
    }

    pub fn now(&self) -> Time {
        self.at(Instant::now())
    }

    fn at(&self, instant: Instant) -> Time {
        let shown = self.clock.now();
        let mut latest = self.latest.lock().unwrap_or_else(PoisonError::into_inner);
        let (time, since) = *latest;
        let steady = time + instant.saturating_duration_since(since);
        if shown < steady {
            return steady;
        }
        *latest = (shown, instant);
        shown
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicI64, Ordering};
    use std::time::Duration;

    use super::*;

    struct TestClock(AtomicI64);

    impl Clock for TestClock {
        fn now(&self) -> Time {
            Time::from_millis(self.0.load(Ordering::SeqCst)).unwrap()
        }
    }

    #[test]
    fn a_clock_that_is_set_back_is_gone_on_from_and_one_that_is_set_forward_is_followed() {
        const HOUR: i64 = 3_600_000;
        let noon = 1_764_000_000_000;
        let clock = Arc::new(TestClock(AtomicI64::new(noon)));
        let steady = Steady::by(Arc::clone(&clock) as Arc<dyn Clock>);
        let began = Instant::now();
        let seen = |shown: i64, after: u64| {
            clock.0.store(noon + shown, Ordering::SeqCst);
            steady.at(began + Duration::from_millis(after)).millis() - noon
        };
        assert_eq!(seen(60_000, 60_000), 60_000);
        for back in [30_000, HOUR] {
            assert_eq!(seen(60_000 - back, 60_000), 60_000);
        }
        // It advances at the speed of real time, however often it is read.
        let asked: Vec<i64> = (1..=5_000).map(|milli| seen(0, 60_000 + milli)).collect();
        assert_eq!(asked, (60_001..=65_000).collect::<Vec<i64>>());
        assert_eq!(seen(HOUR, 65_000), HOUR);
        assert_eq!(seen(65_000, 66_000), HOUR + 1_000, "set right again, it is not gone back");
    }
}
