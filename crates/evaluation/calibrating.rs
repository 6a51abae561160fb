//! Learning what scores are worth: a logistic curve for each kind, over what was found in projects that the heads were not
//! trained on. The same findings in the same order give the same curves.

use pipeline::engine::FindingKind;
use pipeline::engine::heads::{self, Calibration, CalibrationCurve};

use super::reliability::ConfidenceClaim;

/// Something that was found, and whether the marks have it.
#[derive(Debug, Clone, Copy)]
pub struct JudgedFinding {
    kind: FindingKind,
    basis: Basis,
    is_right: bool,
}

/// By what something was found.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Basis {
    Heads { log_odds: f32 },
    Story,
    Demand,
}

/// How many findings of a kind a curve of its own takes. A kind with fewer has that of all kinds together.
const FEWEST: usize = 50;
/// Steps of the fit, of which each brings the curve nearer to the best one.
const STEPS: usize = 400;
/// Findings of each outcome that are taken for seen before the first one, so that no curve is infinitely steep.
const SEEN_BEFORE: f64 = 1.0;

impl JudgedFinding {
    pub const fn by_heads(kind: FindingKind, log_odds: f32, is_right: bool) -> Self {
        Self { kind, basis: Basis::Heads { log_odds }, is_right }
    }

    pub const fn story(is_right: bool) -> Self {
        Self { kind: FindingKind::Requirement, basis: Basis::Story, is_right }
    }

    pub const fn demand(is_right: bool) -> Self {
        Self { kind: FindingKind::Requirement, basis: Basis::Demand, is_right }
    }

    /// Returns what a calibration claims of it.
    pub fn claim(self, calibration: &Calibration) -> (FindingKind, ConfidenceClaim) {
        let share = match self.basis {
            Basis::Heads { log_odds } => calibration.share(self.kind, log_odds),
            Basis::Story => calibration.stories,
            Basis::Demand => calibration.demands,
        };
        (self.kind, ConfidenceClaim { confidence: f64::from(share), is_right: self.is_right })
    }
}

/// Learns a calibration from findings.
pub fn calibration(judged: &[JudgedFinding]) -> Calibration {
    let scored = |kind: Option<FindingKind>| -> Vec<(f64, bool)> {
        let wanted = judged.iter().filter(|one| kind.is_none_or(|kind| kind == one.kind));
        let scored = wanted.filter_map(|one| match one.basis {
            Basis::Heads { log_odds } => Some((f64::from(log_odds), one.is_right)),
            Basis::Story | Basis::Demand => None,
        });
        scored.collect()
    };
    let pooled = fitted(&scored(None));
    let mut curves = [pooled; 5];
    for (curve, kind) in curves.iter_mut().zip(heads::KINDS.into_iter().skip(1)) {
        let own = scored(kind);
        if own.len() >= FEWEST {
            *curve = fitted(&own);
        }
    }
    let share = |basis: Basis| smoothed(judged.iter().filter(|one| one.basis == basis).map(|one| one.is_right));
    Calibration { curves, stories: share(Basis::Story), demands: share(Basis::Demand) }
}

/// The share of what is right, as if one right and one wrong had been seen before.
fn smoothed(outcomes: impl Iterator<Item = bool>) -> f32 {
    let seen = outcomes.fold((SEEN_BEFORE, 2.0 * SEEN_BEFORE), |(right, all), is_right| {
        (right + if is_right { 1.0 } else { 0.0 }, all + 1.0)
    });
    narrowed(seen.0 / seen.1)
}

