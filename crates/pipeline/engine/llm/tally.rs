//! Counts what a model was asked, what it answered, and what became of it.

use super::super::super::chat::{ChatAnswer, NoCompletion};
use super::super::super::result::{ModelMetrics, Warning};
use super::super::EngineReport;
use super::quotes::Tier;

/// The counts of one run.
#[derive(Debug, Default)]
pub struct ModelTally {
    pub metrics: ModelMetrics,
    tokens: u64,
    /// Chunks without any usable answer.
    unanswered: u32,
    /// Chunks whose answer ended in the middle.
    cut: u32,
    /// Statements that were not verified because the model did not answer.
    unverified: u32,
    /// Sentences of quotes of several paragraphs that are in no item.
    left_over: u32,
    first_failure: Option<NoCompletion>,
}

impl ModelTally {
    pub fn of(model: &str, chunks: usize) -> Self {
        let metrics = ModelMetrics { name: model.to_owned(), chunks: count(chunks), ..ModelMetrics::default() };
        Self { metrics, ..Self::default() }
    }

    /// Counts an answer, and returns its text if there is one.
    pub fn text(&mut self, answer: ChatAnswer) -> Result<(String, bool), NoCompletion> {
        match answer {
            Ok(completion) => {
                self.metrics.calls += 1;
                self.metrics.stored_answers += u32::from(completion.is_stored);
                self.tokens = self.tokens.saturating_add(completion.tokens);
                Ok((completion.text, completion.is_cut))
            }
            Err(failure) => {
                self.fail(failure.clone());
                Err(failure)
            }
        }
    }

    /// Counts an answer that can't be used, or none.
    pub fn fail(&mut self, failure: NoCompletion) {
        self.metrics.failed_calls += 1;
        self.first_failure.get_or_insert(failure);
    }

    pub fn leave_unanswered(&mut self) {
        self.unanswered += 1;
    }

    /// Notes sentences that stand in a quote of several paragraphs and in no item.
    pub fn left_over(&mut self, sentences: usize) {
        self.left_over += count(sentences);
    }

    pub fn cut(&mut self) {
        self.cut += 1;
    }

    pub fn unverified(&mut self, statements: usize) {
        self.unverified += count(statements);
    }

    pub fn invalid(&mut self, items: usize) {
        self.metrics.invalid += count(items);
    }

    pub fn found(&mut self, tier: Tier, is_retried: bool) {
        let quotes = &mut self.metrics.quotes;
        match tier {
            Tier::Exact => quotes.exact += 1,
            Tier::Normalised => quotes.normalised += 1,
            Tier::Fuzzy => quotes.fuzzy += 1,
        }
        quotes.retried += u32::from(is_retried);
    }

    /// Returns the report. `falls_back`: the embedded engine analysed what was not answered.
    pub fn report(mut self, falls_back: bool) -> EngineReport {
        let (chunks, unanswered) = (self.metrics.chunks, self.unanswered);
        let reason = self.first_failure.as_ref().map(ToString::to_string).unwrap_or_default();
        let mut warnings = Vec::new();
        let mut warn = |code: &str, message: String| {
            warnings.push(Warning { code: code.to_owned(), message, source_id: None });
        };
        if unanswered > 0 {
            let fate = if falls_back { "were analysed by the embedded engine instead" } else { "were not analysed" };
            warn(
                Warning::MODEL_UNAVAILABLE,
                format!("{unanswered} of {chunks} parts of the sources {fate}: {reason}."),
            );
        }
        if self.unverified > 0 {
            let reason = if reason.is_empty() { "it gave no verdict on them" } else { &reason };
            let message = format!(
                "{} items could not be verified by the language model, so they are in the words of their source: {reason}.",
                self.unverified
            );
            warn(Warning::MODEL_UNAVAILABLE, message);
        }
        if self.cut > 0 {
            let message = format!(
                "The language model's answers for {} of {chunks} parts of the sources ended in the middle; what came \
                 before is there.",
                self.cut
            );
            warn(Warning::MODEL_ANSWER_CUT, message);
        }
        if self.left_over > 0 {
            let fate = if falls_back { "were analysed by the embedded engine instead" } else { "were left out" };
            let message = format!(
                "The language model quoted several paragraphs as one item; {} sentences beyond the first paragraph {fate}.",
                self.left_over
            );
            warn(Warning::MODEL_ANSWER_CUT, message);
        }
        let is_useless = chunks > 0 && unanswered == chunks && !falls_back;
        let failure = is_useless.then(|| format!("The analysis could not be done: {reason}."));
        if falls_back {
            self.metrics.fallback_chunks = unanswered;
        }
        EngineReport { failure, warnings, tokens: Some(self.tokens), model: Some(self.metrics) }
    }
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
