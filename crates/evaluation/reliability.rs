//! Whether confidences hold: what was claimed of findings against the share of them that the marks have.

use std::fmt;

use pipeline::result::ConfidenceLevel;

/// What was claimed of a finding, 0–1, and whether it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ConfidenceClaim {
    pub confidence: f64,
    pub is_right: bool,
}

/// The claims of one kind. Displayed as a line with both measures and one for each level.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reliability {
    pub name: String,
    pub claims: Vec<ConfidenceClaim>,
}

/// Claims that are counted together: how many, what they claimed on average, and how many of them hold.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
struct ClaimTally {
    count: f64,
    claimed: f64,
    held: f64,
}

/// Into how many parts of the same width the confidences are divided for the error.
const PARTS: u8 = 10;

impl Reliability {
    /// Returns how far claim and share are apart, on average over the findings, in ten parts of the same width.
    #[must_use]
    pub fn error(&self) -> f64 {
        let is_in = |part: u8, confidence: f64| {
            let at = (confidence * f64::from(PARTS)).floor().min(f64::from(PARTS - 1));
            (at - f64::from(part)).abs() < 0.5
        };
        let apart = (0..PARTS).map(|part| {
            let tally = self.tally(|confidence| is_in(part, confidence));
            (tally.claimed - tally.held).abs()
        });
        apart.sum::<f64>() / self.all().count.max(1.0)
    }

    /// Returns the mean square of what each claim is wrong by (Brier score).
    #[must_use]
    pub fn brier(&self) -> f64 {
        let squares =
            self.claims.iter().map(|claim| (claim.confidence - if claim.is_right { 1.0 } else { 0.0 }).powi(2));
        squares.sum::<f64>() / self.all().count.max(1.0)
    }

    fn all(&self) -> ClaimTally {
        self.tally(|_| true)
    }

    fn tally(&self, is_among: impl Fn(f64) -> bool) -> ClaimTally {
        let among = self.claims.iter().filter(|claim| is_among(claim.confidence));
        among.fold(ClaimTally::default(), |sum, claim| ClaimTally {
            count: sum.count + 1.0,
            claimed: sum.claimed + claim.confidence,
            held: sum.held + if claim.is_right { 1.0 } else { 0.0 },
        })
    }
}

impl fmt::Display for Reliability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = self.all();
        let (error, brier) = (self.error(), self.brier());
        writeln!(f, "{:<24} ECE {error:.3}  Brier {brier:.3}  {all}", format!("confidence {}", self.name))?;
        for level in ConfidenceLevel::ALL {
            let tally = self.tally(|confidence| ConfidenceLevel::of(confidence) == level);
            writeln!(f, "{:<24} {tally}", format!("  {level:?}").to_lowercase())?;
        }
        Ok(())
    }
}

impl fmt::Display for ClaimTally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = |sum: f64| sum / self.count.max(1.0);
        write!(f, "claimed {:.3} held {:.3} of {}", share(self.claimed), share(self.held), self.count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claims_are_compared_with_what_held() {
        let claim = |confidence: f64, is_right: bool| ConfidenceClaim { confidence, is_right };
        let claims = vec![claim(0.3, false), claim(0.6, true), claim(0.6, false), claim(0.9, true), claim(1.0, true)];
        let reliability = Reliability { name: "Risk".to_owned(), claims };
        // .3 in one part, .1 of two in another, and both of the last part together are .1 too careful.
        assert!((reliability.error() - (0.3 + 0.2 + 0.1) / 5.0).abs() < 1e-9);
        assert!((reliability.brier() - (0.09 + 0.16 + 0.36 + 0.01) / 5.0).abs() < 1e-9);
        assert_eq!(
            reliability.to_string(),
            "confidence Risk          ECE 0.120  Brier 0.124  claimed 0.680 held 0.600 of 5\n  low                    \
             claimed 0.300 held 0.000 of 1\n  medium                 claimed 0.600 held 0.500 of 2\n  high                   \
             claimed 0.950 held 1.000 of 2\n"
        );
        assert!(Reliability::default().error().abs() < 1e-9, "nothing was claimed");
    }
}
