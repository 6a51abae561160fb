//! The weights of a head, one byte each, and their file.

use super::calibration::{Calibration, CalibrationCurve};
use super::features::Features;
use super::relations::{RELATIONS, RelationHead, SIGHTS};
use super::{KINDS, TYPES, TrainedHeads};

/// The first bytes of a file of weights, with the version of the format.
const MAGIC: [u8; 8] = *b"CQHEADS4";

/// A multinomial logistic model over hashed features.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearHead {
    classes: usize,
    /// A power of two.
    buckets: usize,
    /// What one step of a weight is worth, for each class.
    steps: Vec<f32>,
    /// By bucket, then by class.
    weights: Vec<i8>,
}

/// The weights are cut short or of another version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the weights can't be read")]
pub struct UnreadableWeights;

impl LinearHead {
    /// Rounds weights, by bucket and then by class, to one byte each.
    pub fn of(classes: usize, buckets: usize, exact: &[f32]) -> Self {
        let mut largest = vec![f32::MIN_POSITIVE; classes];
        for (at, weight) in exact.iter().enumerate() {
            if let Some(known) = largest.get_mut(at % classes) {
                *known = known.max(weight.abs());
            }
        }
        let steps: Vec<f32> = largest.iter().map(|largest| largest / 127.0).collect();
        let rounded = |(at, weight): (usize, &f32)| {
            let step = steps.get(at % classes).copied().unwrap_or(1.0);
            #[expect(clippy::cast_possible_truncation, reason = "it lies between -127 and 127")]
            let rounded = (weight / step).round() as i8;
            rounded
        };
        let weights = exact.iter().enumerate().map(rounded).collect();
        Self { classes, buckets, steps, weights }
    }

    /// Returns the probability of each class.
    pub fn probabilities(&self, features: &Features) -> Vec<f32> {
        softmax(&self.scores(features))
    }

    /// Returns the score of each class, of which [`softmax`] makes probabilities.
    pub fn scores(&self, features: &Features) -> Vec<f32> {
        let mut sums = vec![0_i32; self.classes];
        for hash in features.hashes() {
            let bucket = bucket_of(hash, self.buckets);
            let from = bucket * self.classes;
            let row = self.weights.get(from..from + self.classes).unwrap_or_default();
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum += i32::from(*weight);
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a sum of some hundred bytes")]
        let scores = sums.iter().zip(&self.steps).map(|(sum, step)| *sum as f32 * step).collect();
        scores
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend(u32::try_from(self.buckets).unwrap_or(0).to_le_bytes());
        for step in &self.steps {
            bytes.extend(step.to_le_bytes());
        }
        bytes.extend(self.weights.iter().map(|weight| weight.to_le_bytes()).map(|[byte]| byte));
    }

    fn read(classes: usize, bytes: &mut &[u8]) -> Option<Self> {
        let buckets = usize::try_from(u32::from_le_bytes(array(bytes)?)).ok()?;
        let mut steps = Vec::with_capacity(classes);
        for _ in 0..classes {
            steps.push(f32::from_le_bytes(array(bytes)?));
        }
        let (weights, rest) = bytes.split_at_checked(buckets.checked_mul(classes)?)?;
        *bytes = rest;
        let weights = weights.iter().map(|byte| i8::from_le_bytes([*byte])).collect();
        buckets.is_power_of_two().then_some(Self { classes, buckets, steps, weights })
    }
}

impl TrainedHeads {
    /// Returns the bytes of a file of weights.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        for threshold in self.thresholds.iter().flatten() {
            bytes.extend(threshold.to_le_bytes());
        }
        for threshold in self.order_thresholds {
            bytes.extend(threshold.to_le_bytes());
        }
        for weight in self.relations.weights.iter().flatten().chain(&self.relations.thresholds) {
            bytes.extend(weight.to_le_bytes());
        }
        let Calibration { curves, stories, demands } = &self.calibration;
        let curves = curves.iter().flat_map(|curve| [curve.slope, curve.offset]);
        for number in curves.chain([*stories, *demands]) {
            bytes.extend(number.to_le_bytes());
        }
        self.kinds.write(&mut bytes);
        self.types.write(&mut bytes);
        self.orders.write(&mut bytes);
        bytes
    }

    /// Reads what [`Self::to_bytes`] wrote.
    ///
    /// # Errors
    /// The bytes are cut short, too many or of another version.
    pub fn read(bytes: &[u8]) -> Result<Self, UnreadableWeights> {
        let parsed = || {
            let mut bytes = bytes.strip_prefix(&MAGIC)?;
            let mut thresholds = [[0.0; 5]; 2];
            for threshold in thresholds.iter_mut().flatten() {
                *threshold = f32::from_le_bytes(array(&mut bytes)?);
            }
            let mut order_thresholds = [0.0; 2];
            for threshold in &mut order_thresholds {
                *threshold = f32::from_le_bytes(array(&mut bytes)?);
            }
            let mut relations = RelationHead { weights: [[0.0; SIGHTS + 1]; RELATIONS], thresholds: [0.0; 2] };
            for weight in relations.weights.iter_mut().flatten().chain(&mut relations.thresholds) {
                *weight = f32::from_le_bytes(array(&mut bytes)?);
            }
            let mut number = || Some(f32::from_le_bytes(array(&mut bytes)?));
            let mut curves = [CalibrationCurve::default(); 5];
            for curve in &mut curves {
                *curve = CalibrationCurve { slope: number()?, offset: number()? };
            }
            let calibration = Calibration { curves, stories: number()?, demands: number()? };
            let kinds = LinearHead::read(KINDS.len(), &mut bytes)?;
            let types = LinearHead::read(TYPES.len(), &mut bytes)?;
            let orders = LinearHead::read(2, &mut bytes)?;
            bytes.is_empty().then_some(Self {
                kinds,
                types,
                orders,
                order_thresholds,
                relations,
                thresholds,
                calibration,
            })
        };
        parsed().ok_or(UnreadableWeights)
    }
}

