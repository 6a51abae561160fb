//! Language detection: the language of a text, if it is clear.

use whatlang::{Lang, Script, detect};

/// Number of characters that are examined. They suffice for a reliable result; more would only cost time.
const SAMPLE_CHARS: usize = 20_000;

/// Returns the ISO 639-1 code, or `None` if the text is short, mixed or in a language without a two-letter code here.
pub fn of(text: &str) -> Option<String> {
    let end = text.char_indices().nth(SAMPLE_CHARS).map_or(text.len(), |(byte, _)| byte);
    let found = detect(text.get(..end)?)?;
    // Another script than the Latin one tells of another language, however short the text is.
    if !found.is_reliable() && found.script() == Script::Latin {
        return None;
    }
    two_letters(found.lang()).map(str::to_owned)
}

fn two_letters(language: Lang) -> Option<&'static str> {
    Some(match language {
        Lang::Ara => "ar",
        Lang::Bul => "bg",
        Lang::Cat => "ca",
        Lang::Ces => "cs",
        Lang::Cmn => "zh",
        Lang::Dan => "da",
        Lang::Deu => "de",
        Lang::Ell => "el",
        Lang::Eng => "en",
        Lang::Est => "et",
        Lang::Fin => "fi",
        Lang::Fra => "fr",
        Lang::Heb => "he",
        Lang::Hin => "hi",
        Lang::Hrv => "hr",
        Lang::Hun => "hu",
        Lang::Ind => "id",
        Lang::Ita => "it",
        Lang::Jpn => "ja",
        Lang::Kor => "ko",
        Lang::Lav => "lv",
        Lang::Lit => "lt",
        Lang::Nld => "nl",
        Lang::Nob => "nb",
        Lang::Pes => "fa",
        Lang::Pol => "pl",
        Lang::Por => "pt",
        Lang::Ron => "ro",
        Lang::Rus => "ru",
        Lang::Slk => "sk",
        Lang::Slv => "sl",
        Lang::Spa => "es",
        Lang::Srp => "sr",
        Lang::Swe => "sv",
        Lang::Tur => "tr",
        Lang::Ukr => "uk",
        Lang::Urd => "ur",
        Lang::Vie => "vi",
        _ => return None,
    })
}
