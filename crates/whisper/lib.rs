//! OpenAI's Whisper on the processor: 16 kHz mono sound in, phrases with times and confidence out.
//!
//! ```text
//! samples (≤ 30 s) ─► Spectrum ─► Network::encode ─► Decoding: one token after another ─► Phrase
//! ```
//! Models are folders in CTranslate2's format (`model.bin`, `tokenizer.json`, `config.json`). The decoder's weights stay
//! half precision, as they are stored; the encoder computes with single precision. One thread; nothing is carried over
//! from one window to the next, so that a mistake stays where it was made.
//!
//! Reading order: decoding · tokens · network · kernels · spectrum · weights.

mod decoding;
mod kernels;
mod network;
mod spectrum;
mod tokens;
mod weights;

use std::io;
use std::path::{Path, PathBuf};

use network::Network;
use tokens::Vocabulary;
use weights::Weights;

pub use kernels::{Dims, View, product};
pub use spectrum::Spectrum;

/// Samples per second: mono, from -1 to 1.
pub const RATE: usize = 16_000;
/// The most samples that are transcribed at once.
pub const WINDOW: usize = 30 * RATE;

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

/// What was heard in a window.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub segments: Vec<Phrase>,
    /// Samples that are done, more than 0: the next window begins behind them. What the end of the window cuts off is left
    /// to the next one.
    pub used: usize,
}

/// What was said without a pause. Times are in samples since the beginning of the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Phrase {
    pub start: usize,
    pub end: usize,
    pub text: String,
    /// The mean probability of its tokens (geometric), from 0 to 1.
    pub confidence: f32,
}

/// Why a model can't be used.
#[derive(Debug, thiserror::Error)]
pub enum ModelError {
    #[error("{} can't be read: {}", .0.display(), .1)]
    Unreadable(PathBuf, io::Error),
    #[error("the model is invalid: {0}")]
    Invalid(String),
}

/// Why a window was not transcribed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HearError {
    #[error("the model does not know the language {0:?}")]
    UnknownLanguage(String),
    #[error("a window has 1 to {WINDOW} samples, not {0}")]
    Length(usize),
    /// Its weights are numbers, but so large that sums of them are not.
    #[error("the model computes no probabilities: it is damaged")]
    Damaged,
}

impl ModelError {
    fn invalid(message: &str) -> Self {
        Self::Invalid(message.to_owned())
    }

    fn missing(name: &str) -> Self {
        Self::Invalid(format!("there is no {name}"))
    }
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
