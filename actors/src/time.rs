//! Instants in whole milliseconds, UTC, and the clock they come from.
//!
//! Whole milliseconds, because that is the precision sent to clients: what was saved then equals what was published, on
//! either database.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Datelike, NaiveDateTime, SecondsFormat, SubsecRound, Timelike, Utc};
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

    /// Returns the text of a time in the years 0 to 9999, without a buffer for each: a list has a hundred of them.
    fn ascii(self) -> Option<[u8; 24]> {
        let (day, time) = (self.0.date_naive(), self.0.time());
        let year = u32::try_from(day.year()).ok().filter(|year| *year <= 9999)?;
        let millis = time.nanosecond() / 1_000_000;
        let digit = |number: u32, place: u32| u8::try_from(number / place % 10).map_or(b'0', |digit| b'0' + digit);
        #[rustfmt::skip]
        let text = [
            digit(year, 1000), digit(year, 100), digit(year, 10), digit(year, 1), b'-',
            digit(day.month(), 10), digit(day.month(), 1), b'-', digit(day.day(), 10), digit(day.day(), 1), b'T',
            digit(time.hour(), 10), digit(time.hour(), 1), b':', digit(time.minute(), 10), digit(time.minute(), 1), b':',
            digit(time.second(), 10), digit(time.second(), 1), b'.',
            digit(millis, 100), digit(millis, 10), digit(millis, 1), b'Z',
        ];
        // A leap second, which is written as the sixtieth.
        (millis < 1000).then_some(text)
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
/// As RFC 3339 in UTC with milliseconds.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ascii().as_ref().map(|text| str::from_utf8(text)) {
            Some(Ok(text)) => f.write_str(text),
            _ => f.write_str(&self.0.to_rfc3339_opts(SecondsFormat::Millis, true)),
        }
    }
}
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.ascii().as_ref().map(|text| str::from_utf8(text)) {
            Some(Ok(text)) => serializer.serialize_str(text),
            _ => serializer.collect_str(self),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_written_as_chrono_writes_it() {
        const YEAR_0: i64 = -62_167_219_200_000;
        const YEAR_10_000: i64 = 253_402_300_800_000;
        let edges = [0, -1, 951_782_400_000, 1_764_000_000_123, YEAR_0, YEAR_0 - 1, YEAR_10_000 - 1, YEAR_10_000];
        let span = YEAR_10_000 - YEAR_0;
        // An odd stride meets every month, day and hour.
        let many = (0..20_000).map(|step| YEAR_0 + step * (span / 19_997) + step);
        for millis in edges.into_iter().chain(many) {
            let time = Time::from_millis(millis).unwrap();
            let expected = time.utc().to_rfc3339_opts(SecondsFormat::Millis, true);
            assert_eq!(time.to_string(), expected);
        }
        let leap = Time::at(DateTime::from_timestamp(1_483_228_799, 1_250_000_000).unwrap());
        assert_eq!(leap.to_string(), "2016-12-31T23:59:60.250Z");
    }
}
