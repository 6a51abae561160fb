//! Words that can be compared: lower case, no punctuation, no apostrophes, numbers spelled one way; and the errors among
//! them.
//!
//! Numbers that follow each other are one word of digits, however they were written: "nineteen ninety eight" and "1998",
//! "four seven one" and "4, 7, 1"; ordinals end in "th". In English, contractions with one reading are written out, and dates
//! are a day and a month: "the fourteenth of March", "March 14".

/// What stands for another in English before it is cut into words.
const SPELLINGS: [(&str, &str); 10] = [
    ("’", "'"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("won't", "will not"),
    ("n't", " not"),
    ("let's", "let us"),
    ("'m", " am"),
    ("'ll", " will"),
    ("'re", " are"),
    ("%", " percent "),
];
const UNITS: [&str; 20] = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const ORDINALS: [&str; 20] = [
    "zeroth",
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
];
const TENS: [&str; 8] = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];

/// Returns the words of a text, so that equal ones are spelled alike.
pub fn words(text: &str, is_english: bool) -> Vec<String> {
    let mut text = text.to_lowercase();
    if is_english {
        for (from, to) in SPELLINGS {
            text = text.replace(from, to);
        }
    }
    let all = cut(&text.replace(['\'', '’'], ""));
    if is_english { with_dates(&with_digits(&all)) } else { all }
}

/// Spells dates one way: "14 march".
fn with_dates(all: &[String]) -> Vec<String> {
    let (mut words, mut rest) = (Vec::new(), all);
    while let Some((word, after)) = rest.split_first() {
        let from_day = if word == "the" { after } else { rest };
        let after_day = from_day.split_first().and_then(|(first, after)| Some((day(first)?, after)));
        let of_day = after_day.and_then(|(day, after)| {
            let from_month = after.strip_prefix(&["of".to_owned()]).unwrap_or(after);
            from_month.split_first().filter(|(month, _)| is_month(month)).map(|(month, after)| (day, month, after))
        });
        let of_month = || {
            let after = after.strip_prefix(&["the".to_owned()]).unwrap_or(after);
            let (first, after) = after.split_first().filter(|_| is_month(word))?;
            Some((day(first)?, word, after))
        };
        if let Some((day, month, after)) = of_day.or_else(of_month) {
            words.extend([day.to_owned(), month.clone()]);
            rest = after;
        } else {
            words.push(word.clone());
            rest = after;
        }
    }
    words
}

/// The day of a month, without the ending of an ordinal.
fn day(word: &str) -> Option<&str> {
    let digits = word.strip_suffix("th").unwrap_or(word);
    digits.parse::<u8>().is_ok_and(|day| (1..=31).contains(&day)).then_some(digits)
}

fn is_month(word: &str) -> bool {
    word.parse::<chrono::Month>().is_ok()
}

/// Cuts a text into words; "3.5" becomes "3 point 5", "12,500" stays one, "$5" becomes "5 dollars".
fn cut(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let at = |index: usize| letters.get(index).copied().unwrap_or(' ');
    let (mut words, mut word, mut currency) = (Vec::new(), String::new(), None);
    let mut flush = |word: &mut String, currency: &mut Option<&str>| {
        let is_number = word.starts_with(|letter: char| letter.is_ascii_digit());
        if !word.is_empty() {
            words.push(std::mem::take(word));
        }
        if is_number && let Some(currency) = currency.take() {
            words.push(currency.to_owned());
        }
    };
    for (index, letter) in letters.iter().copied().enumerate() {
        let is_inside = index > 0 && at(index - 1).is_ascii_digit() && at(index + 1).is_ascii_digit();
        match letter {
            ',' if is_inside => {}
            '.' if is_inside => {
                flush(&mut word, &mut currency);
                word.push_str("point");
                flush(&mut word, &mut currency);
            }
            letter if letter.is_alphanumeric() => word.push(letter),
            other => {
                flush(&mut word, &mut currency);
                currency = match other {
                    '$' => Some("dollars"),
                    '€' => Some("euros"),
                    '£' => Some("pounds"),
                    _ => currency,
                };
            }
        }
    }
    flush(&mut word, &mut currency);
    words
}

