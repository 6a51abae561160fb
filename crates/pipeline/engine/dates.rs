//! Dates in a sentence: given in full, or relative to the date of the source ("by Friday", "12 March").

use std::sync::LazyLock;

use chrono::{Datelike, Days, Months, NaiveDate, Weekday};
use readers::has_four_digits;
use regex::Regex;

use super::lexicon::pattern;

static ISO: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(20\d\d)-(\d\d)-(\d\d)\b"));
static NUMERIC: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d\d?)[./](\d\d?)[./](20\d\d)\b"));
static SHORT_NUMERIC: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(\d\d?)[./](\d\d?)(?:[.,; )]|$)"));
static DAY_FIRST: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b(?:the )?{DAY} (?:of )?([a-z]{{3,9}})\.?(?:,? (20\d\d))?\b")));
static MONTH_FIRST: LazyLock<Regex> =
    LazyLock::new(|| pattern(&format!(r"\b([a-z]{{3,9}})\.? (?:the )?{DAY}\b(?:,? (20\d\d))?")));
static DAY_ALONE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(?:by|on|until|before|for) the (\d\d?)(?:st|nd|rd|th)\b"));
static WEEKDAY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"\b(?:(next|this|coming) (?:week )?)?(mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\b(?: (week))?",
    )
});
static WEEK_END: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bend of (?:the |this )?week\b|\b(next week)"));
static END_OF_NEXT_WEEK: LazyLock<Regex> = LazyLock::new(|| pattern(r"\bend of next week\b"));
static END_OF_MONTH: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\bend of (?:(the|this) month|(next) month|([a-z]{3,9}))(?: (20\d\d))?\b"));
static SOON: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(?:(day after tomorrow)|(tomorrow)|(today|tonight|this (?:afternoon|evening|morning)|",
        r"end of (?:the )?day|eod|close of business|cob))\b"
    ))
});
static IN_SOME: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"\b(?:in|within) (?:the next )?(a|one|two|three|four|five|six|ten|\d\d?) (day|week|month)s?\b")
});

/// A day of a month, in figures or as an ordinal in words.
const DAY: &str = concat!(
    r"(\d\d?|twenty[- ](?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth)|thirty[- ]first|first|second|third|fourth|fifth|",
    r"sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|thirteenth|fourteenth|fifteenth|sixteenth|seventeenth|eighteenth|nineteenth|",
    r"twentieth|thirtieth)(?:st|nd|rd|th)?"
);
const ORDINALS: [&str; 20] = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
];

/// Returns the day by which something is due; `lower` is in lower case, `base` the date of the source. Without it only a
/// date with day, month and year is one. No day past the year 9999 is one.
pub fn due(lower: &str, base: Option<NaiveDate>) -> Option<NaiveDate> {
    full_date(lower).or_else(|| relative(lower, base?)).filter(|date| has_four_digits(*date))
}

/// Returns the last date of the sentence that has day, month and year.
pub fn full_date(lower: &str) -> Option<NaiveDate> {
    let number = |digits: &str| digits.parse::<u32>().ok();
    let iso = ISO.captures_iter(lower).filter_map(|found| {
        let [year, month, day] = found.extract().1;
        date(year.parse().ok()?, number(month)?, number(day)?)
    });
    let numeric = NUMERIC.captures_iter(lower).filter_map(|found| {
        let [day, month, year] = found.extract().1;
        date(year.parse().ok()?, number(month)?, number(day)?)
    });
    let named = named_dates(lower).filter_map(|(year, month, day)| date(year?, month, day));
    iso.chain(numeric).chain(named).last()
}

