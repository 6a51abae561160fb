//! OpenAI's Whisper on the processor: 16 kHz mono sound in, phrases with times and confidence out.
//!
//! ```text
//! samples (≤ 30 s) ─► Spectrum ─► Network::encode ─► Decoding: one token after another ─► Phrase
//! ```
//! Models are folders in CTranslate2's format (`model.bin`, `tokenizer.json`, `config.json`). The decoder's weights stay
//! half precision, as they are stored; the encoder computes with single precision. One thread; nothing is carried over
//! from one window to the next, so that a mistake stays where it was made.
//!
//! Reading order: decoding · tokens · network · kernels · spectrum · weights; what they all speak of is in sound and errors.

mod decoding;
mod errors;
mod kernels;
mod network;
mod sound;
mod spectrum;
mod tokens;
mod weights;

use std::path::Path;

use network::Network;
use tokens::Vocabulary;
use weights::Weights;

pub use errors::{HearError, ModelError};
pub use kernels::{Dims, View, product};
pub use sound::{Heard, Phrase, RATE, WINDOW};
pub use spectrum::Spectrum;

/// A model with its caches.
pub struct Whisper {
    network: Network,
    spectrum: Spectrum,
    tokens: Vocabulary,
}

/// What is known about a sound before it is transcribed.
#[derive(Debug, Clone, Copy)]
pub struct Options<'a> {
    /// One of [`Whisper::languages`].
    pub language: &'a str,
    /// Words that are likely to be said.
    pub prompt: Option<&'a str>,
    /// Nothing that was begun in the samples goes on behind them.
    pub is_last: bool,
}

impl Whisper {
    /// Opens the folder of a model.
    ///
    /// # Errors
    /// A file is missing or not what it should be.
    pub fn open(folder: &Path) -> Result<Self, ModelError> {
        let weights = Weights::open(&folder.join("model.bin"))?;
        let network = Network::of(&weights)?;
        drop(weights);
        let tokens = Vocabulary::open(folder, network.vocabulary())?;
        Ok(Self { spectrum: Spectrum::new(network.bands()), network, tokens })
    }

    #[must_use]
    pub fn is_multilingual(&self) -> bool {
        self.tokens.is_multilingual()
    }

    /// The codes of the languages that the model knows.
    #[must_use]
    pub fn languages(&self) -> &[String] {
        self.tokens.languages()
    }

    /// Returns the language that is most likely spoken, and its probability.
    pub fn detect_language(&mut self, samples: &[f32]) -> (String, f32) {
        let samples = samples.get(..samples.len().min(WINDOW)).unwrap_or_default();
        self.network.encode(&self.spectrum.of(samples));
        decoding::language(&mut self.network, &self.tokens)
    }

    /// Transcribes a window.
    ///
    /// # Errors
    /// The language is unknown, or the window empty or too long.
    pub fn transcribe(&mut self, samples: &[f32], options: &Options<'_>) -> Result<Heard, HearError> {
        if samples.is_empty() || samples.len() > WINDOW {
            return Err(HearError::Length(samples.len()));
        }
        let prompt = self.tokens.prompt(options.language, options.prompt);
        let prompt = prompt.ok_or_else(|| HearError::UnknownLanguage(options.language.to_owned()))?;
        self.network.encode(&self.spectrum.of(samples));
        let decoded =
            decoding::decode(&mut self.network, &self.tokens, &prompt, samples.len()).ok_or(HearError::Damaged)?;
        Ok(decoding::split(&decoded, &self.tokens, samples.len(), options.is_last))
    }
}
