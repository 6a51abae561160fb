//! The vocabulary: text to tokens and back, and the tokens with a meaning of their own.

use std::collections::HashMap;
use std::path::Path;

use serde_json::Value;

use super::errors::ModelError;
use super::weights::read_bounded;

/// The most tokens of a prompt's words: half of the decoder's context is for what is said.
const MAX_WORDS: usize = 160;
/// The largest vocabulary there is has 2.5 MB; parsed JSON takes many times its bytes.
const MAX_JSON_BYTES: u64 = 8 << 20;
/// How much earlier tokens than the first time there are times: 0 to 30 s in steps of 20 ms.
pub const TIMES: usize = 1501;

/// The vocabulary of a model.
pub struct Vocabulary {
    /// The bytes of each token; none for those with a meaning of their own.
    bytes: Vec<Vec<u8>>,
    /// The tokens of pieces of text, written in the alphabet of [`alphabet`].
    pieces: HashMap<String, u32>,
    /// The order in which two pieces are joined.
    merges: HashMap<(String, String), usize>,
    letters: [char; 256],
    languages: Vec<String>,
    language_tokens: Vec<u32>,
    pub start: u32,
    transcribe: Option<u32>,
    previous: Option<u32>,
    pub end: u32,
    pub no_speech: u32,
    pub first_time: u32,
    /// Tokens that are never text, and those that are not its beginning.
    pub never: Vec<u32>,
    pub not_first: Vec<u32>,
}

impl Vocabulary {
    pub fn open(folder: &Path, vocabulary: usize) -> Result<Self, ModelError> {
        let json = |name: &str| -> Result<Value, ModelError> {
            let bytes = read_bounded(&folder.join(name), MAX_JSON_BYTES)?;
            serde_json::from_slice(&bytes).map_err(|error| ModelError::Invalid(format!("{name}: {error}")))
        };
        Self::of(&json("tokenizer.json")?, &json("config.json")?, vocabulary)
    }

    fn of(tokenizer: &Value, config: &Value, vocabulary: usize) -> Result<Self, ModelError> {
        let invalid = |what: &str| ModelError::Invalid(format!("tokenizer.json has no {what}"));
        let letters = alphabet();
        let byte_of: HashMap<char, u8> = (0..=u8::MAX).zip(letters).map(|(byte, letter)| (letter, byte)).collect();
        let known =
            |id: &Value| id.as_u64().and_then(|id| u32::try_from(id).ok()).filter(|id| (*id as usize) < vocabulary);
        let (mut bytes, mut pieces) = (vec![Vec::new(); vocabulary], HashMap::new());
        for (piece, id) in
            tokenizer.pointer("/model/vocab").and_then(Value::as_object).ok_or_else(|| invalid("vocabulary"))?
        {
            let Some(id) = known(id) else { continue };
            if let Some(slot) = bytes.get_mut(id as usize) {
                *slot = piece.chars().filter_map(|letter| byte_of.get(&letter).copied()).collect();
            }
            pieces.insert(piece.clone(), id);
        }
        let mut special = HashMap::new();
        let added = tokenizer.get("added_tokens").and_then(Value::as_array).ok_or_else(|| invalid("special tokens"))?;
        for token in added {
            let (name, id) = (token.get("content").and_then(Value::as_str), token.get("id").and_then(known));
            if let (Some(name), Some(id)) = (name, id) {
                special.insert(name.to_owned(), id);
                if let Some(slot) = bytes.get_mut(id as usize) {
                    slot.clear();
                }
            }
        }
        let id = |name: &str| special.get(name).copied();
        let needed = |name: &str| id(name).ok_or_else(|| invalid(name));
        let first_time = needed("<|notimestamps|>")? + 1;
        if first_time as usize + TIMES != vocabulary {
            return Err(ModelError::invalid("the times are not the last tokens of the vocabulary"));
        }
        let end = needed("<|endoftext|>")?;
        let start = needed("<|startoftranscript|>")?;
        let first_language = start + 1;
        // English-only models have the tokens of languages in their files too, but never saw them.
        let is_multilingual = end == 50_257;
        let mut languages: Vec<(u32, String)> = Vec::new();
        for (name, token) in &special {
            let code = name.strip_prefix("<|").and_then(|name| name.strip_suffix("|>")).unwrap_or_default();
            let is_code = (2..=3).contains(&code.len()) && code.bytes().all(|byte| byte.is_ascii_lowercase());
            if is_code && is_multilingual && *token >= first_language && *token < first_time {
                languages.push((*token, code.to_owned()));
            }
        }
        languages.sort_unstable();
        let (language_tokens, mut languages): (Vec<u32>, Vec<String>) = languages.into_iter().unzip();
        if languages.is_empty() {
            languages.push("en".to_owned());
        }
        let no_speech = id("<|nospeech|>").or_else(|| id("<|nocaptions|>")).ok_or_else(|| invalid("<|nospeech|>"))?;
        let list = |key: &str| config.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(known);
        let mut never: Vec<u32> = list("suppress_ids").collect();
        never.extend(special.values().filter(|token| **token != end && **token < first_time));
        Ok(Self {
            bytes,
            pieces,
            merges: merges(tokenizer),
            letters,
            languages,
            transcribe: if language_tokens.is_empty() { None } else { Some(needed("<|transcribe|>")?) },
            language_tokens,
            start,
            previous: id("<|startofprev|>"),
            end,
            no_speech,
            first_time,
            never,
            not_first: list("suppress_ids_begin").collect(),
        })
    }

