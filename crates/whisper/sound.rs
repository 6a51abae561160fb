//! Sound that goes in, and what was heard in it.

/// Samples per second: mono, from -1 to 1.
pub const RATE: usize = 16_000;
/// The most samples that are transcribed at once.
pub const WINDOW: usize = 30 * RATE;

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
