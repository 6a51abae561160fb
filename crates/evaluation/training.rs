//! Training of a head: multinomial logistic regression by AdaGrad. The same rows in the same order give the same head.

use pipeline::engine::heads::{Features, LinearHead, bucket_of, softmax};

/// A sentence to learn from: what is seen of it, its class, and how much it counts.
#[derive(Debug, Clone)]
pub struct Lesson {
    pub features: Features,
    pub class: usize,
    pub weight: f32,
}

const PASSES: usize = 14;
const RATE: f32 = 0.12;
/// How much each use of a weight draws it back to zero.
const DECAY: f32 = 5e-4;

/// Trains a head of `classes` over `buckets` (a power of two).
pub fn train(lessons: &[Lesson], classes: usize, buckets: usize) -> LinearHead {
    let mut weights = vec![0.0_f32; classes * buckets];
    let mut squares = vec![1e-3_f32; classes * buckets];
    let mut order: Vec<usize> = (0..lessons.len()).collect();
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    for _ in 0..PASSES {
        shuffle(&mut order, &mut state);
        for lesson in order.iter().filter_map(|&at| lessons.get(at)) {
            let rows: Vec<usize> = lesson.features.hashes().map(|hash| bucket_of(hash, buckets) * classes).collect();
            let mut scores = vec![0.0; classes];
            for &row in &rows {
                let row = weights.get(row..row + classes).unwrap_or_default();
                scores.iter_mut().zip(row).for_each(|(score, weight)| *score += weight);
            }
            let mut errors = softmax(&scores);
            if let Some(error) = errors.get_mut(lesson.class) {
                *error -= 1.0;
            }
            for &row in &rows {
                let own = weights.get_mut(row..row + classes).unwrap_or_default();
                let seen = squares.get_mut(row..row + classes).unwrap_or_default();
                for ((weight, square), error) in own.iter_mut().zip(seen).zip(&errors) {
                    let slope = error * lesson.weight + DECAY * *weight;
                    *square += slope * slope;
                    *weight -= RATE * slope / square.sqrt();
                }
            }
        }
    }
    LinearHead::of(classes, buckets, &weights)
}

fn shuffle(order: &mut [usize], state: &mut u64) {
    for last in (1..order.len()).rev() {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        let other = usize::try_from(*state % (u64::try_from(last).unwrap_or(0) + 1)).unwrap_or(0);
        order.swap(last, other);
    }
}

#[cfg(test)]
mod tests {
    use pipeline::engine::heads::features_alone;
    use pipeline::engine::{BlockContext, PreparedSentence};

    use super::*;

    #[test]
    fn what_was_taught_is_told_apart() {
        let lesson = |words: &str, class| {
            let features = features_alone(&PreparedSentence::alone(words, BlockContext::Prose));
            Lesson { features, class, weight: 1.0 }
        };
        let lessons = [
            lesson("The pump shall stop at night.", 1),
            lesson("The gate shall open by itself.", 1),
            lesson("Yesterday the weather was fine.", 0),
            lesson("Our founder was born here.", 0),
        ];
        let head = train(&lessons, 2, 1 << 12);
        let class = |words: &str| {
            let features = features_alone(&PreparedSentence::alone(words, BlockContext::Prose));
            head.probabilities(&features)[1] > 0.5
        };
        assert!(class("The door shall close.") && !class("Our weather was born yesterday."));
        assert_eq!(head, train(&lessons, 2, 1 << 12));
    }
}