/// Returns the bucket of a hash.
pub fn bucket_of(hash: u32, buckets: usize) -> usize {
    usize::try_from(hash).unwrap_or(0) & (buckets - 1)
}

/// Turns scores into probabilities.
pub fn softmax(scores: &[f32]) -> Vec<f32> {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let powers: Vec<f32> = scores.iter().map(|score| (score - most).exp()).collect();
    let sum: f32 = powers.iter().sum();
    powers.into_iter().map(|power| power / sum).collect()
}

fn array<const N: usize>(bytes: &mut &[u8]) -> Option<[u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(*first)
}

#[cfg(test)]
mod tests {
    use super::super::{FindingKind, KINDS};
    use super::*;

    #[test]
    fn a_file_gives_the_same_heads_and_no_other_does() {
        let head = |classes: usize| {
            let exact: Vec<f32> = (0..16 * classes).map(|at| f32::from(u8::try_from(at).unwrap()) - 40.0).collect();
            LinearHead::of(classes, 16, &exact)
        };
        let (kinds, types, orders, relations) = (
            head(KINDS.len()),
            head(TYPES.len()),
            head(2),
            RelationHead { weights: [[0.5; SIGHTS + 1]; RELATIONS], thresholds: [0.1, 0.2] },
        );
        let heads = TrainedHeads {
            kinds,
            types,
            orders,
            order_thresholds: [0.5, 0.25],
            relations,
            thresholds: [[0.25; 5], [0.5; 5]],
            calibration: Calibration {
                curves: [CalibrationCurve { slope: 0.5, offset: -0.25 }; 5],
                stories: 0.75,
                demands: 0.125,
            },
        };
        let bytes = heads.to_bytes();
        assert_eq!(TrainedHeads::read(&bytes).as_ref(), Ok(&heads));
        for wrong in [&bytes[..bytes.len() - 1], &bytes[1..], &[bytes.as_slice(), &[0]].concat()] {
            assert_eq!(TrainedHeads::read(wrong), Err(UnreadableWeights));
        }
    }

    #[test]
    fn probabilities_add_up_to_one() {
        let all = softmax(&[3.0, -2.0, 40.0]);
        assert!((all.iter().sum::<f32>() - 1.0).abs() < 1e-6 && all[2] > 0.999);
    }

    #[test]
    fn a_larger_score_never_claims_less_and_none_claims_certainty() {
        let calibration = TrainedHeads::trained().calibration;
        for kind in KINDS.into_iter().flatten() {
            let shares: Vec<f32> =
                (-400..=400_i16).map(|tenth| calibration.share(kind, f32::from(tenth) / 10.0)).collect();
            assert!(shares.is_sorted(), "{kind:?}");
            assert!(shares.iter().all(|share| (0.0..1.0).contains(share)), "{kind:?}");
            assert!(shares[0] < 0.2 && shares[800] > 0.8, "{kind:?}: {} to {}", shares[0], shares[800]);
        }
        for extreme in [f32::MIN, f32::MAX, f32::INFINITY, f32::NEG_INFINITY] {
            let share = calibration.share(FindingKind::Requirement, extreme);
            assert!((0.0..1.0).contains(&share), "{extreme}: {share}");
        }
        for share in [calibration.stories, calibration.demands] {
            assert!((0.0..1.0).contains(&share));
        }
    }
}