/// Returns the logistic curve of the least loss over scores and outcomes, rising or flat. Each step solves for the parabola that
/// lies above the loss everywhere, so that none overshoots.
fn fitted(scored: &[(f64, bool)]) -> CalibrationCurve {
    let count = |is_right: bool| scored.iter().filter(|one| one.1 == is_right).map(|_| 1.0).sum::<f64>();
    let (right, wrong) = (count(true), count(false));
    // Outcomes are taken for a little less than certain.
    let (of_right, of_wrong) =
        ((right + SEEN_BEFORE) / (right + 2.0 * SEEN_BEFORE), SEEN_BEFORE / (wrong + 2.0 * SEEN_BEFORE));
    let all = (right + wrong).max(1.0);
    let mean = scored.iter().map(|one| one.0).sum::<f64>() / all;
    let spread = (scored.iter().map(|one| (one.0 - mean).powi(2)).sum::<f64>() / all).sqrt().max(1e-6);
    // About the mean both parameters can be solved for one by one.
    let (mut slope, mut offset) = (0.0_f64, 0.0_f64);
    for _ in 0..STEPS {
        let (mut down, mut across) = (0.0, 0.0);
        for (score, is_right) in scored {
            let score = (score - mean) / spread;
            let error = (if *is_right { of_right } else { of_wrong }) - 1.0 / (1.0 + (-(slope * score + offset)).exp());
            down += error * score;
            across += error;
        }
        slope = (slope + 4.0 * down / all).max(0.0);
        offset += 4.0 * across / all;
    }
    let slope = slope / spread;
    CalibrationCurve { slope: narrowed(slope), offset: narrowed(offset - slope * mean) }
}

#[expect(clippy::cast_possible_truncation, reason = "small numbers, of which the first digits count")]
const fn narrowed(value: f64) -> f32 {
    value as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings of a kind whose share of right ones grows with the score as a known curve says.
    fn findings(kind: FindingKind, count: usize) -> Vec<JudgedFinding> {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut drawn = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            f64::from(u32::try_from(state >> 32).unwrap()) / f64::from(u32::MAX)
        };
        let one = |_| {
            let log_odds = drawn() * 12.0 - 2.0;
            let is_right = drawn() < 1.0 / (1.0 + (-(0.5 * log_odds - 0.25)).exp());
            JudgedFinding::by_heads(kind, narrowed(log_odds), is_right)
        };
        (0..count).map(one).collect()
    }

    #[test]
    fn a_curve_is_what_the_findings_were_drawn_by() {
        let learnt = calibration(&findings(FindingKind::Risk, 4_000));
        let curve = learnt.curves[4];
        assert!((curve.slope - 0.5).abs() < 0.05 && (curve.offset + 0.25).abs() < 0.1, "{curve:?}");
        assert_eq!(learnt, calibration(&findings(FindingKind::Risk, 4_000)));
    }

    #[test]
    fn a_kind_with_few_findings_has_the_curve_of_all() {
        let many = findings(FindingKind::Requirement, 1_000);
        let few = (0..FEWEST - 1).map(|_| JudgedFinding::by_heads(FindingKind::Decision, 3.0, false));
        let learnt = calibration(&many.iter().copied().chain(few).collect::<Vec<_>>());
        let [requirements, _, decisions, questions, _] = learnt.curves;
        assert_eq!(decisions, questions);
        assert!(decisions.share(3.0) < requirements.share(3.0) && decisions.share(3.0) > 0.5);
    }

    #[test]
    fn what_falls_with_the_score_gives_a_flat_curve_and_nothing_gives_one_half() {
        let falling: Vec<JudgedFinding> = (0..200_u8)
            .map(|at| JudgedFinding::by_heads(FindingKind::Requirement, f32::from(at), at < 100))
            .chain([JudgedFinding::story(true), JudgedFinding::story(true)])
            .collect();
        let learnt = calibration(&falling);
        assert!(learnt.curves[0].slope.abs() < 1e-9 && (learnt.curves[0].share(7.0) - 0.5).abs() < 1e-6);
        assert!((learnt.stories - 0.75).abs() < 1e-6 && (learnt.demands - 0.5).abs() < 1e-6);
        assert!((calibration(&[]).share(FindingKind::Risk, 9.0) - 0.5).abs() < 1e-6);
    }
}
