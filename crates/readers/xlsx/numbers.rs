//! Numbers as a cell shows them: plain, as a percentage, or as a date or time, which a workbook stores as a number of days.

use chrono::{Days, NaiveDate};

const SECONDS_A_DAY: f64 = 86_400.0;
/// The days from 1900 up to the end of the year 9999, the last that a workbook has.
const LAST_DAY: f64 = 2_958_466.0;
/// The first day number that counts from the true day: a workbook has a 29 February 1900, which never was.
const AFTER_FALSE_LEAP_DAY: f64 = 60.0;

/// How a number is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum NumberFormat {
    #[default]
    Plain,
    /// With this many decimals.
    Percent(u8),
    Date,
    DateTime,
    Time,
    /// Hours past a day are counted on.
    Duration,
    /// Not at all.
    Hidden,
}

impl NumberFormat {
    /// Returns the format that every workbook has by this number.
    pub const fn built_in(id: u32) -> Self {
        match id {
            9 => Self::Percent(0),
            10 => Self::Percent(2),
            14..=17 | 27..=31 | 34..=36 | 50..=58 => Self::Date,
            18..=21 | 32 | 33 | 45 | 47 => Self::Time,
            22 => Self::DateTime,
            46 => Self::Duration,
            _ => Self::Plain,
        }
    }

    /// Returns the meaning of a format's code, such as `dd.mm.yyyy` or `0.0%`.
    pub fn of_code(code: &str) -> Self {
        if !code.is_empty() && code.chars().all(|character| character == ';') {
            return Self::Hidden;
        }
        let (mut day, mut clock, mut month, mut percent) = (false, false, false, false);
        let (mut decimals, mut in_fraction) = (0_u8, false);
        let mut characters = code.chars();
        // The first section is for positive numbers.
        while let Some(character) = characters.next().filter(|character| *character != ';') {
            match character {
                '"' => drop(characters.by_ref().find(|end| *end == '"')),
                '\\' | '_' | '*' => drop(characters.next()),
                '[' => {
                    let inner: String = characters.by_ref().take_while(|end| *end != ']').collect();
                    if ["h", "hh", "m", "mm", "s", "ss"].contains(&inner.to_lowercase().as_str()) {
                        return Self::Duration;
                    }
                }
                'y' | 'Y' | 'd' | 'D' => day = true,
                'h' | 'H' | 's' | 'S' => clock = true,
                'm' | 'M' => month = true,
                '%' => percent = true,
                '.' => in_fraction = true,
                '0' | '#' | '?' if in_fraction => decimals = decimals.saturating_add(1),
                _ => {}
            }
        }
        match (day, clock) {
            // The word "General" and its translations have letters of dates.
            _ if code.eq_ignore_ascii_case("general") => Self::Plain,
            (true, true) => Self::DateTime,
            (true, false) => Self::Date,
            (false, true) => Self::Time,
            (false, false) if percent => Self::Percent(decimals),
            (false, false) if month => Self::Date,
            (false, false) => Self::Plain,
        }
    }

    /// Returns the number as it is shown. What is no number is returned as it is.
    pub fn shown(self, value: &str, since_1904: bool) -> String {
        let value = value.trim();
        let Some(number) = value.parse::<f64>().ok().filter(|number| number.is_finite()) else {
            return value.to_owned();
        };
        let is_day = (0.0..LAST_DAY).contains(&number);
        match self {
            Self::Hidden => String::new(),
            Self::Percent(decimals) => format!("{:.*}%", usize::from(decimals.min(15)), number * 100.0),
            Self::Date if is_day => day(number.floor(), since_1904).unwrap_or_else(|| plain(number)),
            Self::DateTime if is_day => {
                // Rounding to seconds may lead to the next day.
                let seconds = (number * SECONDS_A_DAY).round();
                let days = (seconds / SECONDS_A_DAY).floor();
                match day(days, since_1904) {
                    Some(day) => format!("{day} {}", clock(seconds - days * SECONDS_A_DAY)),
                    None => plain(number),
                }
            }
            Self::Time if is_day => clock((number.fract() * SECONDS_A_DAY).round() % SECONDS_A_DAY),
            Self::Duration if is_day => clock((number * SECONDS_A_DAY).round()),
            _ => plain(number),
        }
    }
}

/// Returns a number with at most 15 digits, as many as a workbook shows: 0.1 + 0.2 is 0.3.
fn plain(number: f64) -> String {
    let rounded: f64 = format!("{number:.14e}").parse().unwrap_or(number);
    // Such a number in full would be a line of zeros.
    if rounded != 0.0 && !(1e-9..1e21).contains(&rounded.abs()) { format!("{rounded:e}") } else { format!("{rounded}") }
}

/// Returns the day with this number.
fn day(number: f64, since_1904: bool) -> Option<String> {
    let epoch = if since_1904 {
        NaiveDate::from_ymd_opt(1904, 1, 1)
    } else if number < AFTER_FALSE_LEAP_DAY {
        NaiveDate::from_ymd_opt(1899, 12, 31)
    } else {
        NaiveDate::from_ymd_opt(1899, 12, 30)
    };
    let days = Days::new(whole(number));
    epoch?.checked_add_days(days).map(|date| date.format("%Y-%m-%d").to_string())
}

/// Returns a number of seconds as `09:30`, with the seconds if there are any.
fn clock(seconds: f64) -> String {
    let seconds = whole(seconds);
    let (hours, minutes, rest) = (seconds / 3_600, seconds / 60 % 60, seconds % 60);
    if rest == 0 { format!("{hours:02}:{minutes:02}") } else { format!("{hours:02}:{minutes:02}:{rest:02}") }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "at most as large as `LAST_DAY` in seconds"
)]
fn whole(number: f64) -> u64 {
    number.max(0.0) as u64
}