    pub fn is_multilingual(&self) -> bool {
        !self.language_tokens.is_empty()
    }

    pub fn languages(&self) -> &[String] {
        &self.languages
    }

    /// The tokens of the languages with their codes.
    pub fn languages_by_token(&self) -> impl Iterator<Item = (u32, &str)> {
        self.language_tokens.iter().copied().zip(self.languages.iter().map(String::as_str))
    }

    /// Returns the tokens that come before the text; `None` if the language is unknown.
    pub fn prompt(&self, language: &str, words: Option<&str>) -> Option<Vec<u32>> {
        let at = self.languages.iter().position(|known| known == language)?;
        let mut prompt = Vec::new();
        if let (Some(previous), Some(words)) = (self.previous, words.filter(|words| !words.trim().is_empty())) {
            let words = self.encode(&format!(" {}", words.trim()));
            prompt.push(previous);
            prompt.extend(words.iter().skip(words.len().saturating_sub(MAX_WORDS)));
        }
        prompt.push(self.start);
        prompt.extend(self.language_tokens.get(at));
        prompt.extend(self.transcribe);
        Some(prompt)
    }

    pub fn text(&self, tokens: impl Iterator<Item = u32>) -> String {
        let bytes: Vec<u8> = tokens.filter_map(|token| self.bytes.get(token as usize)).flatten().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }

    /// Returns the tokens of a text.
    fn encode(&self, text: &str) -> Vec<u32> {
        let mut tokens = Vec::new();
        for word in words(text) {
            let letter = |byte: u8| self.letters.get(usize::from(byte)).copied().unwrap_or(' ').to_string();
            let mut parts: Vec<String> = word.bytes().map(letter).collect();
            while let Some(at) = self.next_merge(&parts) {
                let joined = parts.drain(at..at + 2).collect();
                parts.insert(at, joined);
            }
            tokens.extend(parts.iter().filter_map(|part| self.pieces.get(part)));
        }
        tokens
    }

    fn next_merge(&self, parts: &[String]) -> Option<usize> {
        let pairs = parts.windows(2).enumerate().filter_map(|(at, pair)| {
            let [left, right] = pair else { return None };
            Some((*self.merges.get(&(left.clone(), right.clone()))?, at))
        });
        pairs.min().map(|(_, at)| at)
    }
}

