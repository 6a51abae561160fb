//! Linear heads: which kind a sentence is of, and which type a requirement has, by trained weights over hashed
//! features.
//!
//! The rules' judgements are features among others (see `features`), so that the weight of a rule against the words is
//! learnt too. The weights are made by `cargo run --release -p evaluation --example train_heads`; `PROVENANCE.md` says from
//! what. Everything is computed in one order in 32-bit floats: the same sentence has the same result everywhere.

mod calibration;
mod features;
mod orders;
mod relations;
mod subjects;
mod weights;

use std::sync::LazyLock;

use super::super::result::{QualityCategory, RequirementType};
use super::corpus::Corpus;
use super::{Certainty, FindingKind, PreparedSentence};

pub use calibration::{Calibration, CalibrationCurve, log_odds};
pub use features::{CorpusContext, Features, of_requirement};
pub use orders::{OrderCues, of_order};
pub use relations::{ALIKE, OPPOSED, RELATIONS, RelationHead, SIGHTS, Sight, of_pair};
pub use weights::{LinearHead, bucket_of, softmax};

/// The kinds of sentences, in the order of the first head's classes; the first one is no item.
pub const KINDS: [Option<FindingKind>; 6] = [
    None,
    Some(FindingKind::Requirement),
    Some(FindingKind::ActionItem),
    Some(FindingKind::Decision),
    Some(FindingKind::OpenQuestion),
    Some(FindingKind::Risk),
];
/// The types of requirements, in the order of the second head's classes. Quality requirements have one class each.
pub const TYPES: [(RequirementType, Option<QualityCategory>); 10] = [
    (RequirementType::Functional, None),
    (RequirementType::Constraint, None),
    (RequirementType::Business, None),
    (RequirementType::NonFunctional, Some(QualityCategory::PerformanceEfficiency)),
    (RequirementType::NonFunctional, Some(QualityCategory::Compatibility)),
    (RequirementType::NonFunctional, Some(QualityCategory::Usability)),
    (RequirementType::NonFunctional, Some(QualityCategory::Reliability)),
    (RequirementType::NonFunctional, Some(QualityCategory::Security)),
    (RequirementType::NonFunctional, Some(QualityCategory::Maintainability)),
    (RequirementType::NonFunctional, Some(QualityCategory::Portability)),
];

/// The heads of the embedded engine.
#[derive(Debug, Clone, PartialEq)]
pub struct TrainedHeads {
    pub kinds: LinearHead,
    pub types: LinearHead,
    /// Whether a sentence is an order to a machine that reads it.
    pub orders: LinearHead,
    /// Least probability of an order, where little and where much of an order is seen.
    pub order_thresholds: [f32; 2],
    /// How two requirements relate to each other.
    pub relations: RelationHead,
    /// Least probability of each kind but none, for written text and for speech, in the order of [`KINDS`].
    pub thresholds: [[f32; 5]; 2],
    /// How often what they find is right.
    pub calibration: Calibration,
}

impl Calibration {
    /// Returns the share of findings of a kind that held at these log-odds.
    #[must_use]
    pub fn share(&self, kind: FindingKind, log_odds: f32) -> f32 {
        let curves = KINDS.iter().skip(1).zip(&self.curves);
        let curve = curves.filter(|(known, _)| **known == Some(kind)).map(|(_, curve)| *curve).next();
        curve.unwrap_or_default().share(log_odds)
    }
}

#[expect(
    clippy::expect_used,
    reason = "the weights are a constant of the program, and every test of the engine reads them"
)]
static TRAINED: LazyLock<TrainedHeads> = LazyLock::new(|| {
    TrainedHeads::read(include_bytes!("weights.bin")).expect("the weights of the program can be read")
});

impl TrainedHeads {
    /// Returns the heads of this program.
    pub fn trained() -> &'static Self {
        &TRAINED
    }

    /// Returns the kind of a sentence, with the log-odds of that: see [`likeliest_kind`].
    pub fn kind(&self, features: &Features, is_speech: bool) -> Option<(FindingKind, f32)> {
        likeliest_kind(&self.kinds.scores(features), self.thresholds.get(usize::from(is_speech))?)
    }

    /// Whether a sentence is an order to a machine that reads the document.
    pub fn order(&self, sentence: &PreparedSentence) -> Option<Certainty> {
        let cues = OrderCues::of(sentence);
        if cues.is_certain() {
            return Some(Certainty::Certain);
        }
        let [plain, likely] = self.order_thresholds;
        let threshold = if cues.is_likely() { likely } else { plain };
        let probabilities = self.orders.probabilities(&of_order(sentence, &cues));
        probabilities.get(1).is_some_and(|order| *order >= threshold).then_some(Certainty::Likely)
    }

    /// Whether a sentence of which only the words are known is a requirement rather than no item.
    pub fn is_requirement(&self, features: &Features) -> bool {
        let probabilities = self.kinds.probabilities(features);
        matches!(probabilities.as_slice(), [none, requirement, ..] if requirement >= none)
    }

    /// Returns the most probable type of a requirement.
    pub fn requirement_type(&self, features: &Features) -> (RequirementType, Option<QualityCategory>) {
        let probabilities = self.types.probabilities(features);
        let best = TYPES.iter().zip(&probabilities).max_by(|one, other| one.1.total_cmp(other.1));
        best.map_or((RequirementType::Unknown, None), |(found, _)| *found)
    }
}

impl TrainedHeads {
    /// Returns the most probable quality of a requirement that is known to be about one.
    pub fn quality(&self, features: &Features) -> Option<QualityCategory> {
        let probabilities = self.types.probabilities(features);
        let of_qualities = TYPES.iter().zip(&probabilities).filter(|((_, category), _)| category.is_some());
        of_qualities.max_by(|one, other| one.1.total_cmp(other.1)).and_then(|((_, category), _)| *category)
    }
}

/// Returns the kind whose probability is furthest above its threshold, with its log-odds.
pub fn likeliest_kind(scores: &[f32], thresholds: &[f32; 5]) -> Option<(FindingKind, f32)> {
    let probabilities = softmax(scores);
    let candidates = KINDS.iter().zip(&probabilities).enumerate().skip(1).zip(thresholds);
    let above = candidates.filter(|((_, (_, probability)), threshold)| probability >= threshold);
    // A rare kind has a low threshold: what counts is how far the probability is above it.
    let excess = above.map(|((class, (kind, probability)), threshold)| (class, kind, *probability / *threshold));
    let best = excess.max_by(|one, other| one.2.total_cmp(&other.2));
    best.and_then(|(class, kind, _)| Some(((*kind)?, log_odds(scores, class))))
}

/// Returns the features of a sentence in its corpus.
pub fn features_of(corpus: &Corpus, context: &CorpusContext, at: usize) -> Features {
    features::in_context(corpus, context, at)
}

/// Returns the features of a sentence alone.
pub fn features_alone(sentence: &PreparedSentence) -> Features {
    features::alone(sentence)
}
