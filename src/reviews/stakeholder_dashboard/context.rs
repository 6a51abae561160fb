//! The text around quotes: some characters of the document before and after each.

use serde::Deserialize;

/// How many characters are shown before a quote, and as many after it.
pub const AROUND: usize = 200;

/// A quote's place in a text, in Unicode scalar values; the end is exclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuoteSpan {
    pub start: usize,
    pub end: usize,
}

/// What stands before and after a quote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuoteContext {
    pub before: String,
    pub after: String,
}

/// The part of a stored document text that is needed here; the rest is skipped while it is parsed.
#[derive(Deserialize)]
struct TextAlone {
    text: String,
}

/// Finds what stands around quotes of a document, in time proportional to its text. `None` for each place that is not
/// in it.
///
/// # Errors
/// The stored text can't be parsed.
pub fn around(stored: &str, places: &[QuoteSpan]) -> serde_json::Result<Vec<Option<QuoteContext>>> {
    let TextAlone { text } = serde_json::from_str(stored)?;
    // Where each of the wanted characters begins, in bytes: found in one pass over the text.
    let mut wanted: Vec<usize> = places
        .iter()
        .flat_map(|place| {
            [place.start.saturating_sub(AROUND), place.start, place.end, place.end.saturating_add(AROUND)]
        })
        .collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut bytes = Vec::with_capacity(wanted.len());
    let ends = text.char_indices().map(|(at, _)| at).chain([text.len()]).enumerate();
    let mut next = wanted.iter().copied().peekable();
    let mut length = 0;
    for (position, at) in ends {
        length = position;
        while next.next_if_eq(&position).is_some() {
            bytes.push(at);
        }
    }
    // What lies past the end is the end.
    bytes.resize(wanted.len(), text.len());
    let byte_of = |position: usize| wanted.binary_search(&position).ok().and_then(|at| bytes.get(at).copied());
    let context = |place: &QuoteSpan| {
        if place.start > place.end || place.end > length {
            return None;
        }
        let before = byte_of(place.start.saturating_sub(AROUND))?..byte_of(place.start)?;
        let after = byte_of(place.end)?..byte_of(place.end.saturating_add(AROUND))?;
        Some(QuoteContext { before: text.get(before)?.to_owned(), after: text.get(after)?.to_owned() })
    };
    Ok(places.iter().map(context).collect())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::{AROUND, QuoteContext, QuoteSpan, around};

    fn stored(text: &str) -> String {
        json!({"pages": [{"page": 1}], "text": text, "blocks": [1, 2]}).to_string()
    }

    #[test]
    fn a_quote_stands_between_what_is_before_and_after_it() {
        let text = format!("{}é quote ü{}", "a".repeat(300), "b".repeat(10));
        let places =
            [QuoteSpan { start: 302, end: 307 }, QuoteSpan { start: 0, end: 1 }, QuoteSpan { start: 5, end: 999 }];
        let found = around(&stored(&text), &places).unwrap();
        let first = QuoteContext { before: format!("{}é ", "a".repeat(198)), after: format!(" ü{}", "b".repeat(10)) };
        assert_eq!(found[0], Some(first));
        assert_eq!(found[1].as_ref().unwrap().before, "");
        assert_eq!(found[1].as_ref().unwrap().after, "a".repeat(200));
        assert_eq!(found[2], None, "it is not in the text");
        assert!(around("{}", &places).is_err());
    }

    proptest! {
        #[test]
        fn what_is_found_is_what_counting_characters_finds(
            text in "\\PC{0,500}",
            places in proptest::collection::vec((0_usize..520, 0_usize..520), 0..8),
        ) {
            let chars: Vec<char> = text.chars().collect();
            let places: Vec<QuoteSpan> = places.into_iter().map(|(start, end)| QuoteSpan { start, end }).collect();
            let found = around(&stored(&text), &places).unwrap();
            for (place, found) in places.iter().zip(found) {
                let expected = (place.start <= place.end && place.end <= chars.len()).then(|| QuoteContext {
                    before: chars[place.start.saturating_sub(AROUND)..place.start].iter().collect(),
                    after: chars[place.end..(place.end + AROUND).min(chars.len())].iter().collect(),
                });
                prop_assert_eq!(found, expected);
            }
        }
    }
}
