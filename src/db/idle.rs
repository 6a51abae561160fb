//! A stack of idle connections. The most recently used one is handed out first, so that connections needed only for a
//! peak stay idle, and are closed after a while: each holds pages and prepared statements.

use std::time::Duration;

use tokio::time::Instant;

const LONGEST: Duration = Duration::from_secs(30);

/// The connections with the time since when each is idle, the longest first.
pub(super) struct Idle<C>(Vec<(Instant, C)>);

impl<C> Default for Idle<C> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<C> Idle<C> {
    pub(super) fn take(&mut self) -> Option<C> {
        self.0.pop().map(|(_, conn)| conn)
    }

    /// Stores a connection; returns those that have been idle for longer than [`LONGEST`], to be closed.
    #[must_use]
    pub(super) fn put(&mut self, conn: C, now: Instant) -> Vec<C> {
        let rested = self.0.iter().take_while(|(since, _)| now.duration_since(*since) > LONGEST).count();
        let closed = self.0.drain(..rested).map(|(_, conn)| conn).collect();
        self.0.push((now, conn));
        closed
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Idle, LONGEST};

    #[test]
    fn what_was_needed_for_a_moment_is_closed_and_what_is_used_stays() {
        let started = Instant::now();
        let mut idle = Idle::default();
        for conn in ["one", "two", "three"] {
            assert!(idle.put(conn, started).is_empty());
        }
        // One of them is used repeatedly.
        let mut closed = Vec::new();
        for second in 1..=LONGEST.as_secs() + 1 {
            assert_eq!(idle.take(), Some("three"));
            closed.extend(idle.put("three", started + Duration::from_secs(second)));
        }
        assert_eq!(closed, ["one", "two"]);
        assert_eq!((idle.take(), idle.take()), (Some("three"), None));
    }
}
