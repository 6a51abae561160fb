//! Instants in whole milliseconds, UTC, and the clock they come from.
//!
//! Whole milliseconds, because that is the precision sent to clients: what was saved then equals what was published, on
//! either database. Years 1 to 9999, because both databases and every client can represent these: whatever number comes
//! from outside, and whatever is added to it, a `Time` can be stored, compared and written.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Datelike, NaiveDateTime, Timelike, Utc};
use serde::de::{self, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[cfg(feature = "diesel")]
use crate::sql_types::of_diesel::{AsExpression, FromSqlRow};

/// The first millisecond of year 1 and the last one of year 9999, since 1970.
const EARLIEST_MILLIS: i64 = -62_135_596_800_000;
const LATEST_MILLIS: i64 = 253_402_300_799_999;

/// An instant in whole milliseconds, in the years 1 to 9999.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "diesel", derive(AsExpression, FromSqlRow), diesel(sql_type = crate::sql_types::UtcTime))]
pub struct Time(DateTime<Utc>);

impl Time {
    /// Truncates to milliseconds. An instant outside of the years 1 to 9999 becomes the nearest one within; a leap second,
    /// which databases don't have, the second that follows it.
    #[must_use]
    pub fn at(instant: DateTime<Utc>) -> Self {
        Self::nearest(instant.timestamp_millis())
    }

    /// Returns `None` outside of the years 1 to 9999.
    #[must_use]
    pub fn from_millis(millis: i64) -> Option<Self> {
        let is_within = (EARLIEST_MILLIS..=LATEST_MILLIS).contains(&millis);
        DateTime::from_timestamp_millis(millis).filter(|_| is_within).map(Self)
    }

    /// Returns the time that is nearest to so many milliseconds since 1970.
    #[must_use]
    pub fn nearest(millis: i64) -> Self {
        let within = millis.clamp(EARLIEST_MILLIS, LATEST_MILLIS);
        Self(DateTime::from_timestamp_millis(within).unwrap_or(DateTime::UNIX_EPOCH))
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

    /// Returns the text of a time, without a buffer for each: a list has a hundred of them.
    fn ascii(self) -> [u8; 24] {
        let (day, time) = (self.0.date_naive(), self.0.time());
        let year = u32::try_from(day.year()).unwrap_or_default();
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
        text
    }

    /// Returns the time elapsed since `earlier`, or zero if `earlier` is the later one.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        (self.0 - earlier.0).to_std().unwrap_or_default()
    }
}

impl std::ops::Add<Duration> for Time {
    type Output = Self;
    /// Saturates at the end of year 9999.
    fn add(self, span: Duration) -> Self {
        let later = chrono::Duration::from_std(span).ok().and_then(|span| self.0.checked_add_signed(span));
        later.map_or_else(|| Self::nearest(i64::MAX), Self::at)
    }
}
impl std::ops::Sub<Duration> for Time {
    type Output = Self;
    /// Saturates at the beginning of year 1.
    fn sub(self, span: Duration) -> Self {
        let earlier = chrono::Duration::from_std(span).ok().and_then(|span| self.0.checked_sub_signed(span));
        earlier.map_or_else(|| Self::nearest(i64::MIN), Self::at)
    }
}
/// As RFC 3339 in UTC with milliseconds.
impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(str::from_utf8(&self.ascii()).unwrap_or_default())
    }
}
impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(str::from_utf8(&self.ascii()).unwrap_or_default())
    }
}
impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        DateTime::<Utc>::deserialize(deserializer).map(Self::at)
    }
}

/// A time as a JWT says it (NumericDate of RFC 7519): a JSON number of seconds since 1970, which may have a fraction. Of
/// a number outside of the years 1 to 9999 it is the nearest time, so that no number of a stranger overflows what is
/// computed with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct NumericDate(pub Time);

impl NumericDate {
    /// Truncates to seconds.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.0.millis().div_euclid(1000)
    }
}
/// As whole seconds.
impl Serialize for NumericDate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(self.seconds())
    }
}
impl<'de> Deserialize<'de> for NumericDate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberOfSeconds)
    }
}

struct NumberOfSeconds;