/// A part of a number.
enum NumberPart {
    Value(u64),
    /// "hundred" and "thousand".
    Times(u64),
    /// Digits with a zero in front, or too many to be counted with.
    Digits(String),
}

/// Reads a word as a part of a number; the flag tells an ordinal.
fn part(word: &str) -> Option<(NumberPart, bool)> {
    let place = |names: &[&str], word: &str| names.iter().position(|name| *name == word);
    if let Some(value) = place(&UNITS, word) {
        return Some((NumberPart::Value(value as u64), false));
    }
    if let Some(value) = place(&ORDINALS, word) {
        return Some((NumberPart::Value(value as u64), true));
    }
    if let Some(ten) = place(&TENS, word) {
        return Some((NumberPart::Value(ten as u64 * 10 + 20), false));
    }
    if let Some(ten) = word.strip_suffix("ieth").and_then(|stem| place(&TENS, &format!("{stem}y"))) {
        return Some((NumberPart::Value(ten as u64 * 10 + 20), true));
    }
    match word {
        "oh" => return Some((NumberPart::Value(0), false)),
        "hundred" => return Some((NumberPart::Times(100), false)),
        "thousand" => return Some((NumberPart::Times(1000), false)),
        _ => {}
    }
    let stem = ["st", "nd", "rd", "th"].iter().find_map(|end| word.strip_suffix(end));
    let digits = stem.unwrap_or(word);
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let is_plain = digits == "0" || (!digits.starts_with('0') && digits.len() < 10);
    let value = digits.parse().ok().filter(|_| is_plain);
    Some((value.map_or_else(|| NumberPart::Digits(digits.to_owned()), NumberPart::Value), stem.is_some()))
}

/// Whether a number that is `value` so far goes on with `next`: "twenty" with "two", "five hundred" with both.
const fn goes_on(value: u64, next: u64) -> bool {
    let is_ten = value.is_multiple_of(10) && value % 100 >= 20 && next > 0 && next < 10;
    let is_hundred = value >= 100 && value.is_multiple_of(100) && next < 100;
    is_ten || is_hundred || (value >= 1000 && value.is_multiple_of(1000) && next < 1000)
}

fn with_digits(all: &[String]) -> Vec<String> {
    let mut words = Vec::new();
    let (mut digits, mut value): (String, Option<u64>) = (String::new(), None);
    let close = |digits: &mut String, value: &mut Option<u64>| {
        if let Some(value) = value.take() {
            digits.push_str(&value.to_string());
        }
    };
    let titles = |word: &str| match word {
        "mr" => "mister".to_owned(),
        "dr" => "doctor".to_owned(),
        word => word.to_owned(),
    };
    for (index, word) in all.iter().enumerate() {
        let follows = all.get(index + 1).and_then(|next| part(next)).is_some();
        if word == "and" && value.is_some_and(|value| value >= 100) && follows {
            continue;
        }
        let Some((part, is_ordinal)) = part(word) else {
            close(&mut digits, &mut value);
            if !digits.is_empty() {
                words.push(std::mem::take(&mut digits));
            }
            words.push(titles(word));
            continue;
        };
        match (part, value) {
            (NumberPart::Value(next), Some(so_far)) if goes_on(so_far, next) => value = Some(so_far + next),
            (NumberPart::Value(next), _) => {
                close(&mut digits, &mut value);
                value = Some(next);
            }
            (NumberPart::Times(factor), Some(so_far)) if so_far < factor => value = Some(so_far * factor),
            // "two thousand five hundred": only the last figure is multiplied.
            (NumberPart::Times(100), Some(so_far)) if so_far >= 1000 && so_far % 1000 > 0 && so_far % 1000 < 10 => {
                value = Some(so_far / 1000 * 1000 + so_far % 1000 * 100);
            }
            (NumberPart::Times(factor), _) => {
                close(&mut digits, &mut value);
                value = Some(factor);
            }
            (NumberPart::Digits(more), _) => {
                close(&mut digits, &mut value);
                digits.push_str(&more);
            }
        }
        if is_ordinal {
            close(&mut digits, &mut value);
            words.push(format!("{}th", std::mem::take(&mut digits)));
        }
    }
    close(&mut digits, &mut value);
    if !digits.is_empty() {
        words.push(digits);
    }
    words
}

