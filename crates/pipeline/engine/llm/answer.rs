//! A model's answer as values: found among other words, repaired where it ends in the middle, and checked element by
//! element.

use serde_json::Value;

use super::super::super::result::{Priority, QualityCategory, RequirementType};
use super::super::{FindingKind, Judgement};
use super::schema::{CONFIDENCES, KINDS};

/// The largest answer that is looked at, in bytes.
const MAX_ANSWER_BYTES: usize = 256 * 1024;
/// The deepest nesting of an answer.
const MAX_DEPTH: usize = 16;
/// The most elements of an answer that are looked at.
const MAX_ELEMENTS: usize = 60;
/// Characters of a quote and of a statement.
const MAX_QUOTE_LENGTH: usize = 2_000;
const MAX_STATEMENT_LENGTH: usize = 2_000;

/// An item as a model proposes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposed {
    pub kind: FindingKind,
    pub quote: String,
    pub statement: String,
    pub judged: Judgement,
    pub confidence: f64,
}

/// The elements of an answer's list.
#[derive(Debug, PartialEq)]
pub struct Elements<T> {
    pub elements: Vec<T>,
    /// How many were in no valid form, or beyond the bounds.
    pub invalid: usize,
    /// The answer ended in the middle; these are the elements before.
    pub is_cut: bool,
}

/// Returns the items of an answer; `None` if it is no answer at all.
pub fn items(text: &str) -> Option<Elements<Proposed>> {
    elements(text, "items", item)
}

/// Returns the quotes of an answer by their numbers.
pub fn quotes(text: &str) -> Option<Elements<(usize, String)>> {
    elements(text, "quotes", |element| Some((number(element)?, bounded(element, "quote", MAX_QUOTE_LENGTH)?)))
}

/// Whether the quote with a number supports its statement, and says the opposite of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    pub number: usize,
    pub is_supported: bool,
    pub is_opposite: bool,
}

/// Returns the verdicts of an answer.
pub fn verdicts(text: &str) -> Option<Elements<Verdict>> {
    elements(text, "verdicts", |element| {
        let polarity = element.get("polarity")?.as_str()?.trim().to_ascii_uppercase();
        let is_opposite = match polarity.as_str() {
            "SAME" => false,
            "OPPOSITE" => true,
            _ => return None,
        };
        Some(Verdict { number: number(element)?, is_supported: element.get("supported")?.as_bool()?, is_opposite })
    })
}

fn item(element: &Value) -> Option<Proposed> {
    let name = |field: &str| element.get(field).and_then(Value::as_str).map(|name| name.trim().to_ascii_uppercase());
    let kind_name = name("kind")?;
    let kind = KINDS.iter().find(|(_, known)| *known == kind_name).map(|(kind, _)| *kind)?;
    let kind_of_requirement: RequirementType =
        name("type").and_then(|name| name.parse().ok()).unwrap_or(RequirementType::Unknown);
    let category: Option<QualityCategory> = name("category").and_then(|name| name.parse().ok());
    let is_quality = kind_of_requirement == RequirementType::NonFunctional;
    let judged = Judgement {
        kind: kind_of_requirement,
        category: category.filter(|_| is_quality),
        priority: name("priority").and_then(|name| name.parse().ok()).unwrap_or(Priority::Unknown),
    };
    let sure = name("confidence");
    let confidence = CONFIDENCES.iter().find(|(known, _)| sure.as_deref() == Some(*known));
    Some(Proposed {
        kind,
        quote: bounded(element, "quote", MAX_QUOTE_LENGTH)?,
        statement: bounded(element, "statement", MAX_STATEMENT_LENGTH)?,
        judged,
        confidence: confidence.map_or(0.5, |(_, value)| *value),
    })
}

fn bounded(element: &Value, field: &str, most: usize) -> Option<String> {
    let text = element.get(field)?.as_str()?.trim();
    (text.chars().count() <= most).then(|| text.to_owned())
}

fn number(element: &Value) -> Option<usize> {
    let number = element.get("n")?;
    let number = number.as_u64().or_else(|| number.as_str()?.trim().parse().ok())?;
    usize::try_from(number).ok()
}

fn elements<T>(text: &str, list: &str, read: impl Fn(&Value) -> Option<T>) -> Option<Elements<T>> {
    let (object, is_cut) = object(text)?;
    let all = object.get(list)?.as_array()?;
    let elements: Vec<T> = all.iter().take(MAX_ELEMENTS).filter_map(read).collect();
    let invalid = all.len() - elements.len();
    Some(Elements { elements, invalid, is_cut })
}