impl Visitor<'_> for NumberOfSeconds {
    type Value = NumericDate;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of seconds since 1970")
    }
    fn visit_i64<E: de::Error>(self, seconds: i64) -> Result<NumericDate, E> {
        Ok(NumericDate(Time::nearest(seconds.saturating_mul(1000))))
    }
    fn visit_u64<E: de::Error>(self, seconds: u64) -> Result<NumericDate, E> {
        self.visit_i64(i64::try_from(seconds).unwrap_or(i64::MAX))
    }
    #[expect(clippy::cast_possible_truncation, reason = "a float beyond the integers becomes the nearest one")]
    fn visit_f64<E: de::Error>(self, seconds: f64) -> Result<NumericDate, E> {
        if seconds.is_nan() {
            return Err(E::invalid_value(de::Unexpected::Float(seconds), &self));
        }
        Ok(NumericDate(Time::nearest((seconds * 1000.0).floor() as i64)))
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
    use chrono::SecondsFormat;
    use proptest::prelude::*;

    use super::*;

    /// Numbers as strangers choose them: at the ends of every type and of every range of years, and any other.
    fn numbers() -> impl Strategy<Value = i64> {
        let edges =
            [0, i64::MIN, i64::MAX, EARLIEST_MILLIS, LATEST_MILLIS, EARLIEST_MILLIS / 1000, LATEST_MILLIS / 1000];
        let near = (prop::sample::select(edges.to_vec()), -3_i64..=3).prop_map(|(edge, by)| edge.saturating_add(by));
        prop_oneof![near, any::<i64>()]
    }

    fn within(time: Time) -> bool {
        (EARLIEST_MILLIS..=LATEST_MILLIS).contains(&time.millis()) && (1..=9999).contains(&time.utc().year())
    }

    proptest! {
        /// Times that nobody can store or write do not exist, whatever they are made from and computed with.
        #[test]
        fn whatever_number_a_time_is_made_of_it_is_in_the_years_1_to_9999(
            first in numbers(), second in numbers(), span in prop_oneof![Just(u64::MAX), any::<u64>()],
        ) {
            let (time, other, span) = (Time::nearest(first), Time::nearest(second), Duration::from_millis(span));
            let made = [time, time + span, time - span, (time + span) - span, time + Duration::MAX, time - Duration::MAX];
            for made in made {
                prop_assert!(within(made), "{made:?}");
                let text = serde_json::to_string(&made).unwrap();
                prop_assert_eq!(text.len(), 26, "{}", text);
                prop_assert_eq!(serde_json::from_str::<Time>(&text).unwrap(), made);
            }
            prop_assert_eq!(time.since(other).is_zero(), time <= other);
            prop_assert_eq!(Time::from_millis(first).is_some(), time.millis() == first);
            prop_assert!(DateTime::from_timestamp_micros(first).is_none_or(|instant| within(Time::at(instant))));
        }

        #[test]
        fn a_numeric_date_is_the_nearest_time_of_any_json_number(
            whole in numbers(), large in any::<u64>(), float in prop_oneof![any::<f64>(), Just(1e308), Just(-1e308)],
        ) {
            let read = |text: String| serde_json::from_str::<NumericDate>(&text).unwrap();
            prop_assert_eq!(read(whole.to_string()).0, Time::nearest(whole.saturating_mul(1000)));
            prop_assert!(within(read(large.to_string()).0));
            if float.is_finite() {
                let date = read(serde_json::to_string(&float).unwrap());
                prop_assert!(within(date.0) && read(serde_json::to_string(&date).unwrap()) <= date);
            }
        }
    }

    #[test]
    fn what_is_no_number_is_no_numeric_date() {
        for wrong in ["null", "\"1764000000\"", "true", "[1]", "{}", "1e400", "NaN"] {
            assert!(serde_json::from_str::<NumericDate>(wrong).is_err(), "{wrong}");
        }
        assert_eq!(serde_json::from_str::<NumericDate>("1764000000.25").unwrap().0.millis(), 1_764_000_000_250);
        assert_eq!(serde_json::from_str::<NumericDate>("99999999999999999999").unwrap().0.millis(), LATEST_MILLIS);
    }

    #[test]
    fn a_time_is_written_as_chrono_writes_it() {
        let edges = [0, -1, 951_782_400_000, 1_764_000_000_123, EARLIEST_MILLIS, LATEST_MILLIS];
        let span = LATEST_MILLIS - EARLIEST_MILLIS;
        // An odd stride meets every month, day and hour.
        let many = (0..20_000).map(|step| EARLIEST_MILLIS + step * (span / 20_001) + step);
        for millis in edges.into_iter().chain(many) {
            let time = Time::from_millis(millis).unwrap();
            let expected = time.utc().to_rfc3339_opts(SecondsFormat::Millis, true);
            assert_eq!(time.to_string(), expected);
        }
        let leap = Time::at(DateTime::from_timestamp(1_483_228_799, 1_250_000_000).unwrap());
        assert_eq!(leap.to_string(), "2017-01-01T00:00:00.250Z");
    }
}
