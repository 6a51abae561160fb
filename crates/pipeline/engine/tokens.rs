//! The tokens of a sentence.

/// The words and marks of a sentence in lower case.
pub fn tokens(lower: &str) -> impl Iterator<Item = &str> {
    let is_word = |character: char| character.is_alphanumeric() || character == '\'';
    let mut rest = lower;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|character: char| !is_word(character) && !MARKS.contains(&character));
        let first = rest.chars().next()?;
        let end = if is_word(first) {
            rest.find(|character| !is_word(character)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(token)
    })
}

const MARKS: [char; 6] = ['?', '!', ':', ';', '…', '|'];

#[cfg(test)]
mod tests {
    use super::tokens;

    #[test]
    fn tokens_are_words_and_telling_marks() {
        let found: Vec<&str> = tokens("can't we (really) print 24 pages? – yes: ünï…").collect();
        assert_eq!(found, ["can't", "we", "really", "print", "24", "pages", "?", "yes", ":", "ünï", "…"]);
    }
}
