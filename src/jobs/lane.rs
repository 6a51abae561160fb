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

use super::JobError;
use super::dispatch::AnyHandler;

/// The longest pause between two checks whether a service is back.
pub const MAX_OUTAGE_PAUSE: Duration = Duration::from_secs(60);

pub struct Lane {
    pub handler: Arc<dyn AnyHandler>,
    permits: Arc<Semaphore>,
    outage: Mutex<Option<Outage>>,
}

#[derive(Clone, Copy)]
struct Outage {
    /// How often in a row it was unavailable.
    times: i64,
    until: Time,
}

impl Lane {
    pub fn of(handler: Arc<dyn AnyHandler>) -> Self {
        let permits = Arc::new(Semaphore::new(handler.concurrency()));
        Self { handler, permits, outage: Mutex::new(None) }
    }

    /// Returns how many more jobs may start.
    pub fn free(&self, now: Time) -> usize {
        let free = self.permits.available_permits();
        match *self.outage.lock().unwrap_or_else(PoisonError::into_inner) {
            None => free,
            Some(outage) if now < outage.until => 0,
            Some(_) => usize::from(free == self.handler.concurrency()),
        }
    }

    /// Acquires a permit to run a job; `None` when none is free.
    pub fn acquire(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.permits).try_acquire_owned().ok()
    }

    /// Updates the back-off with the result of an attempt.
    pub fn record(&self, tried: &Result<(), JobError>, now: Time) {
        let mut outage = self.outage.lock().unwrap_or_else(PoisonError::into_inner);
        *outage = match tried {
            Err(JobError::Unavailable(_)) => {
                let times = outage.map_or(1, |outage| outage.times + 1);
                Some(Outage { times, until: now + pause(times, MAX_OUTAGE_PAUSE) })
            }
            Err(JobError::Lapsed(_)) => *outage,
            Ok(()) | Err(JobError::Again(_) | JobError::Never(_) | JobError::NextTurn) => None,
        };
    }

    /// Returns how long a failed job waits until its next attempt.
    pub fn pause_of(&self, fault: &JobError, attempt: i64) -> Duration {
        let longest = match fault {
            JobError::Unavailable(_) => MAX_OUTAGE_PAUSE,
            _ => self.handler.retry_policy().longest_pause,
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
    use serde::{Deserialize, Serialize};

    use super::super::{Handler, Job, JobPayload, Turns};
    use super::*;

    #[derive(Serialize, Deserialize)]
    struct DoNothing;

    impl JobPayload for DoNothing {
        const KIND: &'static str = "idle";
        const TURNS: Turns = Turns::Fair;
    }

    struct Idle;

    #[async_trait]
    impl Handler for Idle {
        type Payload = DoNothing;

        fn concurrency(&self) -> usize {
            2
        }
        fn time_limit(&self) -> Duration {
            Duration::from_secs(60)
        }
        async fn run(&self, _job: &Job, _: DoNothing) -> Result<(), JobError> {
            Ok(())
        }
    }

    fn outage() -> Result<(), JobError> {
        Err(JobError::Unavailable("nobody answers".to_owned()))
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
            lane.record(&outage(), now);
            assert_eq!(lane.free(now), 0);
            now = now + MAX_OUTAGE_PAUSE * 3 / 2;
            assert_eq!(lane.free(now), 1);
            let asking = lane.acquire();
            assert_eq!(lane.free(now), 0);
            drop(asking);
        }
        // The pauses have grown to half a minute at least.
        lane.record(&outage(), now);
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
            lane.record(&outage(), noon());
            lane.record(&Err(JobError::Lapsed("too late".to_owned())), noon());
            assert_eq!(lane.free(noon()), 0);
            lane.record(&answer, noon());
            assert_eq!(lane.free(noon()), 2);
        }
    }
}
