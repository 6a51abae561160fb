//! Quantities in a sentence: numbers, also in words, with their units, in one measure for each kind of unit.

use super::tokens::tokens;

/// A number with what it counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Quantity {
    /// In the base unit: seconds, months, bytes; otherwise as written.
    pub value: f64,
    /// The base unit, or the stems of the two words behind the number.
    pub units: Vec<String>,
    /// As written.
    pub words: String,
}

impl Quantity {
    /// Whether both count the same.
    pub fn has_unit_of(&self, other: &Self) -> bool {
        self.units.iter().any(|unit| other.units.contains(unit))
    }

    /// Whether both are of the same size.
    pub fn is_as_much_as(&self, other: &Self) -> bool {
        (self.value - other.value).abs() <= 1e-9 * self.value.abs().max(other.value.abs())
    }
}

/// Returns the quantities of a sentence in lower case, and its other tokens.
pub fn split(lower: &str) -> (Vec<Quantity>, Vec<&str>) {
    let spaced = lower.replace('%', " percent ").replace('€', " euro ").replace('$', " dollar ");
    let is_word = |token: &&str| token.chars().any(char::is_alphanumeric);
    let numbers_first: Vec<String> = joined(&spaced).into_iter().filter(|token| is_word(&token.as_str())).collect();
    let mut quantities = Vec::new();
    let mut at = 0;
    while at < numbers_first.len() {
        let Some((value, used)) = number(numbers_first.get(at..).unwrap_or_default()) else {
            at += 1;
            continue;
        };
        let behind: Vec<&str> = numbers_first.iter().skip(at + used).take(2).map(String::as_str).collect();
        let before = at.checked_sub(1).and_then(|before| numbers_first.get(before)).map(String::as_str);
        if let Some(quantity) = quantity(value, &behind, before) {
            quantities.push(quantity);
        }
        at += used;
    }
    let is_number = |token: &str| number(&[token.to_owned()]).is_some();
    let rest = tokens(lower).filter(is_word).filter(|token| !is_number(token)).collect();
    (quantities, rest)
}

/// Returns the numbers of a sentence in lower case, whatever they count.
pub fn numbers(lower: &str) -> Vec<f64> {
    let tokens = joined(lower);
    let mut numbers = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let found = number(tokens.get(at..).unwrap_or_default());
        numbers.extend(found.map(|(value, _)| value));
        at += found.map_or(1, |(_, used)| used);
    }
    numbers
}

fn quantity(value: f64, behind: &[&str], before: Option<&str>) -> Option<Quantity> {
    let first = behind.first().copied().unwrap_or_default();
    let money = ["euro", "dollar", "eur", "usd", "gbp"];
    if let Some(unit) = before.filter(|unit| money.contains(unit)) {
        return Some(Quantity { value, units: vec![unit.to_owned()], words: format!("{unit} {value}") });
    }
    if let Some((base, factor)) = unit_of(first) {
        return Some(Quantity {
            value: value * factor,
            units: vec![base.to_owned()],
            words: format!("{value} {first}"),
        });
    }
    let units: Vec<String> = behind
        .iter()
        .filter(|word| word.len() > 2 && !NO_UNITS.contains(*word) && !word.starts_with(|c: char| c.is_ascii_digit()))
        .map(|word| word.chars().take(5).collect())
        .collect();
    let words = format!("{value} {first}").trim().to_owned();
    (!units.is_empty()).then_some(Quantity { value, units, words })
}

const NO_UNITS: [&str; 30] = [
    "and", "the", "for", "are", "was", "has", "with", "that", "this", "from", "per", "each", "when", "must", "shall",
    "should", "will", "can", "may", "before", "after", "until", "between", "which", "not", "all", "its", "their",
    "then", "than",
];

