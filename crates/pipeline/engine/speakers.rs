//! Speakers, looked up by name in hash tables, as a text may name thousands.

use std::collections::{HashMap, HashSet};

/// Everyone who speaks in any source, in order of first appearance.
#[derive(Debug, Default)]
pub struct Speakers {
    names: Vec<String>,
    /// Index by full name in lower case; of those with the same name, the first.
    by_name: HashMap<String, usize>,
    by_first_name: HashMap<String, usize>,
    parts: HashSet<String>,
}

impl Speakers {
    pub fn new(names: &[String]) -> Self {
        let mut speakers = Self { names: names.to_vec(), ..Self::default() };
        for (at, name) in names.iter().enumerate() {
            let lower = name.to_lowercase();
            if let Some(first) = lower.split_whitespace().next() {
                speakers.by_first_name.entry(first.to_owned()).or_insert(at);
            }
            speakers.parts.extend(lower.split_whitespace().map(str::to_owned));
            speakers.by_name.entry(lower).or_insert(at);
        }
        speakers
    }

    /// Returns the speaker meant by a name in lower case: the first with this full name, or whose first name is the
    /// first word of it.
    pub fn called(&self, name: &str) -> Option<&str> {
        let first = name.split_whitespace().next().unwrap_or_default();
        let found = [self.by_name.get(name), self.by_first_name.get(first)].into_iter().flatten().min()?;
        self.names.get(*found).map(String::as_str)
    }

    /// Whether a word in lower case is part of a speaker's name.
    pub fn has_part(&self, word: &str) -> bool {
        self.parts.contains(word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_with_a_name_or_a_first_name_is_meant() {
        let speakers = Speakers::new(&["Ana Ruiz".to_owned(), "Bo".to_owned(), "Bo Berg".to_owned()]);
        assert_eq!(speakers.called("ana"), Some("Ana Ruiz"));
        assert_eq!(speakers.called("bo berg"), Some("Bo"));
        assert_eq!(speakers.called("berg"), None);
        assert!(speakers.has_part("berg") && !speakers.has_part("bo berg"));
    }
}