/// Returns year (if it is given), month and day of every date with the month's name.
fn named_dates(lower: &str) -> impl Iterator<Item = (Option<i32>, u32, u32)> {
    let year = |found: &regex::Captures| found.get(3).and_then(|year| year.as_str().parse().ok());
    let text = |found: &regex::Captures, at: usize| found.get(at).map_or("", |part| part.as_str()).to_owned();
    let month_first = MONTH_FIRST
        .captures_iter(lower)
        .filter_map(move |found| Some((year(&found), month_number(&text(&found, 1))?, day_number(&text(&found, 2))?)));
    let day_first = DAY_FIRST.captures_iter(lower).filter_map(move |found| {
        let (day, month) = (text(&found, 1), text(&found, 2));
        // “The second may differ.”
        let is_verb = month == "may" && !day.starts_with(|character: char| character.is_ascii_digit());
        if is_verb { None } else { Some((year(&found), month_number(&month)?, day_number(&day)?)) }
    });
    day_first.chain(month_first)
}

fn relative(lower: &str, base: NaiveDate) -> Option<NaiveDate> {
    let ahead = |month: u32, day: u32| {
        let this_year = date(base.year(), month, day)?;
        if this_year >= base { Some(this_year) } else { date(base.year() + 1, month, day) }
    };
    if let Some((_, month, day)) = named_dates(lower).last() {
        return ahead(month, day);
    }
    if let Some(found) = END_OF_MONTH.captures(lower) {
        let first = match (found.get(1), found.get(2), found.get(3).and_then(|name| month_number(name.as_str()))) {
            (Some(_), ..) => base.with_day(1),
            (_, Some(_), _) => base.with_day(1)?.checked_add_months(Months::new(1)),
            (.., Some(month)) => {
                let year = found.get(4).and_then(|year| year.as_str().parse().ok());
                match year {
                    Some(year) => date(year, month, 1),
                    None if month >= base.month() => date(base.year(), month, 1),
                    None => date(base.year() + 1, month, 1),
                }
            }
            _ => None,
        };
        if let Some(first) = first {
            return first.checked_add_months(Months::new(1))?.pred_opt();
        }
    }
    if END_OF_NEXT_WEEK.is_match(lower) {
        return in_week_of(base.checked_add_days(Days::new(7))?, Weekday::Fri);
    }
    if let Some(found) = WEEKDAY.captures(lower)
        && let Some(day) = found.get(2).and_then(|name| weekday(name.as_str()))
    {
        let is_next = found.get(1).is_some_and(|which| which.as_str() == "next") || found.get(3).is_some();
        return if is_next {
            in_week_of(base.checked_add_days(Days::new(7))?, day)
        } else {
            let days = (day.num_days_from_monday() + 7 - base.weekday().num_days_from_monday()) % 7;
            base.checked_add_days(Days::new(if days == 0 { 7 } else { u64::from(days) }))
        };
    }
    if let Some(found) = SOON.captures(lower) {
        let days = if found.get(1).is_some() { 2 } else { u64::from(found.get(2).is_some()) };
        return base.checked_add_days(Days::new(days));
    }
    if WEEK_END.captures(lower).is_some_and(|found| found.get(1).is_none()) {
        return in_week_of(base, Weekday::Fri);
    }
    if let Some(found) = IN_SOME.captures(lower) {
        let [count, unit] = found.extract().1;
        let count = match count {
            "a" | "one" => 1,
            "two" => 2,
            "three" => 3,
            "four" => 4,
            "five" => 5,
            "six" => 6,
            "ten" => 10,
            digits => digits.parse().ok()?,
        };
        return match unit {
            "day" => base.checked_add_days(Days::new(u64::from(count))),
            "week" => base.checked_add_days(Days::new(7 * u64::from(count))),
            _ => base.checked_add_months(Months::new(count)),
        };
    }
    if let Some(found) = DAY_ALONE.captures(lower) {
        let day = found.get(1)?.as_str().parse().ok()?;
        let this_month = base.with_day(day);
        return this_month
            .filter(|date| *date >= base)
            .or_else(|| base.with_day(1)?.checked_add_months(Months::new(1))?.with_day(day));
    }
    let found = SHORT_NUMERIC.captures(lower)?;
    let [day, month] = found.extract().1;
    ahead(month.parse().ok()?, day.parse().ok()?)
}

