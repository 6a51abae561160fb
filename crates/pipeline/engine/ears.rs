//! Which pattern of EARS (Easy Approach to Requirements Syntax, Mavin et al. 2009) a requirement is written in.

use std::sync::LazyLock;

use regex::Regex;

use super::super::result::EarsPattern;
use super::corpus::plain;
use super::lexicon::pattern;

/// “The <system> shall <response>”, in the words that specifications use for it.
static RESPONSE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"\b(shall|must|should|will|has to|have to|needs? to|is to|are to)( not)?( \w+ly)? \w+"));
static UNWANTED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(and |but |in case )?(if|in case|in the event)\b.+,? (then )?"));
static EVENT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(when|whenever|upon|on|once|as soon as|after|every time|each time|at the end of|at the start of) \w+")
});
static STATE: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"^(while|during|as long as|for as long as|throughout|in the \w+ (state|mode)) ?\w+"));
static OPTION: LazyLock<Regex> = LazyLock::new(|| {
    pattern(r"^(where|wherever|for \w+ (equipped|configured) with|on \w+ with|provided that the \w+ (is|has)) \w+")
});
/// The condition behind the response.
static TRAILING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\b(?:(?P<unwanted>if|in case|in the event)|(?P<event>when|whenever|upon|as soon as|once|",
        r"every time)|(?P<state>while|during|as long as)) \w+"
    ))
});

/// Returns the pattern of a statement; `None` if it has none, as wishes in talk have.
pub fn pattern_of(statement: &str) -> Option<EarsPattern> {
    let lower = plain(statement);
    let response = RESPONSE.find(&lower)?;
    let before = lower.get(..response.start()).unwrap_or_default();
    let leading = [
        (EVENT.is_match(before), EarsPattern::EventDriven),
        (STATE.is_match(before), EarsPattern::StateDriven),
        (UNWANTED.is_match(before), EarsPattern::UnwantedBehaviour),
        (OPTION.is_match(before), EarsPattern::OptionalFeature),
    ];
    let first = leading.into_iter().find(|(is_met, _)| *is_met).map(|(_, pattern)| pattern);
    let behind = lower.get(response.end()..).and_then(|after| TRAILING.captures(after)).map(|found| {
        match (found.name("unwanted"), found.name("event")) {
            (Some(_), _) => EarsPattern::UnwantedBehaviour,
            (_, Some(_)) => EarsPattern::EventDriven,
            _ => EarsPattern::StateDriven,
        }
    });
    Some(match (first, behind) {
        (Some(first), Some(behind)) if first != behind => EarsPattern::Complex,
        (Some(first), _) => first,
        (None, Some(behind)) => behind,
        (None, None) => EarsPattern::Ubiquitous,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pattern_is_named() {
        for (statement, expected) in [
            ("The pump shall stop at night.", Some(EarsPattern::Ubiquitous)),
            ("When the door opens, the pump shall stop.", Some(EarsPattern::EventDriven)),
            ("The pump shall stop when the door opens.", Some(EarsPattern::EventDriven)),
            ("While the door is open, the pump shall rest.", Some(EarsPattern::StateDriven)),
            ("If the sensor fails, then the pump shall stop.", Some(EarsPattern::UnwantedBehaviour)),
            ("Where a heater is fitted, the pump shall warm up.", Some(EarsPattern::OptionalFeature)),
            ("While the door is open, the pump shall stop when the bell rings.", Some(EarsPattern::Complex)),
            ("I'd love a list.", None),
            ("Prints a receipt", None),
        ] {
            assert_eq!(pattern_of(statement), expected, "{statement}");
        }
    }
}
