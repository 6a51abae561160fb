//! Which words a misspelt one may stand for.

use strsim::osa_distance;

/// Shorter words are taken as they are: too many are near.
const SHORTEST: usize = 4;
/// From so many letters on, a word may differ in two places.
const LONG: usize = 8;
/// How many near words are looked for.
const NEAR: usize = 8;

/// How many letters may be wrong, missing, added or exchanged with the next one in a word.
#[must_use]
pub fn tolerance(word: &str) -> usize {
    match word.chars().count() {
        ..SHORTEST => 0,
        SHORTEST..LONG => 1,
        LONG.. => 2,
    }
}

/// Whether a word can be looked up in the list of words, and belongs there.
#[must_use]
pub fn is_listed(word: &str) -> bool {
    tolerance(word) > 0 && !word.chars().all(|sign| sign.is_ascii_digit())
}

/// The letters with which the near words of a word begin: its own first one, or its second one in case the first was
/// added or exchanged with it.
#[must_use]
pub fn initials(word: &str) -> Vec<String> {
    let mut initials: Vec<String> = word.chars().take(2).map(String::from).collect();
    initials.dedup();
    initials
}

/// The known words that are near to a word, nearest first.
#[must_use]
pub fn near(word: &str, known: Vec<String>) -> Vec<String> {
    let most = tolerance(word);
    let distance = |other: String| Some((osa_distance(word, &other), other)).filter(|(far, _)| *far <= most);
    let mut near: Vec<(usize, String)> = known.into_iter().filter_map(distance).collect();
    near.sort_unstable();
    near.truncate(NEAR);
    near.into_iter().map(|(_, word)| word).collect()
}

#[cfg(test)]
mod tests {
    use super::near;

    #[test]
    fn a_word_may_be_wrong_in_one_place_and_a_long_one_in_two() {
        let near = |word: &str, known: &[&str]| near(word, known.iter().map(|&word| word.to_owned()).collect());
        assert_eq!(near("logn", &["login", "logic", "long"]), ["login", "long"]);
        assert_eq!(
            near("appointmnet", &["appointment", "appointments", "department"]),
            ["appointment", "appointments"]
        );
        assert_eq!(near("appoinmnet", &["appointment"]), ["appointment"]);
        assert_eq!(near("cat", &["car", "cut"]), [""; 0]);
        assert_eq!(near("مستخدن", &["مستخدم"]), ["مستخدم"]);
    }
}
