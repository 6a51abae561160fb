//! The fixed words of files: headings, names of columns, labels, and the words of enumerations, in English, Arabic and German.
//!
//! The language of the project chooses them; `AUTO` and languages without a column of their own get the English ones. The direction of
//! the pages follows the language of the project even then: a Hebrew specification with English headings is still read from the right.

mod days;
mod labels;
mod terms;

pub use labels::Label;
pub use terms::TermSet;

/// The direction in which a page, or a text, is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    LeftToRight,
    RightToLeft,
}

impl Direction {
    pub fn is_rtl(self) -> bool {
        self == Self::RightToLeft
    }

    /// The value of HTML's `dir`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::LeftToRight => "ltr",
            Self::RightToLeft => "rtl",
        }
    }
}

/// The language that fixed words are written in. The discriminant is the column of the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileLanguage {
    English,
    Arabic,
    German,
}

impl FileLanguage {
    pub const ALL: [FileLanguage; 3] = [Self::English, Self::Arabic, Self::German];

    /// The BCP 47 tag.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::Arabic => "ar",
            Self::German => "de",
        }
    }

    fn of_row(self, row: [&'static str; 3]) -> &'static str {
        let [english, arabic, german] = row;
        match self {
            Self::English => english,
            Self::Arabic => arabic,
            Self::German => german,
        }
    }
}

/// The fixed words of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Words {
    language: FileLanguage,
    direction: Direction,
}

/// The languages that are written from right to left, by their ISO 639 codes.
const RIGHT_TO_LEFT: [&str; 10] = ["AR", "ARC", "CKB", "DV", "FA", "HE", "PS", "SD", "UR", "YI"];

impl Words {
    /// The words for a project of this language: a word of the interface (`DE`) or a tag with a region (`de-AT`), in any case.
    pub fn of(language: &str) -> Self {
        let primary = language.split(['-', '_']).next().unwrap_or_default().to_ascii_uppercase();
        let direction =
            if RIGHT_TO_LEFT.contains(&primary.as_str()) { Direction::RightToLeft } else { Direction::LeftToRight };
        let language = match primary.as_str() {
            "AR" => FileLanguage::Arabic,
            "DE" => FileLanguage::German,
            _ => FileLanguage::English,
        };
        Self { language, direction }
    }

    /// The language of the words themselves, for `lang` attributes.
    pub fn language(self) -> FileLanguage {
        self.language
    }

    /// The direction of pages and tables.
    pub fn direction(self) -> Direction {
        self.direction
    }

    pub fn label(self, label: Label) -> &'static str {
        self.language.of_row(label.row())
    }

    /// How a word of the interface is shown; a word that the set does not have is shown as it is.
    pub fn term(self, set: TermSet, word: &str) -> &str {
        set.row(word).map_or(word, |row| self.language.of_row(row))
    }

    /// How a word that the set has is shown; nothing for another one.
    pub fn fixed_term(self, set: TermSet, word: &str) -> &'static str {
        set.row(word).map_or("", |row| self.language.of_row(row))
    }

    /// What stands between the members of a list in a line.
    pub fn comma(self) -> &'static str {
        if self.language == FileLanguage::Arabic { "، " } else { ", " }
    }

    /// The marks around a quote.
    pub fn quotation_marks(self) -> (char, char) {
        match self.language {
            FileLanguage::English => ('“', '”'),
            FileLanguage::Arabic => ('«', '»'),
            FileLanguage::German => ('„', '“'),
        }
    }

    pub fn yes_or_no(self, value: bool) -> &'static str {
        self.label(if value { Label::Yes } else { Label::No })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_language_without_words_of_its_own_gets_the_english_ones() {
        for language in ["AUTO", "EN", "FR", "", "??", "en-GB"] {
            let words = Words::of(language);
            assert_eq!(words.label(Label::Requirements), "Requirements", "{language}");
            assert!(!words.direction().is_rtl(), "{language}");
        }
        assert_eq!(Words::of("DE").label(Label::Requirements), "Anforderungen");
        assert_eq!(Words::of("de_AT").language(), FileLanguage::German);
        assert_eq!(Words::of("AR").language().tag(), "ar");
    }

    #[test]
    fn the_direction_is_that_of_the_project_even_under_english_words() {
        for language in ["AR", "fa", "HE", "ur-PK"] {
            assert!(Words::of(language).direction().is_rtl(), "{language}");
        }
        assert_eq!(Words::of("HE").label(Label::Requirements), "Requirements");
    }

    #[test]
    fn every_label_is_written_in_every_language_and_stands_for_itself_alone() {
        for label in Label::ALL {
            for shown in label.row() {
                assert!(!shown.trim().is_empty(), "{label:?}");
            }
        }
        for language in FileLanguage::ALL {
            // The note in a cell names the sheet where its text goes on.
            let note = language.of_row(Label::ContinuesInRow.row());
            assert!(note.contains(language.of_row(Label::LongTexts.row())), "{language:?}");
            for sheet in Label::SECTIONS {
                let same =
                    Label::SECTIONS.iter().filter(|other| language.of_row(other.row()) == language.of_row(sheet.row()));
                assert_eq!(same.count(), 1, "{sheet:?} in {language:?}");
                // What Excel takes as the name of a sheet.
                assert!(language.of_row(sheet.row()).chars().count() <= 31, "{sheet:?} in {language:?}");
            }
        }
    }

    #[test]
    fn a_shown_word_leads_back_to_the_word_of_the_interface() {
        for set in TermSet::ALL {
            for (word, row) in set.rows() {
                assert_eq!(set.parse(word), Some(*word));
                for shown in row {
                    assert_eq!(set.parse(&format!("  {} ", shown.to_uppercase())), Some(*word), "{set:?}");
                }
            }
            assert_eq!(set.parse("something else"), None);
        }
        assert_eq!(Words::of("DE").term(TermSet::Priority, "HIGH"), "Hoch");
        assert_eq!(Words::of("DE").term(TermSet::Priority, "SOON"), "SOON");
    }
}
