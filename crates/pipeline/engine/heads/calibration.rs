//! What a score is worth: the share of findings like it that were right in documents that the scores were not trained on.
//!
//! The heads' own probabilities say far too much: of the sentences that they gave 97 % to be requirements, 87 % were.

/// The largest share that is claimed; the smallest is as far from none. Of the surest tenth of the requirements 994 of 1,000
/// held, and two decimals can't say more without saying that nothing can go wrong.
const LARGEST: f32 = 0.99;

/// How often findings hold, by what they are found by. Learnt in `evaluation`, on the folds of the training part.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Calibration {
    /// For each kind but none, in the order of [`super::KINDS`].
    pub curves: [CalibrationCurve; 5],
    /// Share of the sentences in the form of a user story that are one.
    pub stories: f32,
    /// Share of the plain demands that are requirements although the heads find nothing in them.
    pub demands: f32,
}

/// A logistic curve over the log-odds of a head. A slope that is not negative makes it monotone.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CalibrationCurve {
    pub slope: f32,
    pub offset: f32,
}

impl CalibrationCurve {
    /// Returns the share at these log-odds, between one and 99 of a hundred.
    #[must_use]
    pub fn share(self, log_odds: f32) -> f32 {
        let share = 1.0 / (1.0 + (-(self.slope * log_odds + self.offset)).exp());
        share.clamp(1.0 - LARGEST, LARGEST)
    }
}

/// Returns how much more likely a class is than all others together, as the logarithm of the ratio. Unlike a probability it
/// still tells scores apart that are all but certain.
#[must_use]
pub fn log_odds(scores: &[f32], class: usize) -> f32 {
    let others = || scores.iter().enumerate().filter(|(at, _)| *at != class).map(|(_, score)| *score);
    let most = others().fold(f32::MIN, f32::max);
    let rest: f32 = others().map(|score| (score - most).exp()).sum();
    scores.get(class).copied().unwrap_or(f32::MIN) - (most + rest.ln())
}

#[cfg(test)]
mod tests {
    use super::log_odds;

    #[test]
    fn log_odds_tell_scores_apart_whose_probability_is_one() {
        let (sure, surer) = ([0.0, 18.0, 1.0], [0.0, 30.0, 1.0]);
        assert!(1.0 / (1.0 + (-log_odds(&surer, 1)).exp()) >= 1.0);
        assert!(log_odds(&surer, 1) > log_odds(&sure, 1) + 11.0);
        assert!((log_odds(&[0.0, 2.0_f32.ln(), f32::MIN], 1) - 2.0_f32.ln()).abs() < 1e-6);
    }
}