/// Returns the base of a unit and how many of it one is.
fn unit_of(word: &str) -> Option<(&'static str, f64)> {
    Some(match word {
        "ms" | "millisecond" | "milliseconds" => ("second", 0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => ("second", 1.0),
        "min" | "mins" | "minute" | "minutes" => ("second", 60.0),
        "h" | "hour" | "hours" => ("second", 3600.0),
        "day" | "days" => ("second", 86_400.0),
        "week" | "weeks" => ("second", 604_800.0),
        "month" | "months" => ("month", 1.0),
        "year" | "years" => ("month", 12.0),
        "kb" | "kilobyte" | "kilobytes" => ("byte", 1e3),
        "mb" | "mib" | "megabyte" | "megabytes" => ("byte", 1e6),
        "gb" | "gib" | "gigabyte" | "gigabytes" => ("byte", 1e9),
        "percent" | "pct" => ("percent", 1.0),
        "euro" | "euros" | "eur" => ("euro", 1.0),
        "dollar" | "dollars" | "usd" => ("dollar", 1.0),
        "metre" | "metres" | "meter" | "meters" | "m" => ("metre", 1.0),
        "km" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => ("metre", 1000.0),
        _ => return None,
    })
}

/// Splits into tokens; the figures of one number stay together ("1,000", "99.5", "18:30"), a unit written to its number
/// is apart ("20MB").
fn joined(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for word in text.split(|character: char| character.is_whitespace() || "()[]\"/–-".contains(character)) {
        let word = word.trim_matches(|character: char| !character.is_alphanumeric());
        let digits = word.find(|character: char| !(character.is_ascii_digit() || ".,:".contains(character)));
        match digits {
            Some(end) if end > 0 => {
                all.extend(word.get(..end).map(str::to_owned));
                all.extend(word.get(end..).map(str::to_owned));
            }
            _ if !word.is_empty() => all.push(word.to_owned()),
            _ => {}
        }
    }
    all
}

/// Reads a number from the first tokens; returns it with the number of tokens it takes.
fn number(tokens: &[String]) -> Option<(f64, usize)> {
    let first = tokens.first()?;
    if first.starts_with(|character: char| character.is_ascii_digit()) {
        let plain = match first.split_once(':') {
            Some((hours, minutes)) => {
                let (hours, minutes): (f64, f64) = (hours.parse().ok()?, minutes.parse().ok()?);
                return Some((hours + minutes / 60.0, 1));
            }
            None => first.replace(',', ""),
        };
        let value: f64 = plain.trim_end_matches('.').parse().ok()?;
        let factor = tokens.get(1).and_then(|word| scale(word));
        return Some(factor.map_or((value, 1), |factor| (value * factor, 2)));
    }
    let mut value = small(first)?;
    let mut used = 1;
    if (20.0..100.0).contains(&value)
        && let Some(ones) = tokens.get(1).and_then(|word| small(word)).filter(|ones| *ones < 10.0)
    {
        value += ones;
        used += 1;
    }
    while let Some(factor) = tokens.get(used).and_then(|word| scale(word)) {
        value *= factor;
        used += 1;
    }
    Some((value, used))
}

fn scale(word: &str) -> Option<f64> {
    Some(match word {
        "hundred" => 1e2,
        "thousand" => 1e3,
        "million" => 1e6,
        _ => return None,
    })
}

fn small(word: &str) -> Option<f64> {
    let ones = [
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
    let tens = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
    let place = |list: &[&str]| list.iter().position(|known| *known == word).and_then(|at| u32::try_from(at).ok());
    if let Some(at) = place(&ones) {
        return Some(f64::from(at));
    }
    if let Some(at) = place(&tens) {
        return Some(f64::from((at + 2) * 10));
    }
    match word {
        "half" => Some(0.5),
        "dozen" => Some(12.0),
        "hundred" => Some(100.0),
        "thousand" => Some(1000.0),
        "twice" => Some(2.0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(sentence: &str) -> Vec<(f64, String)> {
        split(sentence).0.into_iter().map(|found| (found.value, found.units.join("+"))).collect()
    }

    #[test]
    fn numbers_in_figures_and_words_are_one() {
        assert_eq!(values("answers within two seconds"), [(2.0, "second".to_owned())]);
        assert_eq!(values("answers within 2,000 ms."), [(2.0, "second".to_owned())]);
        assert_eq!(values("keeps it for twenty-four months"), values("keeps it for 2 years"));
        assert_eq!(values("up to 20mb and 99.5% of calls"), [(2e7, "byte".to_owned()), (99.5, "percent".to_owned())]);
        assert_eq!(values("two hundred concurrent users"), [(200.0, "concu+users".to_owned())]);
        assert_eq!(values("at most € 500 a month"), [(500.0, "euro".to_owned())]);
        assert_eq!(values("it prints a list"), []);
    }

    #[test]
    fn units_are_compared_in_one_measure() {
        let one = split("for 90 minutes").0.remove(0);
        let other = split("for 1.5 hours").0.remove(0);
        assert!(one.has_unit_of(&other) && one.is_as_much_as(&other));
        assert!(!one.has_unit_of(&split("90 users").0.remove(0)));
        assert!(split("200 concurrent users").0[0].has_unit_of(&split("500 users").0[0]));
    }
}
