//! What can be wrong with a model, or with what it is to transcribe.

use std::io;
use std::path::PathBuf;

use super::sound::WINDOW;

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
    pub(crate) fn invalid(message: &str) -> Self {
        Self::Invalid(message.to_owned())
    }

    pub(crate) fn missing(name: &str) -> Self {
        Self::Invalid(format!("there is no {name}"))
    }
}
