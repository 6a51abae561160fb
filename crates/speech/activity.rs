//! Voice activity: which parts of a sound are speech. Silence and noise are never given to the recogniser, which would
//! invent words for them.

use earshot::Detector;
use whisper::RATE;

/// Samples of one decision: 16 ms.
pub const FRAME: usize = 256;
/// Speech begins at this score, and goes on down to the other.
const BEGINS: f32 = 0.6;
const GOES_ON: f32 = 0.35;
/// Shorter speech is a click or a cough.
const SHORTEST: usize = RATE / 5 / FRAME;
/// Speech is followed, and preceded, by so much of what is around it: quiet first and last sounds of words.
const AROUND: usize = RATE * 3 / 10 / FRAME;

/// Scores sound frame by frame.
pub struct Activity {
    detector: Box<Detector>,
    /// Samples that do not fill a frame yet.
    rest: Vec<f32>,
}

impl Activity {
    #[must_use]
    pub fn new() -> Self {
        Self { detector: Detector::default_boxed(), rest: Vec::with_capacity(FRAME) }
    }

    /// Returns how much each frame that is now complete sounds like speech, from 0 to 1.
    pub fn scores(&mut self, samples: &[f32]) -> Vec<f32> {
        self.rest.extend_from_slice(samples);
        let frames = self.rest.chunks_exact(FRAME);
        let left = frames.remainder().to_vec();
        let scores = frames.map(|frame| self.detector.predict_f32(frame)).collect();
        self.rest = left;
        scores
    }
}

/// Returns the speech among frames with these scores, as ranges of frames in their order; neighbours that touch are one.
#[must_use]
pub fn spans(scores: &[f32]) -> Vec<(usize, usize)> {
    let mut spans: Vec<(usize, usize)> = Vec::new();
    let mut begun: Option<usize> = None;
    for (at, score) in scores.iter().enumerate().map(|(at, score)| (at, *score)).chain([(scores.len(), 0.0)]) {
        match begun {
            None if score >= BEGINS => begun = Some(at),
            Some(from) if score < GOES_ON => {
                begun = None;
                if at - from >= SHORTEST {
                    let (from, to) = (from.saturating_sub(AROUND), (at + AROUND).min(scores.len()));
                    match spans.last_mut() {
                        Some(last) if from <= last.1 => last.1 = to,
                        _ => spans.push((from, to)),
                    }
                }
            }
            None | Some(_) => {}
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::{AROUND, SHORTEST, spans};

    #[test]
    fn clicks_are_no_speech_and_short_pauses_do_not_part_it() {
        let mut scores = vec![0.0; 500];
        scores[20..20 + SHORTEST - 1].fill(1.0);
        scores[100..150].fill(0.9);
        scores[120..125].fill(0.1);
        scores[400..].fill(0.8);
        assert_eq!(spans(&scores), [(100 - AROUND, 150 + AROUND), (400 - AROUND, 500)]);
        assert_eq!(spans(&[]), []);
        assert_eq!(spans(&[0.5; 300]), []);
    }
}
