//! Counts of what was expected and what was found, and figures with intervals made of them.

/// What was expected and found in one document or project.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MatchTally {
    pub expected: u32,
    /// How many of the expected ones were found.
    pub met: u32,
    pub found: u32,
    /// How many of the found ones were expected.
    pub right: u32,
}

/// A figure with the interval that holds it in 95 of 100 samples of the same size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub value: f64,
    pub low: f64,
    pub high: f64,
}

/// How many samples an interval is taken from.
const SAMPLES: usize = 1000;

impl MatchTally {
    /// Adds the counts of another one.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            expected: self.expected + other.expected,
            met: self.met + other.met,
            found: self.found + other.found,
            right: self.right + other.right,
        }
    }

    /// Returns the share of what was found that was expected.
    #[must_use]
    pub fn precision(self) -> f64 {
        share(self.right, self.found)
    }

    /// Returns the share of what was expected that was found.
    #[must_use]
    pub fn recall(self) -> f64 {
        share(self.met, self.expected)
    }

    /// Returns the harmonic mean of precision and recall.
    #[must_use]
    pub fn f1(self) -> f64 {
        let (precision, recall) = (self.precision(), self.recall());
        if precision + recall == 0.0 { 0.0 } else { 2.0 * precision * recall / (precision + recall) }
    }
}

/// Adds tallies up.
#[must_use]
pub fn total(tallies: &[MatchTally]) -> MatchTally {
    tallies.iter().fold(MatchTally::default(), |sum, tally| sum.plus(*tally))
}

/// Returns a figure of all units together, and its interval from samples of the units, drawn with replacement. The same
/// units give the same interval.
pub fn bootstrapped<T: Copy>(units: &[T], figure: impl Fn(&[T]) -> f64) -> Figure {
    let value = figure(units);
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut values = Vec::with_capacity(SAMPLES);
    let mut sample = Vec::with_capacity(units.len());
    for _ in 0..SAMPLES {
        sample.clear();
        for _ in units {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            let length = u64::try_from(units.len()).unwrap_or(1).max(1);
            let at = usize::try_from(state % length).unwrap_or(0);
            sample.extend(units.get(at).copied());
        }
        values.push(figure(&sample));
    }
    values.sort_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(value);
    Figure { value, low: at(SAMPLES / 40), high: at(SAMPLES - 1 - SAMPLES / 40) }
}

fn share(part: u32, whole: u32) -> f64 {
    if whole == 0 { 0.0 } else { f64::from(part) / f64::from(whole) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_about_its_figure_and_narrows_with_more_units() {
        let good = MatchTally { expected: 10, met: 8, found: 9, right: 8 };
        let poor = MatchTally { expected: 10, met: 2, found: 5, right: 2 };
        assert!((good.f1() - 2.0 * 8.0 / 19.0).abs() < 1e-9);
        let f1 = |units: &[MatchTally]| total(units).f1();
        let few = bootstrapped(&[good, poor, good, poor], f1);
        let many = bootstrapped(&[good, poor].repeat(50), f1);
        assert!(few.low <= few.value && few.value <= few.high);
        assert!(many.high - many.low < few.high - few.low);
        assert_eq!(MatchTally::default().f1().to_bits(), 0.0_f64.to_bits());
    }
}
