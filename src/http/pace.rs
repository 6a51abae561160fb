//! Limits how slow a client may be. Waiting for the client uses up a grace period; the bytes it transfers add to it,
//! never beyond its full length. So neither a pause nor a trickle can last, while a large transfer may take as long as
//! it needs.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::error::PayloadError;
use bytes::Bytes;
use futures_util::Stream;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::config::Http;

/// The settings for slow clients, in both directions.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    grace: Duration,
    bytes_per_second: u64,
}

impl Pace {
    #[must_use]
    pub const fn of(settings: &Http) -> Self {
        Self { grace: Duration::from_secs(settings.grace_seconds), bytes_per_second: settings.least_bytes_per_second }
    }
}

/// The grace period of one client, and how much of it is left.
#[derive(Debug)]
pub struct Patience {
    pace: Pace,
    left: Duration,
    waiting_since: Option<Instant>,
}

impl Patience {
    #[must_use]
    pub const fn new(pace: Pace) -> Self {
        Self { pace, left: pace.grace, waiting_since: None }
    }

    #[must_use]
    pub const fn pace(&self) -> Pace {
        self.pace
    }

    /// Starts waiting for the client.
    pub fn wait(&mut self, now: Instant) {
        self.waiting_since.get_or_insert(now);
    }

    /// Ends the waiting: the client has transferred that many bytes.
    pub fn moved(&mut self, bytes: usize, now: Instant) {
        if let Some(since) = self.waiting_since.take() {
            self.left = self.left.saturating_sub(now.duration_since(since));
        }
        let given = Duration::from_secs_f64(bytes as f64 / self.pace.bytes_per_second.max(1) as f64);
        self.left = self.left.saturating_add(given).min(self.pace.grace);
    }

    /// Returns the deadline, if the server is waiting for the client.
    #[must_use]
    pub fn end(&self) -> Option<Instant> {
        self.waiting_since.map(|since| since + self.left)
    }

    #[must_use]
    pub fn is_over(&self, now: Instant) -> bool {
        self.end().is_some_and(|end| end <= now)
    }
}

/// A request body that fails if the client sends too slowly. The time in which nothing polls it does not count.
pub struct Paced {
    body: Payload,
    patience: Patience,
    alarm: Option<Pin<Box<Sleep>>>,
}

impl Paced {
    #[must_use]
    pub const fn new(body: Payload, pace: Pace) -> Self {
        Self { body, patience: Patience::new(pace), alarm: None }
    }
}

impl Stream for Paced {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        if let Poll::Ready(next) = Pin::new(&mut this.body).poll_next(cx) {
            let bytes = next.as_ref().and_then(|next| next.as_ref().ok()).map_or(0, Bytes::len);
            this.patience.moved(bytes, Instant::now());
            return Poll::Ready(next);
        }
        this.patience.wait(Instant::now());
        let Some(end) = this.patience.end() else { return Poll::Pending };
        let alarm = this.alarm.get_or_insert_with(|| Box::pin(sleep_until(end)));
        if alarm.deadline() != end {
            alarm.as_mut().reset(end);
        }
        ready!(alarm.as_mut().poll(cx));
        Poll::Ready(Some(Err(PayloadError::Io(std::io::ErrorKind::TimedOut.into()))))
    }
}

/// Whether this error means that the client sent the body too slowly.
#[must_use]
pub fn is_too_slow(error: &PayloadError) -> bool {
    matches!(error, PayloadError::Io(error) if error.kind() == std::io::ErrorKind::TimedOut)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Instant, Pace, Patience};

    const PACE: Pace = Pace { grace: Duration::from_secs(10), bytes_per_second: 1000 };

    /// Returns after how many seconds a client that transfers one piece a second times out; `None` if not within an
    /// hour.
    fn lasts(piece: usize) -> Option<u64> {
        let (mut patience, start) = (Patience::new(PACE), Instant::now());
        patience.wait(start);
        (1..3600).find(|second| {
            let now = start + Duration::from_secs(*second);
            let is_over = patience.is_over(now);
            patience.moved(piece, now);
            patience.wait(now);
            is_over
        })
    }

    #[test]
    fn a_pause_a_trickle_and_a_rate_that_is_too_low_end_and_a_good_one_goes_on() {
        assert_eq!(lasts(0), Some(10));
        assert_eq!(lasts(1), Some(11));
        assert_eq!(lasts(500), Some(19));
        assert_eq!(lasts(1000), None);
    }

    #[test]
    fn what_came_fast_buys_no_longer_pause() {
        let (mut patience, start) = (Patience::new(PACE), Instant::now());
        patience.moved(1 << 30, start);
        patience.wait(start);
        assert!(!patience.is_over(start + Duration::from_secs(9)));
        assert!(patience.is_over(start + Duration::from_secs(10)));
    }

    #[test]
    fn time_in_which_nobody_waits_for_the_client_does_not_count() {
        let (mut patience, start) = (Patience::new(PACE), Instant::now());
        patience.wait(start);
        patience.moved(0, start + Duration::from_secs(9));
        assert!(!patience.is_over(start + Duration::from_secs(500)));
        patience.wait(start + Duration::from_secs(500));
        assert!(patience.is_over(start + Duration::from_secs(501)));
    }
}
