//! How long an external system wants to be left alone: its `Retry-After`, in seconds or as a date. Whatever it says is a
//! duration; callers compare it with the longest pause that they make.

use std::time::Duration;

use actors::time::Time;
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The seconds in `Retry-After`; `None` without any.
#[must_use]
pub fn seconds(headers: &HeaderMap) -> Option<Duration> {
    text(headers)?.parse().ok().map(Duration::from_secs)
}

/// The seconds in `Retry-After`, or those until the date in it; `None` without any, and for a date that has passed.
#[must_use]
pub fn seconds_or_date(headers: &HeaderMap, now: Time) -> Option<Duration> {
    let until = |date: &str| {
        let until = Time::at(chrono::DateTime::parse_from_rfc2822(date).ok()?.to_utc());
        (until > now).then(|| until.since(now))
    };
    seconds(headers).or_else(|| until(text(headers)?))
}

fn text(headers: &HeaderMap) -> Option<&str> {
    headers.get(RETRY_AFTER)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wanted(value: &str, now: Time) -> (Option<Duration>, Option<Duration>) {
        let headers = HeaderMap::from_iter([(RETRY_AFTER, value.parse().unwrap())]);
        (seconds(&headers), seconds_or_date(&headers, now))
    }

    #[test]
    fn a_pause_is_given_in_seconds_or_as_a_date() {
        let now = Time::nearest(1_764_000_000_000);
        let minute = Some(Duration::from_secs(60));
        assert_eq!(wanted(" 60 ", now), (minute, minute));
        assert_eq!(wanted("Mon, 24 Nov 2025 16:01:00 GMT", now), (None, minute));
        let forever = Some(Duration::from_secs(u64::MAX));
        assert_eq!(wanted("18446744073709551615", now), (forever, forever));
        for none in [
            "",
            "soon",
            "-1",
            "1.5",
            "18446744073709551616",
            "Mon, 24 Nov 2025 15:00:00 GMT",
            "Fri, 32 Dec 9999 00:00:00 GMT",
        ] {
            assert_eq!(wanted(none, now), (None, None), "{none}");
        }
        assert_eq!((seconds(&HeaderMap::new()), seconds_or_date(&HeaderMap::new(), now)), (None, None));
    }

    proptest! {
        #[test]
        fn no_date_of_a_stranger_overflows(year in "[0-9]{4,9}", at in any::<i64>()) {
            let now = Time::nearest(at);
            for date in [format!("1 Jan {year} 00:00:00 GMT"), format!("31 Dec {year} 23:59:60 -2359")] {
                prop_assert!(wanted(&date, now).1.is_none_or(|pause| now + pause > now));
            }
        }
    }
}
