//! Chats with a language model: what is asked, what comes back, and why nothing does. Whoever answers them is behind
//! [`Completions`](super::ports::Completions).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::loop_control::{Halted, LoopControl};

/// Characters of a token, at the least, where nobody counts them: an estimate may be too high, never far too low.
const CHARACTERS_OF_A_TOKEN: usize = 3;

/// One question to a model. It has no memory of others and no tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chat {
    pub model: String,
    /// What is to be done: words of this program alone.
    pub system: String,
    /// The material, in marked blocks.
    pub user: String,
    /// The name of the schema, of letters and underscores.
    pub schema_name: String,
    /// The JSON schema of the answer.
    pub schema: Value,
    /// The maximum number of tokens of the answer.
    pub answer_tokens: u32,
}

impl Chat {
    /// Returns the key of the answer: 64 hex digits of SHA-256 over everything that is asked.
    #[must_use]
    pub fn key(&self) -> String {
        // A chat holds strings, numbers and JSON, which can always be written.
        let written = serde_json::to_vec(self).unwrap_or_default();
        hex::encode(Sha256::digest(written))
    }

    /// Returns the largest number of tokens that the chat may take, question and answer together.
    #[must_use]
    pub fn estimated_tokens(&self) -> u64 {
        let asked = self.system.chars().count() + self.user.chars().count() + self.schema.to_string().len();
        u64::try_from(asked / CHARACTERS_OF_A_TOKEN).unwrap_or(u64::MAX).saturating_add(u64::from(self.answer_tokens))
    }
}

/// A model's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Completion {
    pub text: String,
    /// The answer was longer than allowed, and ends in the middle.
    pub is_cut: bool,
    /// Tokens of question and answer, as the service counted them, or estimated where it does not.
    pub tokens: u64,
    /// The answer was stored by an earlier attempt of the run.
    #[serde(default)]
    pub is_stored: bool,
}

/// Why there is no answer. The sentences hold neither text of the sources nor keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum NoCompletion {
    #[error("this project's texts may not be sent to a language model")]
    NotPermitted,
    /// The same question would be refused again.
    #[error("the language model's server refused: {0}")]
    Refused(String),
    #[error("the language model is not available: {0}")]
    Unavailable(String),
    #[error("the language model gave an invalid answer: {0}")]
    Invalid(String),
    /// The run's tokens or its time for the model are used up.
    #[error("the analysis used up its {0} for the language model")]
    BudgetSpent(BudgetPart),
}

impl NoCompletion {
    /// Whether other questions of the same run would have the same fate.
    #[must_use]
    pub const fn is_lasting(&self) -> bool {
        match self {
            Self::NotPermitted | Self::BudgetSpent(_) => true,
            Self::Refused(_) | Self::Unavailable(_) | Self::Invalid(_) => false,
        }
    }
}

/// A part of a run's budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum BudgetPart {
    Tokens,
    Time,
}

/// The result of one chat.
pub type ChatAnswer = Result<Completion, NoCompletion>;

/// A model as an engine sees it: a call that blocks until all answers are there.
pub trait Model: Send + Sync {
    /// Returns the answers in the order of the chats.
    ///
    /// # Errors
    /// [`Halted`] once the run is cancelled.
    fn complete(&self, chats: &[Chat], control: &LoopControl) -> Result<Vec<ChatAnswer>, Halted>;
}

/// No model: each question is answered with the same reason.
#[derive(Debug, Clone)]
pub struct NoModel(pub NoCompletion);

impl Model for NoModel {
    fn complete(&self, chats: &[Chat], _: &LoopControl) -> Result<Vec<ChatAnswer>, Halted> {
        Ok(vec![Err(self.0.clone()); chats.len()])
    }
}