fn in_week_of(date: NaiveDate, day: Weekday) -> Option<NaiveDate> {
    let monday = date.checked_sub_days(Days::new(u64::from(date.weekday().num_days_from_monday())))?;
    monday.checked_add_days(Days::new(u64::from(day.num_days_from_monday())))
}

/// Reads the name of a month, whole or its first three letters.
fn month_number(name: &str) -> Option<u32> {
    let name = if name == "sept" { "sep" } else { name };
    name.parse::<chrono::Month>().ok().map(|month| month.number_from_month())
}

fn weekday(name: &str) -> Option<Weekday> {
    name.get(..3)?.parse().ok()
}

fn day_number(day: &str) -> Option<u32> {
    let ordinal =
        |word: &str| ORDINALS.iter().position(|known| *known == word).and_then(|at| u32::try_from(at + 1).ok());
    if let Ok(number) = day.parse() {
        return Some(number);
    }
    match day.split_once(['-', ' ']) {
        Some(("twenty", ones)) => Some(20 + ordinal(ones)?),
        Some(("thirty", ones)) => Some(30 + ordinal(ones)?),
        _ if day == "thirtieth" => Some(30),
        _ => ordinal(day),
    }
}

fn date(year: i32, month: u32, day: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(year, month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(date: Option<NaiveDate>) -> String {
        date.map(|date| date.to_string()).unwrap_or_default()
    }

    #[test]
    fn without_a_date_of_the_source_only_a_full_date_is_a_date() {
        assert_eq!(written(due("by the 4th of june 2027", None)), "2027-06-04");
        assert_eq!(written(due("on march 1, 2028 at noon", None)), "2028-03-01");
        assert_eq!(written(due("by 2 sep 2027", None)), "2027-09-02");
        assert_eq!(written(due("by 04.06.2027", None)), "2027-06-04");
        assert_eq!(written(due("2027-05-21", None)), "2027-05-21");
        assert_eq!(due("by 4 june", None), None);
        assert_eq!(due("by friday", None), None);
        assert_eq!(due("31 february 2027", None), None);
    }

    #[test]
    fn no_day_is_due_after_the_year_9999() {
        let base = NaiveDate::from_ymd_opt(9999, 12, 30);
        assert_eq!(written(due("by tomorrow", base)), "9999-12-31");
        for words in
            ["by next friday", "in two weeks", "by 2 march", "by the end of next month", "by the 2nd", "in 99 months"]
        {
            assert_eq!(due(words, base), None, "{words}");
            assert_eq!(due(words, Some(NaiveDate::MAX)), None, "{words}");
        }
    }

    #[test]
    fn other_dates_count_from_the_date_of_the_source() {
        // A Wednesday.
        let base = NaiveDate::from_ymd_opt(2026, 3, 4);
        for (words, expected) in [
            ("by friday", "2026-03-06"),
            ("by next friday", "2026-03-13"),
            ("on wednesday", "2026-03-11"),
            ("next tuesday at noon", "2026-03-10"),
            ("friday week", "2026-03-13"),
            ("tomorrow", "2026-03-05"),
            ("by the end of the day", "2026-03-04"),
            ("by the end of the week", "2026-03-06"),
            ("by the end of next week", "2026-03-13"),
            ("by the end of the month", "2026-03-31"),
            ("by the end of april", "2026-04-30"),
            ("by the end of february", "2027-02-28"),
            ("by 12 march", "2026-03-12"),
            ("by march the twelfth", "2026-03-12"),
            ("by the twenty-third of march", "2026-03-23"),
            ("by 2 march", "2027-03-02"),
            ("by the 12th", "2026-03-12"),
            ("by the 2nd", "2026-04-02"),
            ("in two weeks", "2026-03-18"),
            ("mail vendor, 12/3", "2026-03-12"),
            ("by the end of next month", "2026-04-30"),
            ("as soon as possible", ""),
            ("sometime next week", ""),
            ("the sunny side of the monument", ""),
            ("the second may differ", ""),
        ] {
            assert_eq!(written(due(words, base)), expected, "{words}");
        }
    }
}
