//! How often one may ask: the classes of `[limits]` in the settings.
//!
//! Calls are counted in memory: a restart forgives them. What must hold across restarts (log-ins, wrong passwords, codes by
//! mail) is counted in the store, see `db::attempts`; [`rate`] says how a class is counted there.

use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

use super::failure::Failure;
use crate::config::Class;
use crate::db::attempts::Rate;

/// One class of calls, counted in memory.
pub struct Limit {
    /// `None`: no limit.
    rate: Option<DefaultKeyedRateLimiter<String>>,
    clock: DefaultClock,
}

/// The classes in memory.
pub struct Limits {
    /// Every call, by account, or by client address where nobody is signed in.
    pub calls: Limit,
}

/// How many keys a class remembers before it lets go of those at rest.
const KEYS: usize = 100_000;

impl Limit {
    #[must_use]
    pub fn of(class: Class) -> Self {
        let quota = NonZeroU32::new(class.most)
            .and_then(|most| Some(Quota::with_period(class.window() / most.get())?.allow_burst(most)));
        Self { rate: quota.map(RateLimiter::keyed), clock: DefaultClock::default() }
    }

    /// Counts one call.
    ///
    /// # Errors
    /// 429 with the time after which it would pass.
    pub fn take(&self, key: &str) -> Result<(), Failure> {
        let Some(rate) = &self.rate else { return Ok(()) };
        if rate.len() > KEYS {
            rate.retain_recent();
        }
        rate.check_key(&key.to_owned())
            .map_err(|early| Failure::too_many(early.wait_time_from(self.clock.now()).max(Duration::from_secs(1))))
    }
}

/// A class as the store counts it; `name` is the setting's.
#[must_use]
pub const fn rate(name: &'static str, class: Class) -> Rate {
    Rate { class: name, most: class.most as i64, window: class.window() }
}
