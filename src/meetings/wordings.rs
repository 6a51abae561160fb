//! The wordings of the consent question: one file for each version and language, read at start. Files are never edited,
//! because the ledger refers to a wording by its hash: a changed text is a new version.

use std::path::Path;

use actors::meeting::{Digest, Wording};
use serde::Serialize;
use utoipa::ToSchema;

const BUILT_IN: [(&str, &str); 2] = [
    ("2026-11.en.txt", include_str!("../../config/consent/2026-11.en.txt")),
    ("2026-11.ar.txt", include_str!("../../config/consent/2026-11.ar.txt")),
];
const FALLBACK: &str = "en";

/// The current wording that participants are asked to consent to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConsentWording {
    /// Identifies this exact text, including its language: send it back with the consent.
    pub version: String,
    /// The language of the text.
    pub language: String,
    /// The text to show before the question. Send its `version` with the answer.
    pub text: String,
    /// SHA-256 of the text in UTF-8, in hexadecimal.
    pub text_hash: String,
}

/// The current version of the wording, one text for each language.
#[derive(Debug, Clone)]
pub struct Wordings {
    /// English first.
    texts: Vec<ConsentWording>,
}

impl Wordings {
    /// Reads the wordings of a folder; an empty path selects the built-in ones.
    ///
    /// # Errors
    /// A message when the folder can't be read, a file has an invalid name, or the newest version has no English text.
    pub fn read(folder: &Path) -> Result<Self, String> {
        if folder.as_os_str().is_empty() {
            return Self::of(BUILT_IN.map(|(name, text)| (name.to_owned(), text.to_owned())).into());
        }
        let fault = |error: std::io::Error| format!("meetings.wordings: {} can't be read: {error}", folder.display());
        let mut files = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(fault)? {
            let entry = entry.map_err(fault)?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if Path::new(&name).extension().is_some_and(|extension| extension == "txt") {
                files.push((name, std::fs::read_to_string(entry.path()).map_err(fault)?));
            }
        }
        Self::of(files)
    }

    /// Builds the wordings from pairs of file name and content; names are like `2026-11.en.txt`.
    fn of(files: Vec<(String, String)>) -> Result<Self, String> {
        let mut all = Vec::with_capacity(files.len());
        for (name, text) in files {
            let named = name.strip_suffix(".txt").and_then(|name| name.rsplit_once('.'));
            let Some((version, language)) = named.filter(|(version, language)| is_word(version) && is_word(language))
            else {
                return Err(format!("meetings.wordings: {name} is not named like 2026-11.en.txt"));
            };
            all.push((version.to_owned(), language.to_ascii_lowercase(), text.trim().to_owned()));
        }
        all.sort();
        let newest = all.last().map(|(version, ..)| version.clone()).unwrap_or_default();
        let today = all.into_iter().filter(|(version, ..)| *version == newest);
        let mut texts: Vec<_> = today
            .map(|(version, language, text)| ConsentWording {
                version: format!("{version}.{language}"),
                text_hash: Digest::of(&text).to_string(),
                language,
                text,
            })
            .collect();
        texts.sort_by_key(|text| text.language != FALLBACK);
        if texts.first().is_none_or(|text| text.language != FALLBACK) {
            return Err("meetings.wordings: the newest version has no English text (such as 2026-11.en.txt)".to_owned());
        }
        Ok(Self { texts })
    }

    /// Returns the text in the first of these languages that is available, else in English.
    #[must_use]
    pub fn in_one_of(&self, languages: &[String]) -> ConsentWording {
        let found = languages.iter().find_map(|wanted| self.texts.iter().find(|text| text.language == *wanted));
        // There is always an English text: `of` guarantees it.
        found.or_else(|| self.texts.first()).cloned().unwrap_or_else(|| ConsentWording {
            version: String::new(),
            language: String::new(),
            text: String::new(),
            text_hash: String::new(),
        })
    }

    /// Returns the wording of that version; `None` when it is not one of the current texts.
    #[must_use]
    pub fn of_version(&self, version: &str) -> Option<Wording> {
        self.texts.iter().find(|text| text.version == version).map(named)
    }

    /// Returns the wording that a participant who declines is assumed to have been shown: a refusal names no version.
    #[must_use]
    pub fn in_language(&self, languages: &[String]) -> Wording {
        named(&self.in_one_of(languages))
    }
}

fn named(text: &ConsentWording) -> Wording {
    Wording { version: text.version.clone(), language: text.language.clone(), text_hash: Digest::of(&text.text) }
}

fn is_word(text: &str) -> bool {
    let is_plain = |sign: char| sign.is_ascii_alphanumeric() || matches!(sign, '-' | '_');
    (1..=40).contains(&text.len()) && text.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Wordings;

    fn files(all: &[(&str, &str)]) -> Vec<(String, String)> {
        all.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn the_newest_version_is_asked_for_in_the_language_that_is_wanted_most() {
        let all = [("1.en.txt", "old"), ("2.en.txt", "new\n"), ("2.AR.txt", "جديد"), ("1.fr.txt", "vieux")];
        let wordings = Wordings::of(files(&all)).unwrap();
        let seen = |wanted: &[&str]| {
            let wanted: Vec<_> = wanted.iter().map(|one| (*one).to_owned()).collect();
            wordings.in_one_of(&wanted).version
        };
        assert_eq!(seen(&[]), "2.en");
        assert_eq!(seen(&["fr"]), "2.en", "there is none of this version");
        assert_eq!(seen(&["fr", "ar", "en"]), "2.ar");
        assert_eq!(seen(&["en", "ar"]), "2.en");
        assert_eq!(wordings.in_one_of(&[]).text, "new");
        assert!(wordings.of_version("2.ar").is_some());
        assert!(wordings.of_version("1.en").is_none());
    }

    #[test]
    fn words_without_an_english_text_or_a_version_are_refused_at_start() {
        assert!(Wordings::of(Vec::new()).is_err());
        assert!(Wordings::of(files(&[("1.en.txt", "a"), ("2.ar.txt", "b")])).is_err());
        assert!(Wordings::of(files(&[("english.txt", "a")])).is_err());
        assert!(Wordings::read(Path::new("/no/such/folder")).is_err());
    }

    #[test]
    fn the_words_that_are_built_in_are_there_in_english_and_arabic() {
        let wordings = Wordings::read(Path::new("")).unwrap();
        assert_eq!(wordings.in_one_of(&[]).language, "en");
        assert_eq!(wordings.in_one_of(&["ar".to_owned()]).language, "ar");
    }
}
