//! The concurrency limit and the back-off of one kind of job.
//!
//! ```text
//!            a job finds its service unavailable
//!   open ───────────────────────────────────► waiting: no job runs until a pause has passed, then one at a time
//!     ▲                                           │   │ unavailable again: a longer pause
//!     └───────────────────────────────────────────┘ ◄─┘
//!            the service answered, whatever its answer
//! ```
//! So a mail server that is down for hours is contacted once a minute, not once a minute for each e-mail, and all
//! waiting e-mails are sent once it is back.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use actors::time::Time;
use rand::RngExt;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{Handler, JobError};

/// The longest pause between two checks whether a service is back.
pub const LONGEST_AWAY: Duration = Duration::from_secs(60);

pub struct Lane {
    pub handler: Arc<dyn Handler>,
    places: Arc<Semaphore>,
    away: Mutex<Option<Away>>,
}

#[derive(Clone, Copy)]
struct Away {
    /// How often in a row it was unavailable.
    times: i64,
    until: Time,
}

impl Lane {
    pub fn of(handler: Arc<dyn Handler>) -> Self {
        let places = Arc::new(Semaphore::new(handler.at_once()));
        Self { handler, places, away: Mutex::new(None) }
    }

    /// Returns how many more jobs may start.
    pub fn free(&self, now: Time) -> usize {
        let free = self.places.available_permits();
        match *self.away.lock().unwrap_or_else(PoisonError::into_inner) {
            None => free,
            Some(away) if now < away.until => 0,
            Some(_) => usize::from(free == self.handler.at_once()),
        }
    }

    /// Acquires a permit to run a job; `None` when none is free.
    pub fn enter(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.places).try_acquire_owned().ok()
    }

    /// Updates the back-off with the result of an attempt.
    pub fn hear(&self, tried: &Result<(), JobError>, now: Time) {
        let mut away = self.away.lock().unwrap_or_else(PoisonError::into_inner);
        *away = match tried {
            Err(JobError::Away(_)) => {
                let times = away.map_or(1, |away| away.times + 1);
                Some(Away { times, until: now + pause(times, LONGEST_AWAY) })
            }
            Err(JobError::Lapsed(_)) => *away,
            Ok(()) | Err(JobError::Again(_) | JobError::Never(_)) => None,
        };
    }

    /// Returns how long a failed job waits until its next attempt.
    pub fn pause_of(&self, fault: &JobError, attempt: i64) -> Duration {
        let longest = match fault {
            JobError::Away(_) => LONGEST_AWAY,
            _ => self.handler.patience().longest_pause,
        };
        pause(attempt, longest)
    }
}

/// 1, 4, 16, 64 s and so on up to `longest`, times a random factor from 0.5 to 1.5.
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
        async fn run(&self, _job: &Job) -> Result<(), JobError> {
            Ok(())
        }
    }

    fn away() -> Result<(), JobError> {
        Err(JobError::Away("nobody answers".to_owned()))
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
        // The pauses have grown to half a minute at least.
        lane.hear(&away(), now);
        assert_eq!(lane.free(now + Duration::from_secs(29)), 0);
    }

    #[test]
    fn pauses_grow_fourfold_up_to_the_longest_and_no_two_who_fail_together_come_together() {
        let lane = Lane::of(Arc::new(Idle));
        for (attempt, base) in [(1, 1.0), (2, 4.0), (3, 16.0), (4, 64.0), (5, 64.0), (i64::MAX, 64.0)] {
            let pauses: Vec<f64> =
                (0..50).map(|_| lane.pause_of(&JobError::Again(String::new()), attempt).as_secs_f64()).collect();
            assert!(pauses.iter().all(|pause| (base * 0.5..base * 1.5).contains(pause)), "{attempt}: {pauses:?}");
            assert!(pauses.iter().any(|pause| (pause - pauses[0]).abs() > base / 100.0), "{attempt}: {pauses:?}");
        }
    }

    #[test]
    fn any_answer_opens_the_lane_and_silence_about_it_does_not() {
        let again = Err(JobError::Again("put off".to_owned()));
        let never = Err(JobError::Never("refused".to_owned()));
        for answer in [Ok(()), again, never] {
            let lane = Lane::of(Arc::new(Idle));
            lane.hear(&away(), noon());
            lane.hear(&Err(JobError::Lapsed("too late".to_owned())), noon());
            assert_eq!(lane.free(noon()), 0);
            lane.hear(&answer, noon());
            assert_eq!(lane.free(noon()), 2);
        }
    }
}
