//! How many refused calls get a line in the access log: some in each second, and one line about all others.
//!
//! Anybody can have calls refused, as fast as the network is. A line for each would fill the disk, and the lines that an
//! operator looks for would be among millions. Calls that succeed or fail (5xx) keep their lines: they cost whoever makes
//! them more than a line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;
use std::time::{Duration, Instant};

use actors::time::Time;
use serde::Serialize;
use tracing::Level;

use super::LogFormat;
use super::access::TARGET;

/// How many refused calls get a line within a second.
pub(super) const LOGGED: u32 = 100;
const SECOND: Duration = Duration::from_secs(1);

/// The refused calls of a second.
#[derive(Default)]
pub(super) struct RefusedCalls {
    /// When it began: with a refused call.
    began: Option<Instant>,
    logged: u32,
    /// How many got no line, by status.
    left_out: BTreeMap<u16, u64>,
}

impl RefusedCalls {
    /// Whether a call that was answered with this status gets a line. What [`Self::take`] would return is to be taken before.
    pub(super) fn admits(&mut self, status: u16, now: Instant) -> bool {
        if !(400..500).contains(&status) {
            return true;
        }
        if self.left_out.is_empty() && self.began.is_none_or(|began| now.duration_since(began) >= SECOND) {
            (self.began, self.logged) = (Some(now), 0);
        }
        if self.logged < LOGGED {
            self.logged += 1;
            return true;
        }
        *self.left_out.entry(status).or_default() += 1;
        metrics::counter!("colloquy_access_log_left_out_total", "status" => status.to_string()).increment(1);
        false
    }

    /// When there is something to take.
    pub(super) fn due_at(&self) -> Option<Instant> {
        if self.left_out.is_empty() { None } else { self.began.map(|began| began + SECOND) }
    }

    /// Takes what was left out, if its second is over, or `early`.
    pub(super) fn take(&mut self, now: Instant, early: bool) -> Option<LeftOut> {
        let is_due = self.due_at().is_some_and(|due| early || due <= now);
        is_due.then(|| LeftOut(std::mem::take(&mut self.left_out)))
    }
}

/// Refused calls without a line, by status.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LeftOut(BTreeMap<u16, u64>);

#[derive(Serialize)]
struct LeftOutLine<'a> {
    timestamp: Time,
    level: &'static str,
    message: &'static str,
    left_out: u64,
    statuses: &'a BTreeMap<u16, u64>,
    target: &'static str,
}

impl LeftOut {
    /// Adds a line about them.
    pub(super) fn append(&self, text: &mut Vec<u8>, at: Time, format: LogFormat) {
        const MESSAGE: &str = "further refused calls were not logged";
        let left_out = self.0.values().sum();
        // Writing to memory does not fail.
        let _ = match format {
            LogFormat::Json => {
                let level = Level::INFO.as_str();
                let line =
                    LeftOutLine { timestamp: at, level, message: MESSAGE, left_out, statuses: &self.0, target: TARGET };
                serde_json::to_writer(&mut *text, &line).map_err(std::io::Error::from)
            }
            LogFormat::Text => {
                let mut statuses = String::new();
                for (status, count) in &self.0 {
                    let _ = write!(statuses, " {status}={count}");
                }
                write!(text, "{at}  INFO {TARGET}: {MESSAGE} left_out={left_out}{statuses}")
            }
        };
        text.push(b'\n');
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::time::{Duration, Instant};

    use actors::time::Time;

    use super::super::LogFormat;
    use super::{LOGGED, LeftOut, RefusedCalls};

    #[test]
    fn a_hundred_refused_calls_of_a_second_are_logged_and_the_others_are_counted_by_status() {
        let (mut calls, began) = (RefusedCalls::default(), Instant::now());
        let later = |millis| began + Duration::from_millis(millis);
        for number in 0..LOGGED {
            assert!(calls.admits(404, later(u64::from(number))));
        }
        assert_eq!((calls.due_at(), calls.take(later(5000), false)), (None, None), "none is missing yet");
        for number in 0..1000 {
            assert!(!calls.admits(if number % 4 == 0 { 429 } else { 401 }, later(500)));
        }
        assert_eq!((calls.due_at(), calls.take(later(999), false)), (Some(later(1000)), None));
        let left_out = calls.take(later(1000), false);
        assert_eq!(left_out, Some(LeftOut(BTreeMap::from([(401, 750), (429, 250)]))));
        assert!(calls.admits(404, later(1001)), "the next second");
        assert_eq!(calls.take(later(9999), true), None, "what was said is not said again");
    }

    #[test]
    fn calls_that_succeed_or_fail_are_all_logged() {
        let (mut calls, now) = (RefusedCalls::default(), Instant::now());
        for _ in 0..10 * LOGGED {
            calls.admits(401, now);
        }
        for status in [101, 200, 201, 204, 302, 304, 500, 502, 503, 507] {
            for _ in 0..10 * LOGGED {
                assert!(calls.admits(status, now), "{status}");
            }
        }
        // Before the end of the program.
        let left_out = calls.take(now, true);
        assert_eq!(left_out, Some(LeftOut(BTreeMap::from([(401, u64::from(9 * LOGGED))]))));
    }

    #[test]
    fn the_line_about_those_that_have_none_has_their_statuses() {
        let left_out = LeftOut(BTreeMap::from([(401, 2), (404, 40)]));
        let at = Time::from_millis(1_800_000_000_123).unwrap();
        let text = |format| {
            let mut text = Vec::new();
            left_out.append(&mut text, at, format);
            String::from_utf8(text).unwrap()
        };
        let json = text(LogFormat::Json);
        let value: serde_json::Value = serde_json::from_str(json.strip_suffix('\n').unwrap()).unwrap();
        assert_eq!((&value["left_out"], &value["statuses"]["401"]), (&42.into(), &2.into()));
        assert_eq!(
            text(LogFormat::Text),
            "2027-01-15T08:00:00.123Z  INFO colloquy::access: further refused calls were not logged left_out=42 401=2 404=40\n"
        );
    }
}
