//! Days as people write them.

use super::{FileLanguage, Words};

/// English, Arabic and German.
const MONTHS: [[&str; 3]; 12] = [
    ["January", "يناير", "Januar"],
    ["February", "فبراير", "Februar"],
    ["March", "مارس", "März"],
    ["April", "أبريل", "April"],
    ["May", "مايو", "Mai"],
    ["June", "يونيو", "Juni"],
    ["July", "يوليو", "Juli"],
    ["August", "أغسطس", "August"],
    ["September", "سبتمبر", "September"],
    ["October", "أكتوبر", "Oktober"],
    ["November", "نوفمبر", "November"],
    ["December", "ديسمبر", "Dezember"],
];

impl Words {
    /// `24 November 2026` of a date (`2026-11-24`) or of a time that begins with one; none of anything else.
    pub fn day(self, time: &str) -> Option<String> {
        let (date, rest) = time.split_at_checked("2026-11-24".len())?;
        if !(rest.is_empty() || rest.starts_with('T')) {
            return None;
        }
        let mut parts = date.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        let is_number = |part: &str, digits| part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit());
        if !(is_number(year, 4) && is_number(month, 2) && is_number(day, 2)) {
            return None;
        }
        let (month, day): (usize, u8) = (month.parse().ok()?, day.parse().ok()?);
        let month = self.language.of_row(*MONTHS.get(month.checked_sub(1)?)?);
        (1..=31).contains(&day).then(|| match self.language {
            FileLanguage::German => format!("{day}. {month} {year}"),
            FileLanguage::English | FileLanguage::Arabic => format!("{day} {month} {year}"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_said_in_the_words_of_the_language() {
        for (language, shown) in [("EN", "4 November 2026"), ("DE", "4. November 2026"), ("AR", "4 نوفمبر 2026")]
        {
            assert_eq!(Words::of(language).day("2026-11-04").as_deref(), Some(shown));
            assert_eq!(Words::of(language).day("2026-11-04T17:30:00.5Z").as_deref(), Some(shown));
        }
        for other in
            ["", "yesterday", "2026-13-01", "2026-00-01", "2026-01-32", "2026-1-1", "2026-11-04x", "２０２６-1"]
        {
            assert_eq!(Words::of("EN").day(other), None, "{other}");
        }
    }
}