/// The least errors that turn the one list of words into the other.
pub struct Alignment {
    pub errors: usize,
    /// The places of words that are the same: in what was said, and in what was heard.
    pub same: Vec<(usize, usize)>,
    /// What differs, as `said>heard`.
    pub different: Vec<String>,
}

/// Aligns what was said with what was heard.
pub fn align(said: &[String], heard: &[String]) -> Alignment {
    let width = heard.len() + 1;
    let mut costs = vec![0_u16; (said.len() + 1) * width];
    let cost = |costs: &[u16], i: usize, j: usize| costs.get(i * width + j).copied().unwrap_or(u16::MAX);
    for i in 0..=said.len() {
        for j in 0..=heard.len() {
            let least = match (i, j) {
                (0, _) => j as u16,
                (_, 0) => i as u16,
                _ => {
                    let differs = u16::from(said.get(i - 1) != heard.get(j - 1));
                    let left = cost(&costs, i, j - 1).min(cost(&costs, i - 1, j)) + 1;
                    left.min(cost(&costs, i - 1, j - 1) + differs)
                }
            };
            if let Some(slot) = costs.get_mut(i * width + j) {
                *slot = least;
            }
        }
    }
    let (mut i, mut j) = (said.len(), heard.len());
    let (mut same, mut different) = (Vec::new(), Vec::new());
    while i > 0 || j > 0 {
        let here = cost(&costs, i, j);
        let (word, other) = (said.get(i.wrapping_sub(1)), heard.get(j.wrapping_sub(1)));
        let text = |word: Option<&String>| word.cloned().unwrap_or_default();
        if i > 0 && j > 0 && word == other && cost(&costs, i - 1, j - 1) == here {
            (i, j) = (i - 1, j - 1);
            same.push((i, j));
        } else if i > 0 && j > 0 && cost(&costs, i - 1, j - 1) + 1 == here {
            different.push(format!("{}>{}", text(word), text(other)));
            (i, j) = (i - 1, j - 1);
        } else if i > 0 && cost(&costs, i - 1, j) + 1 == here {
            different.push(format!("{}>", text(word)));
            i -= 1;
        } else {
            different.push(format!(">{}", text(other)));
            j -= 1;
        }
    }
    same.reverse();
    different.reverse();
    Alignment { errors: usize::from(cost(&costs, said.len(), heard.len())), same, different }
}

#[cfg(test)]
mod tests {
    use super::{align, words};

    #[test]
    fn numbers_are_spelled_one_way() {
        for (one, other) in [
            ("two hundred and fifty users", "250 users."),
            ("twelve thousand five hundred dollars", "$12,500"),
            ("four seven one nine three", "4, 7, 1, 9, 3"),
            ("in nineteen ninety eight we", "In 1998, we"),
            ("the fourteenth of March", "The 14th of March"),
            ("on the fourteenth of March at nine", "on March 14th at 9"),
            ("the third of May, may I", "3 May, may I"),
            ("half past nine", "Half past 9."),
            ("three point five degrees", "3.5 degrees"),
            ("ninety nine percent and one", "99% and 1"),
            ("the twenty first", "the 21st"),
            ("I am not, we can not", "I'm not; we can't"),
        ] {
            assert_eq!(words(one, true), words(other, true));
        }
        assert_eq!(words("Jusqu'à deux heures !", false), ["jusquà", "deux", "heures"]);
    }

    #[test]
    fn errors_are_the_least_that_explain_the_difference() {
        let found = align(&words("a b c d", true), &words("a x c d e", true));
        assert_eq!((found.errors, found.same), (2, vec![(0, 0), (2, 2), (3, 3)]));
        assert_eq!(found.different, ["b>x", ">e"]);
    }
}