/// Returns the first JSON object of a text, and whether it had to be completed.
fn object(text: &str) -> Option<(Value, bool)> {
    if text.len() > MAX_ANSWER_BYTES {
        return None;
    }
    // What a model thinks aloud may hold braces.
    let text = text.rsplit_once("</think>").map_or(text, |(_, behind)| behind);
    let text = text.get(text.find('{')?..)?;
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<Value>();
    match values.next()? {
        Ok(value) => value.is_object().then_some((value, false)),
        Err(error) if error.is_eof() => {
            let value: Value = serde_json::from_str(&completed(text)?).ok()?;
            value.is_object().then_some((value, true))
        }
        Err(_) => None,
    }
}

/// Completes JSON that ends in the middle: everything behind the last complete object or list is left out, and what is
/// open is closed.
fn completed(text: &str) -> Option<String> {
    let mut open: Vec<char> = Vec::new();
    let (mut is_string, mut is_escaped) = (false, false);
    let mut whole: Option<(usize, Vec<char>)> = None;
    for (at, character) in text.char_indices() {
        if is_string {
            match character {
                _ if is_escaped => is_escaped = false,
                '\\' => is_escaped = true,
                '"' => is_string = false,
                _ => {}
            }
            continue;
        }
        match character {
            '"' => is_string = true,
            '{' => open.push('}'),
            '[' => {
                open.push(']');
                // An empty list is complete too.
                whole = whole.or(Some((at + 1, open.clone())));
            }
            '}' | ']' => {
                open.pop();
                whole = Some((at + 1, open.clone()));
            }
            _ => {}
        }
        if open.len() > MAX_DEPTH {
            return None;
        }
    }
    let (end, open) = whole?;
    let closing: String = open.iter().rev().collect();
    Some(format!("{}{closing}", text.get(..end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ITEM: &str = r#"{"kind": "REQUIREMENT", "quote": "It {must} print \"a\" list.", "statement": "It must print.", "type": "NON_FUNCTIONAL", "category": "SECURITY", "priority": "HIGH", "confidence": "HIGH"}"#;

    #[test]
    fn an_object_is_found_among_other_words() {
        for text in [
            format!("{{\"items\": [{ITEM}]}}"),
            format!("Here you are:\n```json\n{{\"items\": [{ITEM}]}}\n```\nAnything else?"),
            format!("<think>{{\"items\": 7}}</think>{{\"items\": [{ITEM}], \"more\": 1}}"),
        ] {
            let found = items(&text).unwrap();
            assert_eq!((found.elements.len(), found.invalid, found.is_cut), (1, 0, false), "{text}");
            assert_eq!(found.elements[0].quote, "It {must} print \"a\" list.");
            assert_eq!(found.elements[0].judged.category, Some(QualityCategory::Security));
        }
    }

    #[test]
    fn of_an_answer_that_is_cut_anywhere_the_complete_items_are_there() {
        let whole = format!("{{\"items\": [{ITEM}, {ITEM}]}}");
        let first = whole.find(", {\"kind\"").unwrap();
        for end in 0..whole.len() {
            let found = items(&whole[..end]);
            let count = found.as_ref().map(|found| found.elements.len());
            let expected = match end {
                end if end < "{\"items\": [".len() => None,
                end if end < first => Some(0),
                end if end < whole.len() - 2 => Some(1),
                _ => Some(2),
            };
            assert_eq!(count, expected, "cut at {end}: {}", &whole[..end]);
            assert!(found.is_none_or(|found| found.is_cut));
        }
    }

    #[test]
    fn what_is_in_no_valid_form_is_counted_and_left_out() {
        let long = "x".repeat(MAX_QUOTE_LENGTH + 1);
        let text = format!(
            r#"{{"items": [{ITEM}, {{"kind": "ORDER", "quote": "a", "statement": "b"}}, 7, {{"kind": "RISK"}},
               {{"kind": "RISK", "quote": "{long}", "statement": "b"}}, {{"kind": "risk", "quote": "a", "statement": "b", "type": "EVIL"}}]}}"#
        );
        let found = items(&text).unwrap();
        assert_eq!((found.elements.len(), found.invalid), (2, 4));
        assert_eq!(
            (found.elements[1].kind, found.elements[1].judged.kind),
            (FindingKind::Risk, RequirementType::Unknown)
        );
        for nothing in [
            "",
            "I can't help with that.",
            "[]",
            "{}",
            "{\"items\": 7}",
            "{\"verdicts\": []}",
            "{]",
            &"{\"items\":[".repeat(40),
        ] {
            assert_eq!(items(nothing), None, "{nothing}");
        }
        assert_eq!(items(&format!("{{\"items\": [{}]}}", vec![ITEM; 100].join(","))).unwrap().invalid, 40);
    }
}