/// Cuts a text into words, each with the space before it, as the vocabulary was made.
fn words(text: &str) -> Vec<&str> {
    let kind = |letter: char| match letter {
        letter if letter.is_whitespace() => 0,
        letter if letter.is_alphabetic() => 1,
        letter if letter.is_numeric() => 2,
        _ => 3,
    };
    let (mut words, mut from, mut before) = (Vec::new(), 0, None);
    for (at, letter) in text.char_indices() {
        let now = kind(letter);
        // A space belongs to the word behind it.
        let begins = before.is_some_and(|before| before != now && before != 0) || (before == Some(0) && now == 0);
        if begins {
            words.extend(text.get(from..at));
            from = at;
        }
        before = Some(now);
    }
    words.extend(text.get(from..).filter(|rest| !rest.is_empty()));
    words
}

fn merges(tokenizer: &Value) -> HashMap<(String, String), usize> {
    let all = tokenizer.pointer("/model/merges").and_then(Value::as_array).into_iter().flatten();
    let pair = |merge: &Value| match merge {
        Value::String(text) => text.split_once(' ').map(|(left, right)| (left.to_owned(), right.to_owned())),
        Value::Array(pair) => match pair.as_slice() {
            [Value::String(left), Value::String(right)] => Some((left.clone(), right.clone())),
            _ => None,
        },
        _ => None,
    };
    all.enumerate().filter_map(|(rank, merge)| Some((pair(merge)?, rank))).collect()
}

/// The letter that stands for each byte in the pieces of a vocabulary.
fn alphabet() -> [char; 256] {
    let mut spare = (256..).filter_map(char::from_u32);
    std::array::from_fn(|byte| match u8::try_from(byte).unwrap_or_default() {
        byte @ (33..=126 | 161..=172 | 174..=255) => char::from(byte),
        _ => spare.next().unwrap_or_default(),
    })
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    /// A vocabulary of few tokens, whose ids are those of an English-only model: text below 50,256, then the special ones.
    pub fn few() -> Vocabulary {
        let pieces = json!({"a": 0, "b": 1, "ab": 2, "Ġ": 3, "Ġab": 4, "c": 5, "Ã¶": 6, "Ã": 7, "¶": 8});
        let added = json!([
            {"content": "<|endoftext|>", "id": 50_256}, {"content": "<|startoftranscript|>", "id": 50_257},
            {"content": "<|en|>", "id": 50_258}, {"content": "<|transcribe|>", "id": 50_358},
            {"content": "<|startofprev|>", "id": 50_360}, {"content": "<|nospeech|>", "id": 50_361},
            {"content": "<|notimestamps|>", "id": 50_362}
        ]);
        let merges = json!([["a", "b"], "Ġ ab", ["Ã", "¶"]]);
        let tokenizer = json!({"model": {"vocab": pieces, "merges": merges}, "added_tokens": added});
        Vocabulary::of(&tokenizer, &json!({"suppress_ids": [5, 99_999]}), 50_363 + TIMES).unwrap()
    }

    #[test]
    fn text_becomes_tokens_and_back() {
        let tokens = few();
        assert_eq!(tokens.encode(" ab abö"), [4, 4, 6]);
        assert_eq!(tokens.text([4, 4, 6, 50_400, 1_000_000].into_iter()), "ab abö");
        assert_eq!(words(" a  b2,ü c"), [" a", " ", " b", "2", ",", "ü", " c"]);
    }

    #[test]
    fn the_prompt_names_words_but_no_language_of_a_model_without_languages() {
        let tokens = few();
        assert_eq!(tokens.prompt("en", None), Some(vec![50_257]));
        assert_eq!(tokens.prompt("en", Some("ab ")), Some(vec![50_360, 4, 50_257]));
        assert_eq!(tokens.prompt("de", None), None);
        let long = tokens.prompt("en", Some(&"ab ".repeat(500))).unwrap();
        assert_eq!(long.len(), MAX_WORDS + 2);
    }

    #[test]
    fn invalid_files_are_errors() {
        let tokenizer = |added: Value| json!({"model": {"vocab": {}}, "added_tokens": added});
        for added in [json!([]), json!([{"content": "<|notimestamps|>", "id": 7}]), json!(5)] {
            assert!(Vocabulary::of(&tokenizer(added), &json!({}), 5000).is_err());
        }
    }
}
