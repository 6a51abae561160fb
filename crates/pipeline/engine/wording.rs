//! Titles and statements: shortened from the words of the source, never invented.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::Regex;

use super::lexicon::pattern;

/// Maximum characters of a title.
const MAX_TITLE_LENGTH: usize = 80;

static OPENING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^((and|so|but|then|okay|well|uh|um|also),? )*((the|this|our|new) )*(new )?(system|application|",
        r"app|solution|software|product|platform|tool|portal|it)? ?(shall|must|should|will|has to|needs to|",
        r"is to|can)( be able to| also)? "
    ))
});
static FILLER: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?i)(^|[ ,])(uh|um|er|you know|i mean)(,|\b)"));

/// Returns a title of at most eighty characters, cut at a word.
pub fn title(statement: &str) -> String {
    let lower = super::corpus::plain(statement);
    let skip =
        OPENING.find(&lower).map_or(0, |opening| lower.get(..opening.end()).map_or(0, |head| head.chars().count()));
    let body: String = statement.chars().skip(skip).collect();
    let body = body.trim().trim_end_matches(['.', ';', ',', '!']);
    let body = if body.split_whitespace().count() < 2 { statement.trim() } else { body };
    capitalised(&shortened(body))
}

/// Removes hesitations from speech.
pub fn fluent(words: &str) -> String {
    let without = FILLER.replace_all(words, "$1").into_owned();
    let spaced = without.split_whitespace().collect::<Vec<_>>().join(" ");
    let tidy = spaced.replace(" ,", ",").replace(",,", ",");
    capitalised(tidy.trim_start_matches([',', ' ']))
}

/// Capitalises the first letter.
pub fn capitalised(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}

/// Returns the words themselves if they have at most `longest` characters, else their beginning and "…".
pub fn clipped(words: &str, longest: usize) -> Cow<'_, str> {
    let mut ends = words.char_indices().skip(longest.saturating_sub(1));
    match (ends.next(), ends.next()) {
        (Some((end, _)), Some(_)) => Cow::Owned(format!("{}…", words.get(..end).unwrap_or_default())),
        _ => Cow::Borrowed(words),
    }
}

fn shortened(words: &str) -> String {
    if words.chars().count() <= MAX_TITLE_LENGTH {
        return words.to_owned();
    }
    let mut short = String::new();
    for word in words.split_whitespace() {
        if short.chars().count() + word.chars().count() + 2 > MAX_TITLE_LENGTH {
            break;
        }
        if !short.is_empty() {
            short.push(' ');
        }
        short.push_str(word);
    }
    if short.is_empty() {
        short = words.chars().take(MAX_TITLE_LENGTH - 1).collect();
    }
    format!("{}…", short.trim_end_matches([',', ';', ':']))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_drops_the_modal_and_stays_short() {
        assert_eq!(title("The system shall let a patient book an appointment."), "Let a patient book an appointment");
        assert!(title(&"very long words ".repeat(30)).chars().count() <= MAX_TITLE_LENGTH);
        assert_eq!(title("Ünïcode 😀 must work."), "Ünïcode 😀 must work");
    }

    #[test]
    fn hesitations_go() {
        assert_eq!(fluent("And, uh, it has to, um, be fast."), "And, it has to, be fast.");
    }
}
