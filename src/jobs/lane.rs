//! The jobs of one kind: how many may run now.
//!
//! ```text
//!            a job finds whom it needs away
//!   open ───────────────────────────────────► waiting: nobody runs until a pause is over, then one at a time
//!     ▲                                           │   │ away again: a longer pause
//!     └───────────────────────────────────────────┘ ◄─┘
//!            whom it needs answered, whatever it said
//! ```
//! So a mail server that is down for hours is asked once a minute, not once a minute for each letter, and all that waits
//! goes out once it is back.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actors::time::Time;
use rand::RngExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Fault, Handler};

/// Between two looks at whether somebody is back.
pub const LONGEST_AWAY: Duration = Duration::from_secs(60);

pub struct Lane {
    pub handler: Arc<dyn Handler>,
    places: Arc<Semaphore>,
    away: Mutex<Option<Away>>,
}

#[derive(Clone, Copy)]
struct Away {
    /// How often in a row.
    times: i64,
    until: Time,
}

impl Lane {
    pub fn of(handler: Arc<dyn Handler>) -> Self {
        let places = Arc::new(Semaphore::new(handler.at_once()));
        Self { handler, places, away: Mutex::new(None) }
    }

    /// How many more jobs may begin.
    pub fn free(&self, now: Time) -> usize {
        let free = self.places.available_permits();
        match *self.away.lock().unwrap_or_else(PoisonError::into_inner) {
            None => free,
            Some(away) if now < away.until => 0,
            Some(_) => usize::from(free == self.handler.at_once()),
        }
    }

    /// A place to work at; `None` while there is none.
    pub fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Takes what a job's try says of whom its kind needs.
    pub fn hear(&self, tried: &Result<(), Fault>, now: Time) {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        *away = match tried {
            Err(Fault::Away(_)) => {
                let times = away.map_or(1, |away| away.times + 1);
                Some(Away { times, until: now + pause(times, LONGEST_AWAY) })
            }
            Err(Fault::Lapsed(_)) => *away,
            Ok(()) | Err(Fault::Again(_) | Fault::Never(_)) => None,
        };
    }

    /// How long until a job that failed is tried again.
    pub fn pause_of(&self, fault: &Fault, attempt: i64) -> Duration {
        let longest = match fault {
            Fault::Away(_) => LONGEST_AWAY,
            _ => self.handler.patience().longest_pause,
        };
        pause(attempt, longest)
    }
}

/// 1, 4, 16, 64 s and so on up to the longest, each half to one and a half times as long.
fn pause(times: i64, longest: Duration) -> Duration {
    let base = 4_f64.powi(i32::try_from(times - 1).unwrap_or(i32::MAX).clamp(0, 10)).min(longest.as_secs_f64());
    Duration::from_secs_f64(base * rand::rng().random_range(0.5..1.5))
}

#[cfg(test)]
mod tests {
    use async_trait::async_trait;

    use super::super::Job;
    use super::*;

    struct Idle;

    #[async_trait]
    impl Handler for Idle {
        fn kind(&self) -> &'static str {
            "idle"
        }
        fn at_once(&self) -> usize {
            2
        }
        async fn run(&self, _job: &Job) -> Result<(), Fault> {
            Ok(())
        }
    }

    fn away() -> Result<(), Fault> {
        Err(Fault::Away("nobody answers".to_owned()))
    }

    fn noon() -> Time {
        Time::from_millis(1_764_000_000_000).unwrap()
    }

    #[test]
    fn who_is_away_is_asked_by_one_job_at_a_time_and_at_least_once_in_a_minute_and_a_half() {
        let lane = Lane::of(Arc::new(Idle));
        let mut now = noon();
        assert_eq!(lane.free(now), 2);
        for _ in 0..40 {
            lane.hear(&away(), now);
            assert_eq!(lane.free(now), 0);
            now = now + LONGEST_AWAY * 3 / 2;
            assert_eq!(lane.free(now), 1);
            let asking = lane.enter();
            assert_eq!(lane.free(now), 0);
            drop(asking);
        }
        // Pauses have grown: a second is no longer enough.
        lane.hear(&away(), now);
        assert_eq!(lane.free(now + Duration::from_secs(29)), 0);
    }

    #[test]
    fn pauses_grow_fourfold_up_to_the_longest_and_no_two_who_fail_together_come_together() {
        let lane = Lane::of(Arc::new(Idle));
        for (attempt, base) in [(1, 1.0), (2, 4.0), (3, 16.0), (4, 64.0), (5, 64.0), (i64::MAX, 64.0)] {
            let pauses: Vec<f64> =
                (0..50).map(|_| lane.pause_of(&Fault::Again(String::new()), attempt).as_secs_f64()).collect();
            assert!(pauses.iter().all(|pause| (base * 0.5..base * 1.5).contains(pause)), "{attempt}: {pauses:?}");
            assert!(pauses.iter().any(|pause| (pause - pauses[0]).abs() > base / 100.0), "{attempt}: {pauses:?}");
        }
    }

    #[test]
    fn any_answer_opens_the_lane_and_silence_about_it_does_not() {
        let again = Err(Fault::Again("put off".to_owned()));
        let never = Err(Fault::Never("refused".to_owned()));
        for answer in [Ok(()), again, never] {
            let lane = Lane::of(Arc::new(Idle));
            lane.hear(&away(), noon());
            lane.hear(&Err(Fault::Lapsed("too late".to_owned())), noon());
            assert_eq!(lane.free(noon()), 0);
            lane.hear(&answer, noon());
            assert_eq!(lane.free(noon()), 2);
        }
    }
}
