//! How often one may ask: classes of calls, each with a rate for a key (an account or an address).
//!
//! Kept in memory; what must hold across restarts (codes by mail) is counted in the store instead.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::failure::Failure;

/// One class of calls.
pub struct Limit {
    rate: DefaultKeyedRateLimiter<String>,
    clock: DefaultClock,
    per_minute: u32,
}

/// The classes.
pub struct Limits {
    /// Every call, by account, or by address where nobody is signed in.
    pub calls: Limit,
    /// Log-ins, by account and address.
    pub logins: Limit,
}

/// How many keys a class remembers before it lets go of those at rest.
const KEYS: usize = 100_000;

impl Limit {
    #[must_use]
    pub fn per_minute(calls: u32) -> Self {
        let quota = Quota::per_minute(NonZeroU32::new(calls).unwrap_or(NonZeroU32::MIN));
        Self { rate: RateLimiter::keyed(quota), clock: DefaultClock::default(), per_minute: calls }
    }

    /// Counts one call.
    ///
    /// # Errors
    /// 429 with the time after which it would pass.
    pub fn take(&self, key: &str) -> Result<(), Failure> {
        if self.per_minute == 0 {
            return Ok(());
        }
        if self.rate.len() > KEYS {
            self.rate.retain_recent();
        }
        self.rate
            .check_key(&key.to_owned())
            .map_err(|early| Failure::too_many(early.wait_time_from(self.clock.now()).max(Duration::from_secs(1))))
    }
}
