//! Counts and latencies of the ordinary users' calls, in bounded memory however long the bench runs.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Histogram classes for each doubling of a latency: percentiles are exact to about 4 %.
const PER_DOUBLING: f64 = 16.0;
const CLASSES: usize = 512;
/// How many error messages are stored.
const SENTENCES: usize = 5;

/// The outcome of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Good,
    /// 5xx.
    Failed,
    /// 429.
    Limited,
    /// Any other refusal, or no answer.
    Odd,
}

pub struct Tally {
    classes: Vec<AtomicU64>,
    good: AtomicU64,
    failed: AtomicU64,
    limited: AtomicU64,
    odd: AtomicU64,
    messages: Mutex<Vec<String>>,
}

impl Tally {
    pub fn new() -> Self {
        Self {
            classes: (0..CLASSES).map(|_| AtomicU64::new(0)).collect(),
            good: AtomicU64::new(0),
            failed: AtomicU64::new(0),
            limited: AtomicU64::new(0),
            odd: AtomicU64::new(0),
            messages: Mutex::default(),
        }
    }

    /// Records a call. Its latency counts whatever the outcome.
    pub fn note(&self, took: Duration, outcome: Outcome) {
        let class = (took.as_micros().max(1) as f64).log2() * PER_DOUBLING;
        if let Some(count) = self.classes.get((class as usize).min(CLASSES - 1)) {
            count.fetch_add(1, Ordering::Relaxed);
        }
        let count = match outcome {
            Outcome::Good => &self.good,
            Outcome::Failed => &self.failed,
            Outcome::Limited => &self.limited,
            Outcome::Odd => &self.odd,
        };
        count.fetch_add(1, Ordering::Relaxed);
    }

    /// Stores an error message, up to the first `SENTENCES`.
    pub fn note_message(&self, sentence: String) {
        let mut messages = self.messages.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() < SENTENCES {
            messages.push(sentence);
        }
    }

    pub fn messages(&self) -> Vec<String> {
        self.messages.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn failed(&self) -> u64 {
        self.failed.load(Ordering::Relaxed)
    }

    pub fn calls(&self) -> u64 {
        [&self.good, &self.failed, &self.limited, &self.odd].iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Returns the latency in milliseconds that the given percentage of calls did not exceed.
    pub fn percentile(&self, percent: u64) -> f64 {
        let counts: Vec<u64> = self.classes.iter().map(|count| count.load(Ordering::Relaxed)).collect();
        let wanted = (counts.iter().sum::<u64>() * percent).div_ceil(100);
        let mut passed = 0;
        let class = counts.iter().position(|count| {
            passed += count;
            passed >= wanted
        });
        ((class.unwrap_or(0) + 1) as f64 / PER_DOUBLING).exp2() / 1000.0
    }

    /// Formats the figures as one line.
    pub fn line(&self) -> String {
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed);
        format!(
            "{:>8} calls, p50 {:>7.1} ms, p99 {:>7.1} ms; {} × 5xx, {} × 429, {} other failures",
            self.calls(),
            self.percentile(50),
            self.percentile(99),
            count(&self.failed),
            count(&self.limited),
            count(&self.odd),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::{Duration, Outcome, Tally};

    #[test]
    fn times_are_told_to_a_few_in_a_hundred() {
        let tally = Tally::new();
        (1..=1000).for_each(|millis| tally.note(Duration::from_millis(millis), Outcome::Good));
        tally.note(Duration::from_secs(86_400), Outcome::Failed);
        for (percent, expected) in [(50, 501.0), (99, 991.0)] {
            let measured = tally.percentile(percent);
            assert!((measured / expected - 1.0).abs() < 0.06, "{measured} instead of {expected}");
        }
        assert_eq!((tally.calls(), tally.failed()), (1001, 1));
    }
}
