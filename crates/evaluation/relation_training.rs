//! Training of the head of relations: multinomial logistic regression on scaled sights, by steps with momentum.

use pipeline::engine::heads::{RELATIONS, RelationHead, SIGHTS, Sight, softmax};

/// Steps of the training, their size, how much of the last one each keeps, and how much the weights are drawn to zero.
const STEPS: usize = 600;
const RATE: f32 = 0.4;
const MOMENTUM: f32 = 0.9;
const DECAY: f32 = 1e-4;

/// Trains the weights on what was seen of pairs and on their classes. The same pairs give the same weights.
pub fn train_relations(pairs: &[(Sight, usize)]) -> RelationHead {
    let count = 1.0_f32.max(f32::from(u16::try_from(pairs.len() / 256).unwrap_or(u16::MAX)) * 256.0);
    let (mut means, mut spreads) = ([0.0_f32; SIGHTS], [0.0_f32; SIGHTS]);
    for (sight, _) in pairs {
        means.iter_mut().zip(sight).for_each(|(mean, seen)| *mean += seen / count);
    }
    for (sight, _) in pairs {
        for ((spread, seen), mean) in spreads.iter_mut().zip(sight).zip(&means) {
            *spread += (seen - mean).powi(2) / count;
        }
    }
    spreads.iter_mut().for_each(|spread| *spread = spread.sqrt().max(1e-3));
    let scaled: Vec<([f32; SIGHTS + 1], usize)> = pairs
        .iter()
        .map(|(sight, class)| {
            let mut all = [1.0; SIGHTS + 1];
            for (((all, seen), mean), spread) in all.iter_mut().zip(sight).zip(&means).zip(&spreads) {
                *all = (seen - mean) / spread;
            }
            (all, *class)
        })
        .collect();
    let mut weights = [[0.0_f32; SIGHTS + 1]; RELATIONS];
    let mut steps = [[0.0_f32; SIGHTS + 1]; RELATIONS];
    for _ in 0..STEPS {
        let mut slopes = [[0.0_f32; SIGHTS + 1]; RELATIONS];
        for (seen, class) in &scaled {
            let scores: Vec<f32> =
                weights.iter().map(|own| own.iter().zip(seen).map(|(weight, seen)| weight * seen).sum()).collect();
            for (at, (likely, slopes)) in softmax(&scores).into_iter().zip(&mut slopes).enumerate() {
                let error = (likely - if at == *class { 1.0 } else { 0.0 }) / count;
                slopes.iter_mut().zip(seen).for_each(|(slope, seen)| *slope += error * seen);
            }
        }
        for ((own, step), slope) in weights.iter_mut().zip(&mut steps).zip(&slopes) {
            for ((weight, step), slope) in own.iter_mut().zip(step).zip(slope) {
                *step = MOMENTUM * *step - RATE * (slope + DECAY * *weight);
                *weight += *step;
            }
        }
    }
    // The scale becomes a part of the weights.
    for own in &mut weights {
        let mut always = 0.0;
        for ((weight, mean), spread) in own.iter_mut().zip(&means).zip(&spreads) {
            *weight /= spread;
            always -= *weight * mean;
        }
        if let Some(last) = own.last_mut() {
            *last += always;
        }
    }
    RelationHead { weights, thresholds: [0.5; 2] }
}
