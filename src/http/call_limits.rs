//! Rate limits on calls: the classes of `[limits]` in the settings.
//!
//! Calls are counted in memory, so a restart resets the counts. Limits that must hold across restarts (log-ins, wrong
//! passwords, codes by e-mail) are counted in the database, see [`crate::db::rate_limits`]; [`rate`] describes a class
//! for it.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::error::ApiError;
use crate::config::Class;
use crate::db::rate_limits::Rate;

/// The rate limit of one class of calls, counted in memory.
pub struct CallLimit {
    /// `None`: unlimited.
    rate: Option<DefaultKeyedRateLimiter<u64>>,
    clock: DefaultClock,
    /// Keys are stored by their hash, so that each costs the same memory.
    hashes: RandomState,
    cleared: Mutex<Instant>,
}

/// The number of keys that a class stores. Beyond it, new keys share [`SHARED`] buckets.
const KEYS: usize = 100_000;
const SHARED: u64 = 1024;
/// The minimum interval between removals of idle keys, because each removal scans all keys.
const CLEARING: Duration = Duration::from_secs(1);

impl CallLimit {
    #[must_use]
    pub fn of(class: Class) -> Self {
        let quota = NonZeroU32::new(class.most)
            .and_then(|most| Some(Quota::with_period(class.window() / most.get())?.allow_burst(most)));
        Self {
            rate: quota.map(RateLimiter::keyed),
            clock: DefaultClock::default(),
            hashes: RandomState::new(),
            cleared: Mutex::new(Instant::now()),
        }
    }

    /// Counts one call of `key`.
    ///
    /// # Errors
    /// 429 with the time to wait, at least one second.
    pub fn take(&self, key: &str) -> Result<(), ApiError> {
        let Some(rate) = &self.rate else { return Ok(()) };
        let hash = self.hashes.hash_one(key);
        let key = if rate.len() < KEYS || self.let_go_of_those_at_rest(rate) { hash } else { hash % SHARED };
        rate.check_key(&key)
            .map_err(|early| ApiError::too_many(early.wait_time_from(self.clock.now()).max(Duration::from_secs(1))))
    }
}

impl CallLimit {
    /// Removes idle keys and returns whether there is room afterwards. While another thread does so, or within
    /// [`CLEARING`] after it, returns false at once.
    fn let_go_of_those_at_rest(&self, rate: &DefaultKeyedRateLimiter<u64>) -> bool {
        let Ok(mut cleared) = self.cleared.try_lock() else { return false };
        if cleared.elapsed() < CLEARING {
            return false;
        }
        rate.retain_recent();
        *cleared = Instant::now();
        rate.len() < KEYS
    }
}

/// Describes a class for the limits that are counted in the database. `name` is the name of the setting.
#[must_use]
pub const fn rate(name: &'static str, class: Class) -> Rate {
    Rate { class: name, most: class.most as i64, window: class.window() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{CallLimit, Class, KEYS, SHARED};

    #[test]
    fn past_the_limit_a_caller_waits_and_others_do_not() {
        let limit = CallLimit::of(Class { most: 3, seconds: 60 });
        assert!((0..3).all(|_| limit.take("one").is_ok()));
        let refused = limit.take("one").unwrap_err();
        assert_eq!(refused.code.status, 429);
        assert!(refused.retry_after.is_some_and(|wait| wait >= Duration::from_secs(1)));
        assert!(limit.take("other").is_ok());
    }

    #[test]
    fn callers_without_number_are_remembered_in_bounded_room_and_are_limited_all_the_same() {
        let limit = CallLimit::of(Class { most: 2, seconds: 3600 });
        let known = || limit.rate.as_ref().unwrap().len();
        assert!((0..2).all(|_| limit.take("first").is_ok()));
        let mut refused = 0;
        for number in 0..3 * KEYS {
            refused += usize::from(limit.take(&format!("caller-{number}-{}", "x".repeat(number % 200))).is_err());
            assert!(known() <= KEYS + SHARED as usize);
        }
        assert!(refused > KEYS, "who shares a place shares its limit: {refused}");
        assert!(limit.take("first").is_err(), "who was known before is known still");
    }
}
