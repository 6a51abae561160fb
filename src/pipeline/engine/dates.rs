//! Due dates, if the text gives day, month and year.

use std::sync::LazyLock;

use regex::Regex;

use super::lexicon::pattern;

static ISO: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b(20\d\d)-(\d\d)-(\d\d)\b"));
static DAY_FIRST: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(\d\d?)(?:st|nd|rd|th)? (?:of )?([a-z]+),? (20\d\d)\b"));
static MONTH_FIRST: LazyLock<Regex> = LazyLock::new(|| pattern(r"\b([a-z]+) (\d\d?)(?:st|nd|rd|th)?,? (20\d\d)\b"));

/// Returns a full date of the sentence as `YYYY-MM-DD`; `lower` is in lower case. Dates with the month's name first
/// take precedence over those with the day first, and these over ISO dates; within one format the last one counts.
pub fn full_date(lower: &str) -> Option<String> {
    let iso = ISO.captures_iter(lower).filter_map(|found| {
        let [year, month, day] = found.extract().1;
        date(year, month.parse().ok()?, day)
    });
    let day_first = DAY_FIRST.captures_iter(lower).filter_map(|found| {
        let [day, month, year] = found.extract().1;
        date(year, month_number(month)?, day)
    });
    let month_first = MONTH_FIRST.captures_iter(lower).filter_map(|found| {
        let [month, day, year] = found.extract().1;
        date(year, month_number(month)?, day)
    });
    iso.chain(day_first).chain(month_first).last()
}

/// Reads the name of a month, whole or its first three letters.
fn month_number(name: &str) -> Option<u32> {
    name.parse::<chrono::Month>().ok().map(|month| month.number_from_month())
}

fn date(year: &str, month: u32, day: &str) -> Option<String> {
    let year: i32 = year.parse().ok()?;
    let day: u32 = day.parse().ok()?;
    let valid = chrono::NaiveDate::from_ymd_opt(year, month, day)?;
    Some(valid.format("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::full_date;

    #[test]
    fn only_a_date_that_the_text_gives_in_full_is_a_date() {
        assert_eq!(full_date("by the 4th of june 2027").as_deref(), Some("2027-06-04"));
        assert_eq!(full_date("on march 1, 2028 at noon").as_deref(), Some("2028-03-01"));
        assert_eq!(full_date("by 2 sep 2027").as_deref(), Some("2027-09-02"));
        assert_eq!(full_date("2027-05-21").as_deref(), Some("2027-05-21"));
        assert_eq!(full_date("by 4 june"), None);
        assert_eq!(full_date("by friday"), None);
        assert_eq!(full_date("31 february 2027"), None);
    }
}
