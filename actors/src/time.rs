//! Instants in whole milliseconds, UTC, and the clock they come from.
//!
//! Whole milliseconds, because that is the precision sent to clients: what was saved then equals what was published, on
//! either database.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime, SecondsFormat, SubsecRound, Utc};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant in whole milliseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(DateTime<Utc>);

impl Time {
    /// Truncates to milliseconds.
    #[must_use]
    pub fn at(instant: DateTime<Utc>) -> Self {
        Self(instant.trunc_subsecs(3))
    }

    /// Returns `None` outside the range of years that chrono supports.
    #[must_use]
    pub fn from_millis(millis: i64) -> Option<Self> {
        DateTime::from_timestamp_millis(millis).map(Self)
    }

    /// Returns the milliseconds since 1970.
    #[must_use]
    pub fn millis(self) -> i64 {
        self.0.timestamp_millis()
    }

    #[must_use]
    pub const fn utc(self) -> DateTime<Utc> {
        self.0
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is the later one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        (self.0 - earlier.0).to_std().unwrap_or_default()
    }
}

impl std::ops::Add<Duration> for Time {
    type Output = Self;
    /// Saturates at the end of the range of years that chrono supports.
    fn add(self, span: Duration) -> Self {
        let later = chrono::Duration::from_std(span).ok().and_then(|span| self.0.checked_add_signed(span));
        Self(later.unwrap_or(DateTime::<Utc>::MAX_UTC).trunc_subsecs(3))
    }
}
impl std::ops::Sub<Duration> for Time {
    type Output = Self;
    /// Saturates at the beginning of the range of years that chrono supports.
    fn sub(self, span: Duration) -> Self {
        let earlier = chrono::Duration::from_std(span).ok().and_then(|span| self.0.checked_sub_signed(span));
        Self(earlier.unwrap_or(DateTime::<Utc>::MIN_UTC).trunc_subsecs(3))
    }
}
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true))
    }
}
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DateTime::<Utc>::deserialize(deserializer).map(Self::at)
    }
}

/// How far a local time is from UTC, in whole minutes; less than a day in either direction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct UtcOffset(i16);

impl UtcOffset {
    pub const ZERO: Self = Self(0);

    /// Returns `None` for a day or more.
    #[must_use]
    pub fn from_minutes(minutes: i64) -> Option<Self> {
        i16::try_from(minutes).ok().filter(|minutes| minutes.abs() < 24 * 60).map(Self)
    }

    #[must_use]
    pub const fn minutes(self) -> i16 {
        self.0
    }

    /// Returns the instant as clocks at this offset show it.
    #[must_use]
    pub fn local(self, time: Time) -> NaiveDateTime {
        time.0.naive_utc() + chrono::Duration::minutes(self.0.into())
    }
}

impl fmt::Display for UtcOffset {
    /// `UTC` or, for example, `UTC+05:30`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, minutes) = (if self.0 < 0 { '-' } else { '+' }, self.0.abs());
        match minutes {
            0 => f.write_str("UTC"),
            _ => write!(f, "UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60),
        }
    }
}

/// An instant, with the offset at which a user wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LocalTime {
    pub at: Time,
    pub offset: UtcOffset,
}

impl From<Time> for LocalTime {
    fn from(at: Time) -> Self {
        Self { at, offset: UtcOffset::ZERO }
    }
}

/// The source of the current time: the system's clock, or a test's.
pub trait Clock: Send + Sync + 'static {
    fn now(&self) -> Time;
}

/// The system's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that asks the machine for the time")]
    fn now(&self) -> Time {
        Time::at(Utc::now())
    }
}
