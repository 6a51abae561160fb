//! What a language model was asked in the runs of an evaluation, and what became of its answers.

use std::fmt;

use pipeline::result::{ModelMetrics, PipelineResult, QuoteCounts, ResultStatus};

/// The sums over all runs that gave a result. What was asked in runs without one is not counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ModelFigures {
    pub runs: u32,
    /// Runs that left something out.
    pub partial: u32,
    /// Questions that were answered, and those without a usable answer.
    pub calls: u32,
    pub failed_calls: u32,
    /// Tokens of questions and answers.
    pub tokens: u64,
    /// Parts into which the sources were cut, and those that the embedded engine analysed in place of the model.
    pub chunks: u32,
    pub fallback_chunks: u32,
    pub quotes: QuoteCounts,
    /// Items by what became of them, as in [`ModelMetrics`].
    pub unsupported: u32,
    pub in_own_words: u32,
    pub invalid: u32,
}

impl ModelFigures {
    /// Returns the figures of one run; `None` if it asked no model.
    #[must_use]
    pub fn of(result: &PipelineResult) -> Option<Self> {
        let ModelMetrics {
            name: _,
            calls,
            stored_answers: _,
            failed_calls,
            chunks,
            fallback_chunks,
            quotes,
            unsupported,
            in_own_words,
            invalid,
        } = result.metrics.model.as_ref()?;
        Some(Self {
            runs: 1,
            partial: u32::from(result.status == ResultStatus::Partial),
            calls: *calls,
            failed_calls: *failed_calls,
            tokens: result.metrics.tokens.unwrap_or_default(),
            chunks: *chunks,
            fallback_chunks: *fallback_chunks,
            quotes: *quotes,
            unsupported: *unsupported,
            in_own_words: *in_own_words,
            invalid: *invalid,
        })
    }

    /// Adds the figures of other runs.
    pub fn add(&mut self, other: Self) {
        self.runs += other.runs;
        self.partial += other.partial;
        self.calls += other.calls;
        self.failed_calls += other.failed_calls;
        self.tokens += other.tokens;
        self.chunks += other.chunks;
        self.fallback_chunks += other.fallback_chunks;
        self.quotes.exact += other.quotes.exact;
        self.quotes.normalised += other.quotes.normalised;
        self.quotes.fuzzy += other.quotes.fuzzy;
        self.quotes.retried += other.quotes.retried;
        self.quotes.dropped += other.quotes.dropped;
        self.unsupported += other.unsupported;
        self.in_own_words += other.in_own_words;
        self.invalid += other.invalid;
    }
}

impl fmt::Display for ModelFigures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let QuoteCounts { exact, normalised, fuzzy, retried, dropped } = self.quotes;
        let (partial, failed, fallen) = (
            share(self.partial, self.runs),
            share(self.failed_calls, self.calls.saturating_add(self.failed_calls)),
            share(self.fallback_chunks, self.chunks),
        );
        writeln!(f, "runs                     {}, {partial} left something out", self.runs)?;
        writeln!(f, "calls                    {} answered; {failed} gave no usable answer", self.calls)?;
        writeln!(f, "tokens                   {}", self.tokens)?;
        writeln!(f, "fallbacks                {fallen} parts were analysed by the embedded engine")?;
        writeln!(
            f,
            "quotes of the model      {exact} exact, {normalised} normalised, {fuzzy} fuzzy, {dropped} dropped; \
             {retried} found when asked again"
        )?;
        writeln!(
            f,
            "items of the model       {} unsupported, {} in the words of the source, {} in no valid form",
            self.unsupported, self.in_own_words, self.invalid
        )
    }
}

/// Returns a count, of how many it is one, and the share in percent.
fn share(part: u32, whole: u32) -> String {
    let percent = f64::from(part) * 100.0 / f64::from(whole.max(1));
    format!("{part} of {whole} ({percent:.1} %)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_printed_with_their_shares() {
        let quotes = QuoteCounts { exact: 4, normalised: 1, fuzzy: 2, retried: 1, dropped: 3 };
        let run = ModelFigures {
            runs: 1,
            partial: 1,
            calls: 7,
            failed_calls: 1,
            tokens: 1_000,
            chunks: 4,
            fallback_chunks: 1,
            quotes,
            unsupported: 2,
            in_own_words: 5,
            invalid: 6,
        };
        let mut both = run;
        both.add(ModelFigures { partial: 0, fallback_chunks: 0, ..run });
        assert_eq!(
            both.to_string(),
            "runs                     2, 1 of 2 (50.0 %) left something out\n\
             calls                    14 answered; 2 of 16 (12.5 %) gave no usable answer\n\
             tokens                   2000\n\
             fallbacks                1 of 8 (12.5 %) parts were analysed by the embedded engine\n\
             quotes of the model      8 exact, 2 normalised, 4 fuzzy, 6 dropped; 2 found when asked again\n\
             items of the model       4 unsupported, 10 in the words of the source, 12 in no valid form\n"
        );
        assert_eq!(share(0, 0), "0 of 0 (0.0 %)", "nothing was asked");
    }
}
