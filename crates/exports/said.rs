//! Whether a text says what another one has said: by its words, whatever their letter case, spaces and punctuation.

/// The words of a text in lower case, one space around each. A text without letters and digits is itself.
pub(crate) fn said(text: &str) -> String {
    let mut words = String::with_capacity(text.len() + 2);
    for word in text.split(|character: char| !is_of_word(character)).filter(|word| !word.is_empty()) {
        words.push(' ');
        words.extend(word.chars().flat_map(char::to_lowercase));
    }
    if words.is_empty() { text.trim().to_owned() } else { words + " " }
}

/// Marks belong to the letters that they stand on.
fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}')
}

/// Whether a quote adds nothing to a text: one has all words of the other, in their order. A text of which the quote says much more than
/// that is another one. Both as [`said`].
pub(crate) fn is_said_by(quote: &str, text: &str) -> bool {
    text.contains(quote) || (quote.len() < 2 * text.len() && quote.contains(text))
}

/// Whether a title was made of the text: it is the whole of it, its beginning, its end after an opening such as `The system shall`, or
/// any part of it that is cut with `…`. A word or two that the text has as well are a title that somebody gave.
pub(crate) fn is_made_of(title: &str, text: &str) -> bool {
    let (title, is_cut) = match title.trim().strip_suffix('…') {
        Some(beginning) => (beginning, true),
        None => (title, false),
    };
    let (title, text) = (said(title), said(text));
    let words = title.split_whitespace().count();
    text == title
        || (is_cut && text.contains(title.trim_end()))
        || (words > 1 && text.ends_with(&title))
        || (words > 3 && text.starts_with(&title))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_that_was_made_of_the_statement_is_known_from_one_that_was_given() {
        let statement = "The system shall let a patient book an appointment at any clinic.";
        for made in [
            statement,
            "Let a patient book an appointment at any clinic",
            "Let a patient book an appoint…",
            "The system shall let a patient book…",
            "The system shall let a patient",
        ] {
            assert!(is_made_of(made, statement), "{made}");
        }
        for given in ["Booking", "Any clinic for a patient", "appointment", "Let a nurse book…", "clinic"] {
            assert!(!is_made_of(given, statement), "{given}");
        }
        assert!(is_made_of("يسمح للمريض بالحجز", "يجب أن يسمح للمريض بالحجز."));
        assert!(!is_made_of("🙂", "The system smiles.") && is_made_of("🙂", " 🙂 "));
    }

    #[test]
    fn a_quote_in_other_words_is_none_that_was_said() {
        let statement = said("The system shall print 24 pages.");
        assert!(is_said_by(&said("the system shall  print 24 pages!"), &statement));
        assert!(is_said_by(&said("print 24 pages"), &statement));
        assert!(is_said_by(&said("So: the system shall print 24 pages, please."), &statement));
        assert!(!is_said_by(&said("We need it to print 24 pages."), &statement));
        assert!(!is_said_by(
            &said(&format!("{} The system shall print 24 pages.", "And more words. ".repeat(9))),
            &statement
        ));
    }
}
