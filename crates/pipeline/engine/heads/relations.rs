//! How two demands relate to each other: a linear model over what they share and in what they differ.

use super::super::choices;
use super::super::fingerprint::{Fingerprint, Stance};
use super::super::sameness::{DemandRelation, Pair, is_same_amount};
use super::weights::softmax;

/// What is seen of two demands.
pub const SIGHTS: usize = 26;
pub type Sight = [f32; SIGHTS];
/// The classes: nothing to do with each other, nearly the same, against each other.
pub const RELATIONS: usize = 3;
pub const ALIKE: usize = 1;
pub const OPPOSED: usize = 2;

/// The trained model.
#[derive(Debug, Clone, PartialEq)]
pub struct RelationHead {
    /// For each class the weights of what is seen; the last one counts always.
    pub weights: [[f32; SIGHTS + 1]; RELATIONS],
    /// Least probability of requirements that are alike and of those that contradict each other.
    pub thresholds: [f32; 2],
}

impl RelationHead {
    /// Returns the probability of each class.
    pub fn probabilities(&self, sight: &Sight) -> Vec<f32> {
        let score = |weights: &[f32; SIGHTS + 1]| {
            let seen = sight.iter().chain(&[1.0]);
            seen.zip(weights).map(|(seen, weight)| seen * weight).sum()
        };
        let scores: Vec<f32> = self.weights.iter().map(score).collect();
        softmax(&scores)
    }

    /// Returns how two demands relate to each other, if they do, with the probability.
    pub fn relation(&self, sight: &Sight) -> Option<(DemandRelation, f32)> {
        let probabilities = self.probabilities(sight);
        let likely = |class: usize| probabilities.get(class).copied().unwrap_or(0.0);
        let [alike, opposed] = self.thresholds;
        let (alike, opposed) = (likely(ALIKE) / alike, likely(OPPOSED) / opposed);
        match (alike >= 1.0, opposed >= 1.0) {
            (true, _) if alike >= opposed => Some((DemandRelation::Alike, likely(ALIKE))),
            (_, true) => Some((DemandRelation::Opposed, likely(OPPOSED))),
            _ => None,
        }
    }
}

/// Returns what is seen of two statements.
pub fn of_pair(pair: &Pair, one: &Fingerprint, other: &Fingerprint, is_same_source: bool) -> Sight {
    let flag = |is: bool| if is { 1.0 } else { 0.0 };
    let likeness = narrow(pair.likeness);
    let quantities =
        || one.quantities.iter().flat_map(|first| other.quantities.iter().map(move |second| (first, second)));
    let differ = flag(quantities().any(|(first, second)| first.has_unit_of(second) && !first.is_as_much_as(second)));
    let agree = flag(quantities().any(|(first, second)| first.has_unit_of(second) && first.is_as_much_as(second)));
    let is_lone = one.quantities.is_empty() != other.quantities.is_empty();
    let choice = flag(choices::opposed(&one.choices, &other.choices).is_some());
    let stance = flag(one.stance != other.stance);
    let optional = flag((one.stance == Stance::Optional) != (other.stance == Stance::Optional));
    let (near, far) = (pair.ranks.0.min(pair.ranks.1), pair.ranks.0.max(pair.ranks.1));
    let distance = pair.other - pair.one;
    let shorter = one.stems.len().min(other.stems.len());
    let longer = one.stems.len().max(other.stems.len());
    [
        likeness,
        likeness * likeness,
        flag(far == 0),
        flag(near == 0),
        logarithm(near + far),
        number(pair.shared).min(10.0),
        narrow(pair.overlap),
        narrow(pair.rarest),
        agree,
        differ,
        likeness * differ,
        flag(is_lone),
        flag(!one.quantities.is_empty() && is_same_amount(one, other)),
        choice,
        likeness * choice,
        stance,
        likeness * stance,
        optional,
        logarithm(distance),
        flag(distance <= 2),
        flag(is_same_source),
        likeness * flag(is_same_source),
        number(shorter).min(15.0),
        logarithm(longer - shorter),
        flag(one.is_addition || other.is_addition),
        flag(one.is_exclusive || other.is_exclusive) * likeness,
    ]
}

#[expect(clippy::cast_possible_truncation, reason = "a share between 0 and 1")]
const fn narrow(share: f64) -> f32 {
    share as f32
}

fn number(count: usize) -> f32 {
    f32::from(u16::try_from(count).unwrap_or(u16::MAX))
}

fn logarithm(count: usize) -> f32 {
    number(count).ln_1p()
}
