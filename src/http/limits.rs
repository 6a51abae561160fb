//! How often one may ask: the classes of `[limits]` in the settings.
//!
//! Calls are counted in memory: a restart forgives them. What must hold across restarts (log-ins, wrong passwords, codes by
//! mail) is counted in the store, see `db::attempts`; [`rate`] says how a class is counted there.

use std::hash::{BuildHasher, RandomState};
use std::num::NonZeroU32;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::failure::Failure;
use crate::config::Class;
use crate::db::attempts::Rate;

/// One class of calls, counted in memory.
pub struct Limit {
    /// `None`: no limit.
    rate: Option<DefaultKeyedRateLimiter<u64>>,
    clock: DefaultClock,
    /// Keys are remembered by their hash: all cost the same.
    hashes: RandomState,
    cleared: Mutex<Instant>,
}

/// The classes in memory.
pub struct Limits {
    /// Every call, by account, or by client address where nobody is signed in.
    pub calls: Limit,
}

/// How many keys a class remembers. Past that, those that are new share so many places.
const KEYS: usize = 100_000;
const SHARED: u64 = 1024;
/// How often at most it looks which keys are at rest and can be let go of: it looks at all.
const CLEARING: Duration = Duration::from_secs(1);

impl Limit {
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

    /// Counts one call.
    ///
    /// # Errors
    /// 429 with the time after which it would pass.
    pub fn take(&self, key: &str) -> Result<(), Failure> {
        let Some(rate) = &self.rate else { return Ok(()) };
        let hash = self.hashes.hash_one(key);
        let key = if rate.len() < KEYS || self.let_go_of_those_at_rest(rate) { hash } else { hash % SHARED };
        rate.check_key(&key)
            .map_err(|early| Failure::too_many(early.wait_time_from(self.clock.now()).max(Duration::from_secs(1))))
    }
}

impl Limit {
    /// Whether there is room after that. Who comes while another looks, or just after it, finds none.
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

/// A class as the store counts it; `name` is the setting's.
#[must_use]
pub const fn rate(name: &'static str, class: Class) -> Rate {
    Rate { class: name, most: class.most as i64, window: class.window() }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Class, KEYS, Limit, SHARED};

    #[test]
    fn past_the_limit_a_caller_waits_and_others_do_not() {
        let limit = Limit::of(Class { most: 3, seconds: 60 });
        assert!((0..3).all(|_| limit.take("one").is_ok()));
        let refused = limit.take("one").unwrap_err();
        assert_eq!(refused.code.status, 429);
        assert!(refused.retry_after.is_some_and(|wait| wait >= Duration::from_secs(1)));
        assert!(limit.take("other").is_ok());
    }

    #[test]
    fn callers_without_number_are_remembered_in_bounded_room_and_are_limited_all_the_same() {
        let limit = Limit::of(Class { most: 2, seconds: 3600 });
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
